# SPDX-License-Identifier: Apache-2.0
#
# drawing.py - how the plots of papers/ look. The same results: the same bytes (a fixed salt, no date).
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from verdicts import ANSWERS

# Okabe and Ito's colours, told apart by nearly everyone, as in tools/heddle-plot.py.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
INK, GREY, GRID = "#222222", "#666666", "#E4E4E4"
STYLE = {
    "font.size": 10, "font.family": "sans-serif", "text.color": INK, "axes.labelcolor": GREY, "axes.edgecolor": GREY,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID, "axes.axisbelow": True,
    "xtick.color": GREY, "ytick.color": GREY, "lines.linewidth": 1.8, "lines.markersize": 4,
    "svg.fonttype": "none", "svg.hashsalt": "heddle", "figure.facecolor": "white",
}


def have(reader):
    """What a reader answers; None where that was not measured."""
    try:
        return reader()
    except Exception as missing:
        if type(missing).__name__ != "Missing":
            raise
        return None


def line(axes, xs, ys, colour, name, **more):
    points = [(x, y) for x, y in zip(xs, ys) if y is not None]
    if points:
        axes.plot(*zip(*points), color=COLOURS[colour], marker="o", label=name, **more)


def heading(figure, head, below):
    figure.suptitle(head, x=0.08, y=0.98, ha="left", fontsize=13, fontweight="bold")
    figure.text(0.08, 0.895, below, ha="left", color=GREY)
    figure.subplots_adjust(left=0.08, right=0.97, top=0.85, bottom=0.13)


def verdicts(rows):
    sections = list(dict.fromkeys(row["section"] for row in rows))[::-1]
    figure, axes = plt.subplots(figsize=(8, 4.2))
    left = [0] * len(sections)
    for answer, colour in zip(ANSWERS, ["#009E73", "#56B4E9", "#D55E00", "#BBBBBB", "#E4E4E4", "#CC79A7"]):
        n = [sum(row["section"] == s and row["verdict"] == answer for row in rows) for s in sections]
        axes.barh(sections, n, left=left, color=colour, label=answer, height=0.7)
        left = [a + b for a, b in zip(left, n)]
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("claims")
    axes.legend(frameon=False, ncol=6, loc="lower left", bbox_to_anchor=(-0.55, 1.0), fontsize=9)
    heading(figure, "The paper's claims", "")
    figure.subplots_adjust(left=0.38, top=0.84)
    return figure


def draw(made, folder):
    """Writes each of made, a function by its name, as FOLDER/NAME.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        for name, make in made.items():
            figure = make()
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
