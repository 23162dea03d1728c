#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# cliffs.py - makes, from results/GPU.cliffs.tsv (heddle bench cliffs -o) and bench/lab/cliffs.txt, the section of bench/RESULTS.md about slow cells,
# and the heat map results/GPU.cliffs.png.
#
#     cliffs.py [--gpu nvidia-h200] [--results FOLDER] [--reasons FILE] [--page FILE] [--plot FILE] [--check]
#
# --results: a folder of results that is searched before bench/results. --plot: the heat map, .png or .svg; without matplotlib there is
# none, and the exit code is 3 (bench.sh cliffs finds a python that has it). --check: change nothing; exit code 1 if the page would change.
import argparse
import io
import math
import pathlib
import sys

sys.dont_write_bytecode = True
from kept import Kept, Missing, replaced, told
from rows import items, table

HERE = pathlib.Path(__file__).resolve().parent
NO_MATPLOTLIB, LOWEST = 3, 20


def flag(row, name):
    return row[name] == "true"


def number(row, name):
    return float(row[name]) if row[name] else None


def distinct(rows, *names):
    """The values of these columns, in the order in which they come."""
    return list(dict.fromkeys(tuple(row[n] for n in names) for row in rows))


def tables_of(rows):
    """{(policy, mode): its rows}."""
    return {key: [r for r in rows if (r["policy"], r["mode"]) == key] for key in distinct(rows, "policy", "mode")}


def rate_text(row):
    """1e6 items per second."""
    rate = number(row, "items_per_s")
    if not rate:
        return "-"
    rate *= 1e-6
    return ("<" if flag(row, "below") else "") + (f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}")


# ---- The page --------------------------------------------------------------------------------------------------------------


def reasons_of(path):
    """[(policy, mode, operation, pattern), text]."""
    reasons = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            when, text = line.split(": ", 1)
            reasons.append((when.split(), text))
    return reasons


def is_of(when, row):
    return all(w == "-" or row[name] in w.split(",") for w, name in zip(when, ("policy", "mode", "operation", "pattern")))


def counts_table(rows):
    """How many cells are marked, by policy and mode, and by pattern."""
    compared = [r for r in rows if r["of_best"] or flag(r, "marked")]
    patterns = [p for p, in distinct(compared, "pattern")]
    cells = []
    for (policy, mode), of in tables_of(compared).items():
        by = [[r for r in of if r["pattern"] == p] for p in patterns]
        cells.append([policy, mode] + [f"{sum(flag(r, 'marked') for r in b)} of {len(b)}" for b in by])
    return table(["policy", "mode"] + patterns, cells)


def lowest_table(marked):
    """The cells that are farthest from the best of their row; those without a full batch first."""
    order = sorted(marked, key=lambda r: number(r, "of_best") or 0)[:LOWEST]
    return table(["policy", "mode", "operation", "pattern", "1e6 items/s", "of the best"],
                 [[r["policy"], r["mode"], r["operation"], r["pattern"], rate_text(r), f"{100 * (number(r, 'of_best') or 0):.2g}%"] for r in order])


def page_text(rows, reasons, picture):
    marked = [r for r in rows if flag(r, "marked")]
    compared = sum(1 for r in rows if r["of_best"] or flag(r, "marked"))
    shape = rows[0]
    text = f"{len(marked)} of {compared} cells are marked. Table of {int(shape['capacity']):,} entries, dim {shape['dim']}.\n\n"
    text += counts_table(rows)
    if marked:
        text += f"\nThe lowest {min(LOWEST, len(marked))}:\n\n" + lowest_table(marked)
    given = [f"{sum(is_of(when, r) for r in marked)} cells ({' '.join(when)}): {why}" for when, why in reasons if any(is_of(when, r) for r in marked)]
    rest = sum(1 for r in marked if not any(is_of(when, r) for when, _ in reasons))
    if given:
        text += "\nReasons (policy, mode, operation, pattern; - is any):\n\n" + items(given)
    if marked:
        text += f"\n{rest} marked cells have no reason yet.\n"
    return text + (f"\n![Every cell, as a share of the best of its row]({picture})\n" if picture else "")


# ---- The heat map ------------------------------------------------------------------------------------------------------------


def draw_table(axes, title, rows, patterns, colours):
    """A cell's colour is its share of the best of its row; cells that are not compared are grey; marked ones are bold."""
    operations = [o for o, in distinct(rows, "operation")]
    cells = {(r["operation"], r["pattern"]): r for r in rows}
    shares = [[math.nan] * len(patterns) for _ in operations]
    for y, operation in enumerate(operations):
        for x, pattern in enumerate(patterns):
            row = cells.get((operation, pattern))
            if not row or not row["items_per_s"]:
                continue
            share = number(row, "of_best")
            if share:
                shares[y][x] = max(share, 0.001)
            bright = share and share > 0.1
            axes.text(x, y, rate_text(row), ha="center", va="center", fontsize=5.5, color="black" if bright or not share else "white",
                      fontweight="bold" if flag(row, "marked") else "normal")
    image = axes.imshow(shares, cmap=colours, norm="log", vmin=0.001, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(patterns)), patterns, rotation=60, ha="right", fontsize=6)
    axes.set_yticks(range(len(operations)), operations, fontsize=6)
    axes.set_title(title, fontsize=8, loc="left")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return image


def save(figure, path):
    """A PNG of few colours is a third of one of all."""
    if path.suffix != ".png":
        figure.savefig(path, metadata={"Date": None})
        return
    from PIL import Image  # which matplotlib needs, too

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=120)
    Image.open(drawn).convert("RGB").quantize(96, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def plot(rows, path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("cliffs.py: no heat map: matplotlib is missing (Debian: apt install python3-matplotlib)", file=sys.stderr)
        sys.exit(NO_MATPLOTLIB)
    rows = [r for r in rows if r["pattern"] != "table"]
    patterns = [p for p, in distinct(rows, "pattern")]
    tables = tables_of(rows)
    modes = [m for m, in distinct(rows, "mode")]
    lines = (len(tables) + len(modes) - 1) // len(modes)
    colours = matplotlib.colormaps["cividis"].with_extremes(bad="#dddddd")
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "heddle", "figure.facecolor": "white"}):
        figure, grid = plt.subplots(lines, len(modes), figsize=(2.5 + 0.36 * len(patterns) * len(modes), 0.9 + 3 * lines), squeeze=False, layout="constrained")
        for axes in grid.flat:
            axes.set_visible(False)
        for axes, ((policy, mode), of) in zip(grid.flat, tables.items()):
            axes.set_visible(True)
            image = draw_table(axes, f"{policy}, {mode}", of, patterns, colours)
        figure.colorbar(image, ax=grid, shrink=0.4, aspect=40, label="share of the best of the row")
        figure.suptitle("1e6 items per second; bold: less than half of the best, or < a batch that passes the limit", fontsize=9)
        save(figure, path)
        plt.close(figure)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpu", default="nvidia-h200")
    p.add_argument("--results", action="append", default=[])
    p.add_argument("--reasons", default=str(HERE / "lab" / "cliffs.txt"))
    p.add_argument("--page", default=str(HERE / "RESULTS.md"))
    p.add_argument("--plot")
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    name, path = f"{o.gpu}.cliffs", pathlib.Path(o.page)
    picture = pathlib.Path(o.plot) if o.plot else HERE / "results" / f"{name}.png"
    try:
        rows = Kept([pathlib.Path(f) for f in o.results] + [HERE / "results"]).table(f"{name}.tsv")
    except Missing as missing:
        rows, text = [], f"Not measured yet: there is no {missing}.\n"
    if rows:
        text = page_text(rows, reasons_of(pathlib.Path(o.reasons)), f"results/{name}.png")
    was = path.read_text()
    page = replaced(was, "cliffs", text)
    if o.check:
        if page != was:
            print(f"{path.name} is not what the results say: run bench/cliffs.py")
        sys.exit(1 if page != was else 0)
    path.write_text(page)
    if rows:
        plot(rows, picture)


if __name__ == "__main__":
    told(main)
