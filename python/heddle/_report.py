# SPDX-License-Identifier: Apache-2.0
"""What the command reported: facts and rows, for reading, for a notebook and for a plot."""

from __future__ import annotations

import html

from heddle import _arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import Any, overload

    import numpy
    from numpy.typing import NDArray


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class Report:
    """A report of the command (doc/output.md): facts about all of it, and rows.

    report[0] is a row, a dict; report["policy"] is a column of all rows, a list, or, of a report without rows, a fact;
    report.facts["trace"] is a fact. `ok` is False if a check of the command did not hold; `said` is what it printed to
    standard error. `story` is what happened step by step (heddle.story/1), or None; a notebook plays it.
    """

    def __init__(self, data: dict[str, Any], ok: bool = True, said: str = "") -> None:
        self.schema: str = data["schema"]
        self.facts: dict[str, Any] = {name: value for name, value in data.items() if name not in ("schema", "rows", "story")}
        self.rows: list[dict[str, Any]] = data.get("rows", [])
        self._has_rows = "rows" in data
        self.story: dict[str, Any] | None = data.get("story")
        self.ok, self.said = ok, said
        self.outcomes: NDArray[numpy.uint8] | bytes | None = None
        self.reads: dict[str, list[Any]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, what: str) -> Any: ...
        @overload
        def __getitem__(self, what: int) -> dict[str, Any]: ...
        @overload
        def __getitem__(self, what: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, what: str | int | slice) -> Any:
        if isinstance(what, str) and not self._has_rows:
            return self.facts[what]
        return [row[what] for row in self.rows] if isinstance(what, str) else self.rows[what]

    def _columns(self) -> list[str]:
        return [name for name in (self.rows[0] if self.rows else {}) if not isinstance(self.rows[0][name], (list, dict))]

    def __str__(self) -> str:
        lines = [f"{name:<16} {_cell(value)}" for name, value in self.facts.items() if not isinstance(value, (list, dict))]
        columns = self._columns()
        cells = [columns] + [[_cell(row[name]) for name in columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells)] if columns else []
        right = [isinstance(self.rows[0][name], (int, float)) for name in columns]
        if columns and lines:
            lines.append("")
        for row in cells if columns else []:
            padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right))
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        columns = {name: self[name] for name in self._columns()}
        lines = _arrays.lines_of(columns, len(self.rows), lambda _, value: _cell(value))
        return "\n".join([f"<heddle.Report {self.schema}: {len(self.rows)} rows>", *lines])

    def html(self, path: str | PathLike[str]) -> None:
        """Writes the story as a page for a browser. ValueError if the report has none."""
        if self.story is None:
            raise ValueError(f"the report {self.schema} has no story")
        from heddle import _page

        _page.write(path, self.story["title"], [self.story])

    def _repr_html_(self) -> str:
        if self.story is not None:
            from heddle import _page

            return _page.frame(_page.page(self.story["title"], [self.story]))
        columns = self._columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(row[name]))}</td>" for name in columns) + "</tr>"
            for row in self.rows
        )
        facts = ", ".join(f"{name}: {_cell(value)}" for name, value in self.facts.items() if not isinstance(value, (list, dict)))
        return f"<table><caption>{html.escape(facts)}</caption><tr>{head}</tr>{body}</table>"

    def plot(self, y: str = "miss_ratio", axes: Any = None) -> Any:
        """Draws `y` over the size, a line per policy, with matplotlib; returns the axes."""
        if not self.rows or "policy" not in self.rows[0] or y not in self.rows[0]:
            raise ValueError(f"the report {self.schema} has no column {y!r} by policy and size")
        if axes is None:
            import matplotlib.pyplot

            axes = matplotlib.pyplot.figure(layout="constrained").subplots()
        styles = ("-o", "--s", "-.^", ":D", "-v", "--x", "-.+", ":*")
        policies = dict.fromkeys(self["policy"])
        for i, policy in enumerate(policies):
            rows = sorted((r for r in self.rows if r["policy"] == policy), key=lambda r: int(r["capacity"]))
            axes.plot([r["capacity"] for r in rows], [r[y] for r in rows], styles[i % len(styles)], label=policy)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
        sizes = sorted(set(self["capacity"]))
        if len(sizes) <= 8:
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xlabel("entries")
        axes.set_ylabel(y.replace("_", " "))
        axes.grid(True, alpha=0.3)
        axes.legend()
        return axes
