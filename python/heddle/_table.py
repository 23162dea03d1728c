# SPDX-License-Identifier: Apache-2.0
"""heddle.Table: a table of the library, with the calls of the extension module and what is written in Python."""

from __future__ import annotations

import contextlib
import os

from heddle import _core, _types
from heddle._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from types import TracebackType
    from typing import Any, TypeVar

    from heddle._core import Listed

    Path = str | bytes | PathLike[str]
    T = TypeVar("T", bound="Table")

def _text(value: Any) -> str:
    """A parameter of a table as text."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _config(parameters: dict[str, Any]) -> dict[str, str]:
    names = {row[0] for row in _core.rows(7)}
    for name in parameters:
        if name not in names:
            raise TypeError(f"Table() has no parameter {name!r}; the parameters are {', '.join(sorted(names))}")
    return {name: _text(value) for name, value in parameters.items() if value is not None}


class Table(_core.Table):
    """A hash table with cache semantics: a full bucket evicts its least valuable entry, or refuses the new key.

    capacity: entries, rounded up to whole buckets. value: the type of a value, for example "float32",
    ("float32", 16), a dtype of NumPy, or a number of opaque bytes; 0 makes a set. The other parameters are those of
    heddle.rows("parameters"), for example policy, backend, design, slots, seed, dual.

    Every operation takes arrays of n rows and returns arrays of the library that `keys` came from. A table may be used
    by several threads. It is a context manager: `with heddle.Table(...) as t:` closes it at the end.
    """

    _torch_number: int  # that heddle.torch gives

    def __init__(self, capacity: int | None = None, value: Any = None, **parameters: Any) -> None:
        spec = _types.value_type(value)
        size = _types.value_bytes(value, spec)
        if size is not None:
            if parameters.get("value_bytes") not in (None, size):
                raise Error(f"value_bytes: {parameters['value_bytes']}, but `value` has {size} bytes")
            parameters["value_bytes"] = size
        super().__init__(_config({**parameters, "capacity": capacity}), spec)
        self._value = value

    @classmethod
    def _open(cls: type[T], path: Path, value: Any, parameters: dict[str, Any]) -> T:
        self = cls.__new__(cls)
        _core.Table.__init__(self, _config(parameters), _types.value_type(value), path)
        self._value = value
        return self

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __contains__(self, key: int) -> bool:
        return bool(self.contains([key])[0] == _types.Outcome.HIT)

    if TYPE_CHECKING:
        upsert = _core.Table.insert
    else:

        def upsert(self, *arguments, **options):
            """The same as insert."""
            return self.insert(*arguments, **options)

    def items(self, rows: int = 1 << 16) -> Iterator[Listed]:
        """Iterates over all entries in parts: each is a heddle.Listed with arrays key, value, score and item.

        rows: slots per part. Of entries that are inserted, removed or moved meanwhile none, one or several parts have
        a row. RuntimeError if the table gets another number of buckets meanwhile.
        """
        start, info = 0, self.info
        while start < info["places"]:
            part = self.export(start, min(rows, info["places"] - start))
            if self.info["buckets"] != info["buckets"]:
                raise RuntimeError("the table changed its number of buckets during iteration")
            start += rows
            if len(part.key):
                yield part

    def __iter__(self) -> Iterator[int]:
        """Iterates over the keys of all entries, in slot order."""
        for part in self.items():
            yield from part.key.tolist()

    @property
    def value(self) -> Any:
        """The type of a value, as it was given to the constructor."""
        return self._value

    @property
    def hit_rate(self) -> float | None:
        """Hits per lookup so far, or None before the first lookup. An update of a present key is a hit."""
        outcomes = self.counters()["outcomes"]
        hits = outcomes["hit"] + outcomes["updated"]
        asked = hits + sum(outcomes[name] for name in ("miss", "inserted", "evicted", "refused"))
        return hits / asked if asked else None

    def _facts(self) -> dict[str, str]:
        info, size, rate = self.info, len(self), self.hit_rate
        shape = f"{info['buckets']:,} buckets of {info['slots']} slots"
        if info.get("dual"):
            shape += ", dual"
        return {
            "design": info["design"],
            "backend": info["backend"],
            "policy": info["policy"],
            "shape": shape,
            "value": f"{info['value_bytes']} bytes",
            "entries": f"{size:,} of {info['places']:,} ({size / info['places']:.1%})",
            "hit rate": "no lookups" if rate is None else f"{rate:.1%}",
            "memory": f"{info['memory_bytes'] / (1 << 20):,.2f} MiB",
        }

    def __repr__(self) -> str:
        if self.closed:
            return "<heddle.Table: closed>"
        facts = self._facts()
        return (
            f"<heddle.Table {facts['design']} on {facts['backend']}: {facts['entries']} entries, {facts['policy']}, "
            f"hit rate {facts['hit rate']}>"
        )

    def _repr_html_(self) -> str:
        import html

        if self.closed:
            return "<p>heddle.Table: closed</p>"
        facts, outcomes = self._facts(), self.counters()["outcomes"]
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}"
            "</td></tr>"
            for name, text in facts.items()
        )
        total = sum(outcomes.values()) or 1
        bars = "".join(
            f"<tr><td style='text-align:left'>{name}</td><td>{count:,}</td><td style='text-align:left'><div style='"
            f"background:#4c78a8;height:0.8em;width:{max(1, round(160 * count / total))}px'></div></td></tr>"
            for name, count in outcomes.items()
            if count
        )
        return f"<table><caption>heddle.Table</caption>{cells}{bars}</table>"

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[Any, ...], dict[str, Any]]:
        """Pickles the table as a snapshot, with all parameters that a snapshot lacks, and the attributes that a program
        gave to it. Pins and counters are not kept."""
        with saved(self) as path, open(path, "rb") as file:
            contents = file.read()
        own = {name: thing for name, thing in vars(self).items() if not name.startswith("_")}
        return _unpickle, (type(self), contents, self._value, self._beside_snapshot()), own


@contextlib.contextmanager
def saved(table: Table) -> Iterator[str]:
    """The path of a snapshot of a table, which is removed afterwards."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.heddle")
        table.save(path)
        yield path


def _unpickle(kind: type[T], contents: bytes, value: Any, parameters: dict[str, Any]) -> T:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".heddle") as file:
        file.write(contents)
        file.flush()
        return kind._open(file.name, value, parameters)


def load(path: Path, value: Any = None, **parameters: Any) -> Table:
    """Opens a table from a snapshot that Table.save or the command wrote.

    value: the type of a value; a snapshot knows only how many bytes it has. The other parameters are those that a
    snapshot does not contain, for example backend, lock, near and threads. One that the file decides is an error,
    unless it is what the file has.

    A path that ends in .h is a file of kernels, policies and predicates. It is compiled, what it has is known from then
    on in this process, and the result is a list of that: ["kernel hkv.mine"].
    """
    if os.fsdecode(path).endswith(".h"):
        from heddle._file import load_file

        return load_file(path)  # type: ignore[return-value]
    return Table._open(path, value, parameters)


def inspect(path: Path) -> dict[str, Any]:
    """The header of a snapshot as a dict. The contents are not read."""
    return _core.inspect(path)
