# SPDX-License-Identifier: Apache-2.0
"""What the kernels do with a batch, step by step, in the simulator."""

from __future__ import annotations

import html

from heddle import _arrays, _core
from heddle._command import command
from heddle._table import Table, load, saved
from heddle._types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from os import PathLike
    from typing import Any, overload

    from heddle._report import Report

    Step = dict[str, Any]
    Batch = dict[str, Any]


def _meaning(step: Step) -> str:
    """What a step is, in a word."""
    does, memory = str(step["does"]), step["memory"]
    if does == "takes effect":
        return does
    if not memory:
        return "meets its tile" if does.startswith("sync") else "orders memory" if does == "fence" else "votes"
    if does.startswith("ld"):
        return "reads"
    if does == "strel":
        return "publishes"
    if does.startswith("st"):
        return "writes"
    if does == "cas":
        return "claims" if step["before"] != step["after"] else "fails to claim"
    return "counts"


def _lanes(numbers: Iterable[int]) -> str:
    """ "0-3 7": the numbers of lanes."""
    words, lanes = [], sorted(numbers)
    while lanes:
        n = 1
        while n < len(lanes) and lanes[n] == lanes[0] + n:
            n += 1
        words.append(str(lanes[0]) if n == 1 else f"{lanes[0]}-{lanes[n - 1]}")
        lanes = lanes[n:]
    return " ".join(words)


def _grouped(steps: Iterable[Step]) -> list[list[Step]]:
    """Consecutive steps of one place in the kernel's text, by lanes that follow each other, are one row."""
    rows: list[list[Step]] = []
    for step in steps:
        last = rows[-1] if rows else []
        same = last and all(last[0][name] == step[name] for name in ("site", "does", "block"))
        if same and last[-1]["thread"] < step["thread"] and last[-1]["thread"] // 32 == step["thread"] // 32:
            last.append(step)
        else:
            rows.append([step])
    return rows


def _value(group: list[Step], name: str) -> str | None:
    """The value that all lanes have, in hexadecimal; else None."""
    values = {step[name] for step in group}
    return f"0x{values.pop():x}" if len(values) == 1 else None


def _page_step(group: list[Step], regions: dict[str, int]) -> dict[str, Any]:
    """A row as a step of heddle.story/1. regions: the number of each piece of memory."""
    first = group[0]
    reads, effect = first["does"].startswith("ld"), first["does"] == "takes effect"
    sectors = dict.fromkeys((regions[s["memory"]], s["byte"] // 32) for s in group if s["memory"])
    return {
        "step": first["step"], "who": f"block {first['block']}, warp {first['thread'] // 32}",
        "lanes": [s["thread"] % 32 for s in group], "does": _meaning(first),
        "operation": None if effect else first["does"],
        "place": f"item {first['before']}" if effect else _place(first) or None,
        "before": _value(group, "before") if first["memory"] else None,
        "after": Outcome(first["after"]).name.lower() if effect else None if reads else _value(group, "after"),
        "site": first["site"], "note": None, "sets": [], "looks": [], "sectors": [list(s) for s in sectors],
    }  # fmt: skip


def _page_story(batch: Batch) -> dict[str, Any]:
    """A batch as heddle.story/1. It has no panels: the table's cells are not recorded."""
    ends: dict[str, int] = {}
    for step in batch["steps"]:
        if step["memory"]:
            ends[step["memory"]] = max(ends.get(step["memory"], 0), step["byte"] // 32 + 1)
    regions = {name: i for i, name in enumerate(ends)}
    return {
        "schema": "heddle.story/1", "title": f"{batch['op']} by {batch['kernel']}, {batch['n']} items", "command": None,
        "about": None, "facts": [], "finding": None, "panels": [], "sources": {},
        "memory": [{"name": name, "sectors": sectors} for name, sectors in ends.items()],
        "steps": [_page_step(group, regions) for group in _grouped(batch["steps"])],
    }  # fmt: skip


def _place(step: Step) -> str:
    memory, byte = step["memory"], step["byte"]
    return "" if not memory else f"{memory}, byte {byte}" if byte else str(memory)


class Story:
    """The batches that were recorded. Each has `op`, `kernel`, `n` and `steps`; a step has step, block, thread, does,
    site, memory, byte, before and after."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, i: int) -> Batch:
        return self.batches[i]

    def rows(self) -> Iterator[tuple[int, str, str, str, str]]:
        """The steps as rows (step, lanes, meaning, place, site): lanes that do the same together are one row."""
        for batch in self.batches:
            for group in _grouped(batch["steps"]):
                first = group[0]
                place = _place(first) + (" and on" if len({s["byte"] for s in group}) > 1 else "")
                yield first["step"], _lanes(s["thread"] % 32 for s in group), _meaning(first), place, first["site"]

    def __str__(self) -> str:
        lines = []
        for batch in self.batches:
            one = Story()
            one.batches = [batch]
            lines.append(f"{batch['op']} by {batch['kernel']}, {batch['n']} items")
            rows = [("step", "lanes", "what they do", "where", "in the text"), *(tuple(map(str, r)) for r in one.rows())]
            widths = [max(map(len, column)) for column in zip(*rows)]
            lines += ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines)

    def __repr__(self) -> str:
        names = ("op", "kernel", "n")
        columns = {name: [batch[name] for batch in self.batches] for name in names}
        columns["steps"] = [len(batch["steps"]) for batch in self.batches]
        return "\n".join([f"<heddle.Story: {len(self)} batches>", *_arrays.lines_of(columns, len(self))])

    def html(self, path: str | PathLike[str]) -> None:
        """Writes the batches as a page for a browser, which plays their steps side by side."""
        from heddle import _page

        _page.write(path, "heddle.explain", [_page_story(batch) for batch in self.batches])

    def _repr_html_(self) -> str:
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(c))}</td>" for c in row) + "</tr>"
            for row in self.rows()
        )
        return f"<table><tr><th>step<th>lanes<th>what they do<th>where<th>in the text</tr>{body}</table>"


class _Recorder:
    """Records a table's batches: its own if it is in the simulator, else those of a copy there."""

    def __init__(self, table: Table) -> None:
        self.table, self.story, self.recorded = table, Story(), table
        self.copy: Table | None = None
        self.outer: list[Batch] | None = None  # the batches of a recorder around this one, of the same table

    def __enter__(self) -> Story:
        if self.table.info["backend"] != "host":
            self.copy = _copy(self.table)
            self.table.__class__ = _mirrored(type(self.table), self.copy)
            self.recorded = self.copy
        self.outer = self.recorded._record_steps(True)
        return self.story

    def __exit__(self, *unused: object) -> None:
        if self.copy is not None:
            self.table.__class__ = type(self.table).__mro__[1]
        if not self.recorded.closed:
            batches = self.recorded._record_steps(False) or []
            self.story.batches += batches
            if self.outer is not None:
                self.recorded._record_steps(self.outer + batches)
        if self.copy is not None:
            self.copy.close()


def _copy(table: Table) -> Table:
    """The same table in the simulator."""
    parameters = {**table._beside_snapshot(), "backend": "host"}
    for name in ("lock", "threads"):  # of a backend
        parameters.pop(name, None)
    with saved(table) as path:
        return load(path, value=table.value, **parameters)


def _mirrored(kind: type[Table], copy: Table) -> type[Table]:
    """A class whose operations run on a copy, too."""

    def operation(name: str) -> Any:
        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            result = getattr(super(mirrored, self), name)(*arguments, **options)
            options = {k: v for k, v in options.items() if k not in ("out", "stream", "kernel")}
            getattr(copy, name)(*arguments, **options)
            return result

        return call

    names = [row["name"] for row in _core.call_rows()]
    mirrored = type(kind.__name__, (kind,), {name: operation(name) for name in names})
    return mirrored


if TYPE_CHECKING:

    @overload
    def explain(what: str, **options: Any) -> Report: ...
    @overload
    def explain(what: Table) -> AbstractContextManager[Story]: ...


def explain(what: str | Table, **options: Any) -> Report | AbstractContextManager[Story]:
    """Shows what kernels do, step by step.

    explain(table) is a context: the batches that run inside it are recorded, and the context's value is their Story. A
    table of the backend "host" records its own kernels. For another table a copy in the simulator runs the same
    batches. explain("hkv.find.tlpv1 buckets=2") is the report of `heddle explain` for a case.
    """
    if isinstance(what, str):
        return command("explain", *what.split(), **options)
    if not isinstance(what, Table) or options:
        raise TypeError("explain() takes a table, or a case and the options of `heddle explain`")
    return _Recorder(what)
