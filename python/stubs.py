# SPDX-License-Identifier: Apache-2.0
"""stubs.py CORE - prints _core.pyi, the types of the extension module CORE, from the tables that the module has."""

import importlib.machinery
import importlib.util
import sys

HEAD = '''# Made by python/stubs.py from the library's table of operations.
from os import PathLike
from typing import Any

ArrayLike = Any
"""An array of NumPy, PyTorch, CuPy, JAX, or of any library with DLPack or the buffer protocol; a list; a number."""

version: str

class Error(RuntimeError):
    status: str

class Result:
    op: str
    key: Any
    value: Any
    found: Any
    outcome: Any
    score: Any
    ptr: Any
    rows: Any
    more: Any
    listed: Any
    evicted: Any
    missed: Any
    def __len__(self) -> int: ...

class Table:
    info: dict[str, Any]
    epoch: int
    clock: int
    now: int
    load_factor: float
    closed: bool
    def __init__(self, config: dict[str, str], value: Any, path: str | None = None) -> None: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    def grow(self, buckets: int, /) -> None: ...
    def reserve(self, capacity: int, /) -> None: ...
    def shrink(self, buckets: int, /) -> None: ...
    def set_near(self, near: int, /) -> None: ...
    def check(self) -> None: ...
    def save(self, path: str | bytes | PathLike[str], /) -> None: ...
    def load(self, path: str | bytes | PathLike[str], /) -> int: ...
    def counters(self) -> dict[str, Any]: ...
'''
TAIL = '''
def rows(kind: int, /) -> list[tuple[str, str, str]]: ...
def outcome_names() -> list[str]: ...
def op_names() -> list[str]: ...
def call_rows() -> list[dict[str, Any]]: ...
def parameter_rows() -> list[dict[str, Any]]: ...
def inspect(path: str | bytes | PathLike[str], /) -> dict[str, Any]: ...
def use_helpers(helpers: dict[str, Any], /) -> None: ...
def pretend_device(on: bool, /) -> None: ...
def use_number(table: Table, number: int, /) -> bool: ...
def register_operators() -> dict[str, list[str]]: ...
def guard_operator(function: Any, /) -> Any: ...
def operator_failed(error: BaseException, /) -> None: ...'''


def load(path):
    """The module of a file."""
    loader = importlib.machinery.ExtensionFileLoader("heddle._core", path)
    spec = importlib.util.spec_from_loader("heddle._core", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def method(row):
    """The stub of one operation."""
    words, keyword = ["self"], False
    for p in row["parameters"]:
        if not p["placed"] and not keyword:
            words.append("*")
            keyword = True
        words.append(f"{p['name']}: {p['type']}" + (f" = {p['default']}" if p["default"] else ""))
    return f"    def {row['name']}({', '.join(words)}) -> Any:\n        \"\"\"{row['what'].capitalize()}.\"\"\""


def main():
    core = load(sys.argv[1])
    print(HEAD + "\n".join(method(row) for row in core.call_rows()) + "\n" + TAIL)


if __name__ == "__main__":
    main()
