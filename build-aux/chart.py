# SPDX-License-Identifier: Apache-2.0
"""Charts (heddle.chart/1, doc/output.md) put together in Python, and drawn by `heddle plot`.

    chart.svg(chart.chart("Title", [chart.bars(["a", "b"], ["one"], [[1], [2]], "things")]), "build/heddle")
"""

import json
import os
import pathlib
import shutil
import subprocess


def axis(label, form="plain", log=False, **more):
    return {"label": label, "format": form, "scale": "log" if log else "linear", **more}


def series(name, points, line=True):
    """points: (x, y), or (x, y, low, high)."""
    return {"name": name, "points": [list(p) for p in points], "line": line}


def lines(curves, x, y, title=None):
    """curves: series(...), at least one with points. x, y: axis(...)."""
    return {"kind": "lines", "title": title, "x": x, "y": y, "series": [c for c in curves if c["points"]]}


def bars(groups, names, values, label, form="plain", title=None, kind="bars"):
    """A group of bars for each of `groups`, and in it a bar for each of `names`; values[group][name], None: none."""
    columns = [{"name": name, "values": [row[i] for row in values]} for i, name in enumerate(names)]
    return {"kind": kind, "title": title, "groups": list(groups), "y": axis(label, form), "series": columns}


def chart(title, panels, below=None, source=None, columns=1):
    return {"schema": "heddle.chart/1", "title": title, "below": below, "source": source, "columns": columns, "panels": panels}


def command():
    """The command that draws: the environment's HEDDLE, else one in PATH, else the tree's build/heddle. None: none."""
    built = pathlib.Path(__file__).resolve().parent.parent / "build" / "heddle"
    return os.environ.get("HEDDLE") or shutil.which("heddle") or (str(built) if built.exists() else None)


def svg(made, heddle, width=720):
    """The picture of a chart, as text."""
    done = subprocess.run([str(heddle), "plot", "--width", str(width)], input=json.dumps(made), capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise ValueError(f"{made['title']}: {done.stderr.strip()}")
    return done.stdout
