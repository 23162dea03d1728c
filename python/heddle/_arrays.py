# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, for the extension module: what it needs seldom, or by the libraries' own Python functions.

No library is imported before one of its arrays is seen, or a result is asked for as a NumPy array.
"""

from __future__ import annotations

import array
import functools
import operator
import sys
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from heddle._core import Listed as Listed
    from heddle._core import Result

    Shape = tuple[int | None, ...]

# As in core.h.
PLAIN, NUMPY, TORCH, CUPY, JAX, OTHER = range(6)
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6
CUDA, CUDA_MANAGED = 2, 13
DEPTH_MOST = 16  # of sequences in sequences: one may contain itself

_KINDS = {"numpy": NUMPY, "torch": TORCH, "cupy": CUPY, "jax": JAX, "jaxlib": JAX}
_NAMES = {INT: "int", UINT: "uint", FLOAT: "float", BFLOAT: "bfloat"}
_CODES = {name: code for code, name in _NAMES.items()}
_FORMATS = {(INT, 8): "b", (INT, 16): "h", (INT, 32): "i", (INT, 64): "q", (UINT, 8): "B", (UINT, 16): "H",
            (UINT, 32): "I", (UINT, 64): "Q", (FLOAT, 32): "f", (FLOAT, 64): "d", (BOOL, 8): "?"}  # fmt: skip


if not TYPE_CHECKING:

    class Listed(namedtuple("Listed", ("key", "value", "score", "item"))):
        """Rows of a list that an operation delivers. A member is None if the operation does not list it."""

        __slots__ = ()

        def __len__(self):
            return len(self.key)

        def __repr__(self):
            return text_of("heddle.Listed", self._asdict(), len(self.key))

        @classmethod
        def _make(cls, parts):  # that of a namedtuple asks for the length, and _replace calls it
            return cls(*parts)


@functools.cache
def _numpy() -> Any:
    """NumPy, or None. The search for a module that is not there takes longer than a call."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def name_of(code: int, bits: int) -> str:
    """The name of an element type, for example "float32"."""
    return "bool" if code == BOOL else f"{_NAMES[code]}{bits}"


def type_named(name: str) -> tuple[int, int]:
    """(code, bits) of a name such as "float32"; ValueError if there is none."""
    if name == "bool":
        return BOOL, 8
    word = name.rstrip("0123456789")
    bits = name[len(word) :]
    if word in _CODES and bits in ("8", "16", "32", "64"):
        return _CODES[word], int(bits)
    raise ValueError(f"there is no element type {name!r}")


def kind_of(kind: type) -> int:
    """Which library's arrays have this type."""
    for base in kind.__mro__:
        found = _KINDS.get(base.__module__.split(".")[0])
        if found is not None:
            return found
    if hasattr(kind, "__array_namespace__") or hasattr(kind, "__dlpack__"):
        return OTHER
    return NUMPY if _numpy() else PLAIN


def capsule_of(producer: Any, stream: int | None) -> Any:
    """The capsule of a producer of DLPack; earlier producers take no version. Only arrays of devices take a stream."""
    if stream is not None and hasattr(producer, "__dlpack_device__"):
        if producer.__dlpack_device__()[0] not in (CUDA, CUDA_MANAGED):
            stream = None
    try:
        try:
            return producer.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError as error:
            if (error.__traceback__ and error.__traceback__.tb_next) or "argument" not in str(error):
                raise  # its own, not one about the call
        return producer.__dlpack__(stream=stream)
    except BufferError as error:
        of = f"elements of type {producer.dtype}: " if hasattr(producer, "dtype") else ""
        raise BufferError(f"{of}{error}") from error


def _depth(thing: Any) -> int:
    """How deep sequences are nested, by the first elements."""
    depth = 0
    while hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes)):
        thing, depth = next(iter(thing), None), depth + 1
        if depth > DEPTH_MOST:
            raise ValueError(f"sequences are nested more than {DEPTH_MOST} deep")
    return depth


def _flat(thing: Any, shape: Shape) -> list[Any]:
    """The numbers of nested sequences of this shape, in order; None stands for any length."""
    if not shape:
        return [thing]
    parts = list(thing)
    if shape[0] not in (None, len(parts)):
        raise ValueError(f"a row of {len(parts)} instead of {shape[0]}")
    if len(shape) == 1:
        return parts
    return [number for part in parts for number in _flat(part, shape[1:])]


def _numbers(numbers: list[Any], code: int, bits: int) -> Any:
    """An array of numbers. Negative ones are no uint64; then the array is int64, which keys and scores may be."""
    if code == BOOL:
        if any(operator.index(n) not in (0, 1) for n in numbers):
            raise ValueError("a bool is 0 or 1")
        return memoryview(bytearray(numbers)).cast("?")
    try:
        return array.array(_FORMATS[code, bits], numbers)
    except OverflowError:
        if (code, bits) == (UINT, 64):
            return array.array("q", numbers)
        raise


def convert(thing: Any, code: int, bits: int, shape: Shape) -> Any:
    """An array of a number, a list, a range or any other iterable: of the type, in rows of the shape.

    Nothing is rounded: a float is no integer, and neither is a text.
    """
    if hasattr(thing, "__array__") and _numpy():
        return _numpy().asarray(thing)
    if (code, bits) not in _FORMATS:
        raise TypeError(f"a list has no elements of type {name_of(code, bits)}; pass an array")
    if isinstance(thing, (str, bytes)) or not (hasattr(thing, "__iter__") or hasattr(thing, "__float__")):
        raise TypeError(f"not an array: {type(thing).__name__}")
    if not hasattr(thing, "__iter__"):
        return _numbers([thing], code, bits)
    parts = list(thing)
    if not parts or _depth(parts) != len(shape):  # else it is one value, not rows of them
        shape = (None, *shape)
    flat = _numbers(_flat(parts, shape), code, bits)
    if len(shape) == 1 or not len(flat):
        return flat
    rows: Any = memoryview(flat)
    return rows.cast("B").cast(rows.format, (len(parts), *shape[1:]))


def numpy_dtype(code: int, bits: int) -> Any:
    """NumPy's dtype; uint16 for bfloat16 if the package ml_dtypes is not there."""
    import numpy

    if code == BFLOAT:
        try:
            import ml_dtypes
        except ImportError:
            return numpy.dtype("uint16")
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name_of(code, bits))


def _count(shape: Iterable[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


def _plain_view(block: Any, offset: int, code: int, bits: int, shape: tuple[int, ...]) -> Any:
    """A view of memory of this machine, without NumPy.

    bfloat16, and before Python 3.12 also float16, is uint16. An array of no bytes has no shape.
    """
    part: Any = memoryview(block)[offset : offset + _count(shape) * bits // 8]
    half = "e" if code == FLOAT and sys.version_info >= (3, 12) else "H"
    form = _FORMATS.get((code, bits), half if bits == 16 else "B")
    return part.cast(form, shape) if len(part) else part.cast(form)


def _host_view(block: Any, offset: int, code: int, bits: int, shape: tuple[int, ...]) -> Any:
    import numpy

    return numpy.ndarray(shape, numpy_dtype(code, bits), block, offset)


_torch_dtypes: dict[tuple[int, int], Any] = {}


def torch_dtype(code: int, bits: int) -> Any:
    """PyTorch's dtype."""
    if (code, bits) not in _torch_dtypes:
        import torch

        _torch_dtypes[code, bits] = getattr(torch, "bfloat16" if code == BFLOAT else name_of(code, bits))
    return _torch_dtypes[code, bits]


def _torch_view(block: Any, offset: int, code: int, bits: int, shape: tuple[int, ...]) -> Any:
    import torch

    dtype, count = torch_dtype(code, bits), _count(shape)
    if not count:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(block, dtype=dtype, count=count, offset=offset)
    return flat if len(shape) == 1 else flat.view(shape)


def _device_dtype(kind: int, code: int, bits: int) -> Any:
    if kind == TORCH:
        return torch_dtype(code, bits)
    if kind == JAX:
        import jax.numpy

        return jax.numpy.dtype("bfloat16" if code == BFLOAT else name_of(code, bits))
    return numpy_dtype(code, bits)


def torch_gradients_on() -> bool:
    import torch

    return bool(torch.is_grad_enabled())


def torch_written() -> Any:
    """The function that raises the versions of tensors: a gradient that needs what they were is an error then."""
    import torch

    return getattr(torch._C, "_increment_version", torch.autograd.graph.increment_version)


def namespace_of(thing: Any) -> Any:
    """The namespace of the array API that an array is of, or None."""
    return thing.__array_namespace__() if hasattr(thing, "__array_namespace__") else None


@functools.lru_cache(256)
def _jax_zeros(size: int, device: Any) -> Any:
    """A compiled function that makes bytes."""
    import jax

    where = jax.sharding.SingleDeviceSharding(device)
    return jax.jit(lambda: jax.numpy.zeros(size, dtype="uint8"), out_shardings=where)


class _Producer:
    """A capsule of a CUDA device as a producer of DLPack."""

    def __init__(self, capsule: Any, device: int) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule


def jax_array(capsule: Any, device: int) -> Any:
    """JAX's array over the memory of a capsule."""
    import jax

    return jax.dlpack.from_dlpack(_Producer(capsule, device))


def view(kind: int, space: Any, block: Any, on_device: bool, offset: int, code: int, bits: int,
         shape: tuple[int, ...]) -> Any:  # fmt: skip
    """An array over part of a block: of bytes on a device, or of memory of this machine.

    space: the namespace of the array API of a library that is none of those that are known, or None.
    """
    if on_device and kind == JAX:  # empty; others are made by jax_array
        import jax.numpy

        return jax.numpy.zeros(shape, _device_dtype(JAX, code, bits))
    if on_device:
        part = block[offset : offset + _count(shape) * bits // 8]
        return part.view(_device_dtype(kind, code, bits)).reshape(shape)
    if kind == TORCH:
        return _torch_view(block, offset, code, bits, shape)
    if kind == PLAIN or not _numpy():
        return _plain_view(block, offset, code, bits, shape)
    host = _host_view(block, offset, code, bits, shape)
    if kind == JAX:
        import jax.numpy

        return jax.numpy.asarray(host)
    return host if space is None else space.from_dlpack(host)


def device_block(kind: int, like: Any, size: int) -> tuple[Any, int]:
    """Bytes on the device of `like`, and their address."""
    if kind == TORCH:
        import torch

        block = torch.empty(size, dtype=torch.uint8, device=like.device)
        return block, block.data_ptr()
    if kind == CUPY:
        import cupy

        with like.device:
            block = cupy.empty(size, dtype=cupy.uint8)
        return block, block.data.ptr
    if kind == JAX:
        block = _jax_zeros(size, like.device)()
        block.block_until_ready()
        return block, block.unsafe_buffer_pointer()
    raise TypeError(f"outputs: {type(like).__name__} of a device: pass `out`, or keys of torch, CuPy or JAX")


def current_stream(kind: int, like: Any) -> int:
    """The address of the stream on which the library works now."""
    if kind == TORCH:
        import torch

        return int(torch.cuda.current_stream(like.device).cuda_stream) if like.is_cuda else 0
    if kind == CUPY:
        import cupy

        return int(cupy.cuda.get_current_stream().ptr)
    return 0


def stream_number(stream: Any) -> int:
    """The address of a stream: a number, or an object of a library."""
    if hasattr(stream, "__index__"):
        return operator.index(stream)
    if hasattr(stream, "__cuda_stream__"):
        pair = stream.__cuda_stream__
        return int((pair() if callable(pair) else pair)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(f"stream: not a stream: {type(stream).__name__}")


# ---- Results as text -------------------------------------------------------------------------------------------------

ROWS_SHOWN, NUMBERS_SHOWN = 5, 6
_COLUMNS = ("key", "value", "found", "outcome", "score", "rows", "more")


def _first(column: Any, n: int) -> list[Any]:
    """The first n rows of an array or a list as lists."""
    if isinstance(column, list):
        return column[:n]
    if not isinstance(column, memoryview) or column.ndim == 1:
        return list(column[:n].tolist())
    view: Any = column  # of several dimensions: it has no slices
    shape = (n, *view.shape[1:])
    flat = view.cast("B")[: _count(shape) * view.itemsize]
    return list(flat.cast(view.format, shape).tolist()) if len(flat) else [[] for _ in range(n)]


def _cell(name: str, value: Any) -> str:
    if name == "outcome":
        from heddle._types import Outcome

        return Outcome(value).name
    if isinstance(value, list):
        more = ["..."] if len(value) > NUMBERS_SHOWN else []
        return "[" + " ".join([_cell(name, v) for v in value[:NUMBERS_SHOWN]] + more) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def lines_of(columns: dict[str, Any], n: int, cell: Any = _cell) -> list[str]:
    """The first of n rows below the names of their columns; None is no column."""
    shown = min(n, ROWS_SHOWN)
    cells = [[name, *(cell(name, v) for v in _first(column, shown))] for name, column in columns.items()
             if column is not None]  # fmt: skip
    widths = [max(map(len, column)) for column in cells]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in zip(*cells)] if n else []
    return lines + ["..."] * (n > shown)


def _on_device(column: Any) -> bool:
    return hasattr(column, "__dlpack_device__") and column.__dlpack_device__()[0] in (CUDA, CUDA_MANAGED)


def text_of(kind: str, columns: dict[str, Any], n: int) -> str:
    """What repr says of n rows: how many there are, and the first ones, unless a read of them waits for a device."""
    hidden = any(map(_on_device, columns.values()))
    return "\n".join([f"<{kind}: {n:,} rows>", *([] if hidden else lines_of(columns, n))])


def first_rows(result: Result) -> str:
    """The first rows of a result as lines, each after a line break."""
    lines = lines_of({name: getattr(result, name) for name in _COLUMNS}, len(result))
    if result.listed is not None:
        lines.append(f"listed: {len(result.listed)} rows")
    return "".join("\n" + line for line in lines)


def number(array_: Any) -> int:
    """The number in an array of one."""
    return int(array_[0])
