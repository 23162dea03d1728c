# SPDX-License-Identifier: Apache-2.0
#
# drawing.py - the plots of papers/, drawn by `heddle plot`. The same results: the same bytes.
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "build-aux"))
import chart  # noqa: E402
from verdicts import ANSWERS


def have(reader):
    """What a reader answers; None where that was not measured."""
    try:
        return reader()
    except Exception as missing:
        if type(missing).__name__ != "Missing":
            raise
        return None


def line(xs, ys, name, **more):
    """A series of what was measured."""
    return chart.series(name, [(x, y) for x, y in zip(xs, ys) if y is not None], **more)


def verdicts(rows):
    sections = list(dict.fromkeys(row["section"] for row in rows))
    answers = [a for a in ANSWERS if any(row["verdict"] == a for row in rows)]
    counts = [[sum(row["section"] == s and row["verdict"] == a for row in rows) for a in answers] for s in sections]
    return chart.chart("The paper's claims", [chart.bars(sections, answers, counts, "claims", kind="stacks")])


def draw(made, folder):
    """Writes each of made, a function by its name, as FOLDER/NAME.svg."""
    heddle = chart.command()
    if not heddle:
        print("judge.py: no plots: there is no heddle in PATH, in build/ or in the environment's HEDDLE", file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made.items():
        (folder / f"{name}.svg").write_text(chart.svg(make(), heddle), encoding="utf-8")
