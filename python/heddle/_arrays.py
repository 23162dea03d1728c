# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, for the extension module: what it needs seldom, or by the libraries' own Python functions.

No library is imported before one of its arrays is seen, or a result is asked for as a NumPy array.
"""

import array
import operator
import sys
from typing import NamedTuple

# As in core.h.
PLAIN, NUMPY, TORCH, CUPY, JAX, OTHER = range(6)
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6

_KINDS = {"numpy": NUMPY, "torch": TORCH, "cupy": CUPY, "jax": JAX, "jaxlib": JAX}
_NAMES = {INT: "int", UINT: "uint", FLOAT: "float", BFLOAT: "bfloat"}
_CODES = {name: code for code, name in _NAMES.items()}
_FORMATS = {(INT, 8): "b", (INT, 16): "h", (INT, 32): "i", (INT, 64): "q", (UINT, 8): "B", (UINT, 16): "H",
            (UINT, 32): "I", (UINT, 64): "Q", (FLOAT, 32): "f", (FLOAT, 64): "d", (BOOL, 8): "?"}  # fmt: skip


class Listed(NamedTuple):
    """Rows of a list that an operation delivers. A member is None if the operation does not list it."""

    key: object
    value: object
    score: object
    item: object

    def __len__(self):
        return len(self.key)


def _numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def name_of(code, bits):
    """The name of an element type, for example "float32"."""
    return "bool" if code == BOOL else f"{_NAMES[code]}{bits}"


def type_named(name):
    """(code, bits) of a name such as "float32"; ValueError if there is none."""
    if name == "bool":
        return BOOL, 8
    word = name.rstrip("0123456789")
    bits = name[len(word) :]
    if word in _CODES and bits in ("8", "16", "32", "64"):
        return _CODES[word], int(bits)
    raise ValueError(f"there is no element type {name!r}")


def kind_of(kind):
    """Which library's arrays have this type."""
    for base in kind.__mro__:
        found = _KINDS.get(base.__module__.split(".")[0])
        if found is not None:
            return found
    if hasattr(kind, "__array_namespace__") or hasattr(kind, "__dlpack__"):
        return OTHER
    return NUMPY if _numpy() else PLAIN


def capsule_of(producer, stream):
    """The capsule of a producer of DLPack; earlier producers take no version."""
    try:
        return producer.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:
        return producer.__dlpack__(stream=stream)


def _flat(thing, depth):
    if depth == 0:
        yield thing
        return
    for part in thing:
        yield from _flat(part, depth - 1)


def convert(thing, what, code, bits, shape):
    """An array of a number, a list, a range or any other iterable: of the type, in rows of the shape."""
    numpy = _numpy()
    rows = len(shape) + 1
    if hasattr(thing, "__index__"):
        thing, rows = operator.index(thing), 0
    elif isinstance(thing, float):
        rows = 0
    elif isinstance(thing, (str, bytes)) or not hasattr(thing, "__iter__"):
        raise TypeError(f"{what}: not an array: {type(thing).__name__}")
    elif not hasattr(thing, "__len__") or not hasattr(thing, "__getitem__"):
        thing = list(thing)
    if numpy and (code, bits) in _FORMATS:
        try:
            return numpy.ascontiguousarray(thing, dtype=name_of(code, bits))
        except OverflowError:
            raise TypeError(f"{what}: a number is not in the range of {name_of(code, bits)}") from None
    if (code, bits) not in _FORMATS:
        raise TypeError(f"{what}: a list has no elements of type {name_of(code, bits)}; pass an array")
    numbers = [thing] if rows == 0 else list(_flat(thing, rows))
    try:
        flat = array.array(_FORMATS[code, bits], numbers)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{what}: {error}") from None
    if rows <= 1 or not flat:
        return flat
    return memoryview(flat).cast("B").cast(_FORMATS[code, bits], (len(thing), *shape))


def numpy_dtype(code, bits):
    """NumPy's dtype; uint16 for bfloat16 if the package ml_dtypes is not there."""
    import numpy

    if code == BFLOAT:
        try:
            import ml_dtypes
        except ImportError:
            return numpy.dtype("uint16")
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name_of(code, bits))


def _count(shape):
    count = 1
    for n in shape:
        count *= n
    return count


def _plain_view(block, offset, code, bits, shape):
    """A view of memory of this machine, without NumPy."""
    part = memoryview(block)[offset : offset + _count(shape) * bits // 8]
    form = _FORMATS.get((code, bits), "B")
    if form == "B" or len(shape) == 1 and shape[0] == 0:
        return part if bits == 8 or not part else part.cast("H")
    return part.cast(form, shape) if all(shape) else part.cast(form)


def _host_view(block, offset, code, bits, shape):
    import numpy

    return numpy.ndarray(shape, numpy_dtype(code, bits), block, offset)


_torch_dtypes = {}


def torch_dtype(code, bits):
    """PyTorch's dtype."""
    if (code, bits) not in _torch_dtypes:
        import torch

        _torch_dtypes[code, bits] = getattr(torch, "bfloat16" if code == BFLOAT else name_of(code, bits))
    return _torch_dtypes[code, bits]


def _torch_view(block, offset, code, bits, shape):
    import torch

    dtype, count = torch_dtype(code, bits), _count(shape)
    if not count:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(block, dtype=dtype, count=count, offset=offset)
    return flat if len(shape) == 1 else flat.view(shape)


def _device_dtype(kind, code, bits):
    if kind == TORCH:
        return torch_dtype(code, bits)
    if kind == JAX:
        import jax.numpy

        return jax.numpy.dtype("bfloat16" if code == BFLOAT else name_of(code, bits))
    return numpy_dtype(code, bits)


def view(kind, block, on_device, offset, code, bits, shape):
    """An array over part of a block: of bytes on a device, or of memory of this machine."""
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
    if kind == OTHER:
        return _other(host)
    return host


def _other(host):
    """An array of the library that was seen last which is none of the others; it has no other way to be known."""
    module = sys.modules.get("array_api_strict")
    return module.from_dlpack(host) if module else host


def device_block(kind, like, size):
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
        import jax.numpy

        block = jax.numpy.zeros(size, dtype="uint8", device=like.device)
        block.block_until_ready()
        return block, block.unsafe_buffer_pointer()
    raise TypeError(f"outputs: {type(like).__name__} of a device: pass `out`, or keys of torch, CuPy or JAX")


def current_stream(kind, like):
    """The address of the stream on which the library works now."""
    if kind == TORCH:
        import torch

        return torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0
    if kind == CUPY:
        import cupy

        return cupy.cuda.get_current_stream().ptr
    return 0


def stream_number(stream):
    """The address of a stream: a number, or an object of a library."""
    if hasattr(stream, "__index__"):
        return operator.index(stream)
    if hasattr(stream, "__cuda_stream__"):
        pair = stream.__cuda_stream__
        return (pair() if callable(pair) else pair)[1]
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(f"stream: not a stream: {type(stream).__name__}")


def number(array_):
    """The number in an array of one."""
    return int(array_[0])
