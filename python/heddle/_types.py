# SPDX-License-Identifier: Apache-2.0
"""Names of outcomes, operations and flags, and types of values."""

from __future__ import annotations

import enum

from heddle import _arrays, _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from heddle._core import Op as Op
    from heddle._core import Outcome as Outcome
else:
    Outcome = enum.IntEnum("Outcome", {name.upper(): i for i, name in enumerate(_core.outcome_names())})
    Outcome.__doc__ = "What became of an item. An outcome is never an error (hd_outcome in heddle.h)."
    Op = enum.IntEnum("Op", {name.upper(): i for i, name in enumerate(_core.op_names())})
    Op.__doc__ = "The operations (hd_op in heddle.h)."


class Accum(enum.IntEnum):
    """Flags of accum_or_assign (hd_accum in heddle.h)."""

    ASSIGN_NEW = 0
    ADD = 1
    EITHER = 2


for _enum in (Outcome, Op, Accum):
    _enum.__module__ = "heddle"

_KINDS = ("designs", "backends", "policies", "locks", "predicates", "kernels", "hashes", "parameters")


def rows(kind: str) -> list[tuple[str, str, str]]:
    """The rows of one of the library's lists, as `heddle list` prints them: tuples (name, what, more).

    kind: "designs", "backends", "policies", "locks", "predicates", "kernels", "hashes" or "parameters".
    """
    if kind not in _KINDS:
        raise ValueError(f"there is no list {kind!r}; there are {', '.join(_KINDS)}")
    return _core.rows(_KINDS.index(kind))


def value_type(value: Any) -> tuple[int, int, tuple[int, ...]] | None:
    """(code, bits, shape) of one value: the types that `Table(value=...)` accepts.

    An int is a number of opaque bytes, for which the result is None. A name, such as "float32", is a scalar. A pair
    (type, shape) has a shape. A dtype of NumPy or PyTorch is what it says.
    """
    if value is None or isinstance(value, int):
        return None
    if isinstance(value, tuple) and len(value) == 2 and not hasattr(value, "dtype"):
        code, bits, inner = value_type(value[0]) or (_arrays.UINT, 8, (value[0],))
        shape = value[1] if isinstance(value[1], (tuple, list)) else (value[1],)
        return code, bits, (*(int(n) for n in shape), *inner)
    if isinstance(value, str):
        return (*_arrays.type_named(value), ())
    if getattr(value, "subdtype", None):
        base, shape = value.subdtype
        return value_type((base, tuple(shape)))
    if getattr(value, "fields", None):
        return None
    name = getattr(value, "name", None) or str(value).split(".")[-1].strip("'>")
    try:
        return (*_arrays.type_named("bfloat16" if name == "bfloat16" else name), ())
    except ValueError:
        raise TypeError(f"value: not a type of values: {value!r}") from None


def value_bytes(value: Any, spec: tuple[int, int, tuple[int, ...]] | None) -> int | None:
    """How many bytes a value has."""
    if value is None:
        return None
    if isinstance(value, int):
        return value
    if spec is None:
        return int(value.itemsize)
    size = spec[1] // 8
    for n in spec[2]:
        size *= n
    return size
