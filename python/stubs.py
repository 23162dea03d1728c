# SPDX-License-Identifier: Apache-2.0
"""stubs.py CORE - prints _core.pyi, the types of the extension module CORE, from the tables that the module has.

An operation has one overload for each kind of keys, and one for each kind of `out`. Each set of outputs has two
classes of results: XResultOf[A], whose arrays have the type A, and XResult, whose arrays are NumPy's.
"""

import importlib.machinery
import importlib.util
import sys

HEAD = '''# Made by python/stubs.py from the library's table of operations.
# mypy: disable-error-code="misc"
#
# NumPy's arrays support DLPack, too; of the overloads the first is theirs (misc: earlier versions of mypy refuse that).
# The classes of results exist for type checkers alone: at run time each is a heddle.Result. Listed, Outcome and Op are
# made by modules of the package. Without NumPy its arrays here are views of memory (memoryview). The value of a result
# is None if the table is a set.
import enum
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Generic, Literal, NamedTuple, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
from _typeshed import ReadableBuffer
from numpy.typing import NDArray
from typing_extensions import TypeAlias

class SupportsDLPack(Protocol):
    """An array of PyTorch, CuPy, JAX or another library."""
    def __dlpack__(self, *args: Any, **options: Any) -> Any: ...

class SupportsArray(Protocol):
    def __array__(self, *args: Any, **options: Any) -> Any: ...

_A = TypeVar("_A", bound=SupportsDLPack)
_K = TypeVar("_K")
_V = TypeVar("_V")
_S = TypeVar("_S")
_Out = TypeVar("_Out", bound=dict[str, Any] | Result)
_Array: TypeAlias = ReadableBuffer | SupportsDLPack | SupportsArray
_HostKeys: TypeAlias = int | np.integer[Any] | Sequence[SupportsIndex] | ReadableBuffer | NDArray[Any]
_OtherKeys: TypeAlias = Iterable[SupportsIndex] | SupportsArray
ArrayLike: TypeAlias = float | SupportsIndex | Iterable[Any] | _Array
"""An array of NumPy, PyTorch, CuPy, JAX, or of any library with DLPack or the buffer protocol; a list; a number."""

version: str

class Error(RuntimeError):
    status: str

class ListedOf(NamedTuple, Generic[_K, _V, _S]):
    """Rows of a list that an operation delivers. A member is None if the operation does not list it."""
    key: _K
    value: _V
    score: _S
    item: _K
    def __len__(self) -> int: ...

class Listed(ListedOf[NDArray[np.uint64], NDArray[Any], NDArray[np.uint64]]): ...
'''
RESULT = '''
class Result:
    """{doc}"""
    @property
    def op(self) -> str: ...
    def __len__(self) -> int: ...
'''
TABLE = '''
class Table:
    epoch: int
    clock: int
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def now(self) -> int: ...
    @property
    def load_factor(self) -> float: ...
    @property
    def closed(self) -> bool: ...
    def __init__(self, config: dict[str, str], value: Any, path: str | bytes | PathLike[str] | None = None) -> None: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    def grow(self, buckets: int, /) -> None: ...
    def reserve(self, capacity: int, /) -> None: ...
    def shrink(self, buckets: int, /) -> None: ...
    def set_near(self, near: int, /) -> None: ...
    def check(self) -> None: ...
    def persist(self) -> None: ...
    def save(self, path: str | bytes | PathLike[str], /) -> None: ...
    def load(self, path: str | bytes | PathLike[str], /) -> int: ...
    def counters(self) -> dict[str, Any]: ...
    def _beside_snapshot(self) -> dict[str, str]: ...
    def _repeat(self, repeats: int, /) -> float: ...
    def _record_steps(self, on: bool | list[dict[str, Any]], /) -> list[dict[str, Any]] | None: ...
'''
TAIL = '''
def rows(kind: int, /) -> list[tuple[str, str, str]]: ...
def outcome_names() -> list[str]: ...
def op_names() -> list[str]: ...
def call_rows() -> list[dict[str, Any]]: ...
def parameter_rows() -> list[dict[str, Any]]: ...
def inspect(path: str | bytes | PathLike[str], /) -> dict[str, Any]: ...
def load_object(file: str, object: str, /) -> str: ...
def use_helpers(helpers: dict[str, Any], /) -> None: ...
def pretend_device(on: bool, /) -> None: ...
def use_number(table: Table, number: int, /) -> bool: ...
def register_operators() -> dict[str, list[str]]: ...
def guard_operator(function: Any, /) -> Any: ...
def operator_failed(error: BaseException, /) -> None: ...'''

# The element types of NumPy's arrays, by the names of outputs.
ELEMENTS = {"key": "np.uint64", "value": "Any", "found": "np.bool_", "outcome": "np.uint8", "score": "np.uint64",
            "ptr": "np.uint64", "rows": "np.uint32", "more": "np.bool_"}  # fmt: skip
LISTS = ("listed", "evicted", "missed")


def load(path):
    """The module of a file."""
    loader = importlib.machinery.ExtensionFileLoader("heddle._core", path)
    spec = importlib.util.spec_from_loader("heddle._core", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def enum_class(name, members):
    """The stub of an enum of the names that the module has."""
    return "\n".join([f"\nclass {name}(enum.IntEnum):", *(f"    {m.upper()} = {i}" for i, m in enumerate(members))])


def members(types, docs=None):
    """Read-only attributes."""
    more = {name: f'\n        """{docs[name]}"""' for name in docs or {}}
    return "".join(f"    @property\n    def {n}(self) -> {t}:{more.get(n, '')} ...\n" if n not in more else
                   f"    @property\n    def {n}(self) -> {t}:{more[n]}\n" for n, t in types.items())  # fmt: skip


def types_of(gives, of):
    """The types of a result's attributes. of: the type of its arrays, or None for NumPy's."""
    types = {name: (of or f"NDArray[{element}]") if name in gives else "None" for name, element in ELEMENTS.items()}
    key, value = of or "NDArray[np.uint64]", (of or "Any") if "list_value" in gives else "None"
    rows = "Listed" if not of and "list_value" in gives else f"ListedOf[{key}, {value}, {value}]"
    return types | dict.fromkeys(LISTS, rows if "list_key" in gives else "None")


def is_result(row):
    """Whether a call delivers a result: arrays for its keys, and not outcomes alone."""
    return "outcome" in row["gives"] and row["gives"] != ["outcome"]


def result_names(rows):
    """The name of the class of each set of outputs: that of the first operation that has it."""
    names = {}
    for row in filter(is_result, rows):
        names.setdefault(tuple(row["gives"]), camel(row["name"]) + "Result")
    return names


def result_classes(gives, name):
    return (
        f"\nclass {name}Of(Result, Generic[_A]):\n{members(types_of(gives, '_A'))}"
        f"\nclass {name}({name}Of[NDArray[Any]]):\n"
        + members({n: t for n, t in types_of(gives, None).items() if t != "None" and n != "value"})
    )


def signature(row, result, doc="", **types):
    """The stub of one call. types: of parameters, in place of those that they have; a default follows after " = "."""
    words, keyword = ["self"], False
    for p in row["parameters"]:
        if not p["placed"] and not keyword:
            words.append("*")
            keyword = True
        usual = f" = {p['default']}" if p["default"] else ""
        words.append(f"{p['name']}: " + types.get(p["name"], p["type"] + usual))
    body = f'\n        """{doc}"""' if doc else " ..."
    return f"    def {row['name']}({', '.join(words)}) -> {result}:{body}"


def fresh(row, gives, names, **types):
    """The overloads of a call that makes its result: by the keys."""
    name = names.get(tuple(gives))
    host, other = (name, f"{name}Of[_A]") if name else ("NDArray[np.uint8]", "_A")
    for keys, result in ("_HostKeys", host), ("_A", other), ("_OtherKeys", host):
        yield signature(row, result, keys=keys, out="None = None", **types)


def overloads(row, names, evicting):
    """evicting: what insert(evicted=True) gives."""
    both = "evicted" in [p["name"] for p in row["parameters"]]
    if both:
        yield from fresh(row, row["gives"], names, evicted="Literal[False] = False")
        yield from fresh(row, evicting, names, evicted="Literal[True]")
    else:
        yield from fresh(row, row["gives"], names)
    yield signature(row, "_Out", out="_Out")
    if "value" in row["gives"] and "rows" not in row["gives"]:
        yield signature(row, "Result", out="_Array")
    if both:
        yield signature(row, "Any", evicted="bool", out="None = None")


def method(row, names, evicting):
    """The stub of one operation."""
    gives, doc = row["gives"], row["what"].capitalize() + "."
    if "outcome" in gives:
        first, *others = overloads(row, names, evicting)
        first = first.removesuffix(" ...") + f'\n        """{doc}"""'
        return "\n".join("    @overload\n" + text for text in (first, *others))
    entry = "tuple[int, Any] | None" if "key" in gives else "int" if "count" in gives else "None"
    return signature(row, "Listed" if "list_key" in gives else entry, doc)


def main():
    core = load(sys.argv[1])
    rows = core.call_rows()
    names = result_names(rows)
    evicting = next(row["gives"] for row in rows if row["name"] == "insert_and_evict")
    docs = {name: vars(core.Result)[name].__doc__ for name in (*ELEMENTS, *LISTS)}
    print(HEAD + enum_class("Outcome", core.outcome_names()) + "\n" + enum_class("Op", core.op_names()))
    print(RESULT.format(doc=core.Result.__doc__) + members(dict.fromkeys(docs, "Any"), docs))
    print("".join(result_classes(gives, name) for gives, name in names.items()))
    print(TABLE + "\n".join(method(row, names, evicting) for row in rows) + "\n" + TAIL)


if __name__ == "__main__":
    main()
