#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# heddle-plot - draws a report of `heddle sweep` (JSON on standard input), or of `heddle sim --every`, as an SVG or PNG
# file.
#
#     heddle sweep zipf:0.99,10000 --json | heddle-plot curves.svg
#     heddle-plot --try         exit code 3 when matplotlib is missing
#
# Exit code 4: the file could not be written, and standard error says why.
import json
import sys

NO_MATPLOTLIB, TOLD = 3, 4  # exit codes, as in plot.c

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter, NullFormatter, PercentFormatter
except ImportError:
    try:
        open("/dev/null", "rb").close()
    except OSError as e:  # modules are files: none is found when no file can be opened
        sys.stderr.write(f"heddle-plot: {e.strerror}\n")
        sys.exit(TOLD)
    sys.exit(NO_MATPLOTLIB)

# Okabe and Ito's colours: told apart by nearly everyone, and in print. Yellow is too light for a line.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
INK, GREY, GRID = "#222222", "#666666", "#E4E4E4"

STYLE = {
    "font.size": 10, "font.family": "sans-serif", "text.color": INK, "axes.labelcolor": GREY,
    "axes.edgecolor": GREY, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True,
    "xtick.color": GREY, "ytick.color": GREY, "lines.linewidth": 1.8, "lines.markersize": 4,
    "svg.fonttype": "none", "svg.hashsalt": "heddle",  # the same report: the same bytes
}


def series(rows, x, y, name=lambda row: row["policy"]):
    """{policy: ([x], [y])} in the report's order; rows without a value are left out."""
    curves = {}
    for row in rows:
        if row[y] is None:
            continue
        xs, ys = curves.setdefault(name(row), ([], []))
        xs.append(row[x])
        ys.append(row[y])
    return curves


def spread(heights, gap):
    """The heights moved apart, as little as keeps each `gap` above the one below."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = list(heights)
    for low, high in zip(order, order[1:]):
        placed[high] = max(placed[high], placed[low] + gap)
    return placed


def name_curves(axes, curves):
    """Writes each curve's name to the right of its end, in its colour."""
    bottom, top = axes.get_ylim()
    ends = [ys[-1] for _, ys in curves.values()]
    for i, (policy, height) in enumerate(zip(curves, spread(ends, (top - bottom) * 0.055))):
        xs, ys = curves[policy]
        axes.annotate(policy, (xs[-1], ys[-1]), xytext=(8, (height - ys[-1]) / (top - bottom) * axes.bbox.height * 72 / axes.figure.dpi),
                      textcoords="offset points", va="center", color=COLOURS[i % len(COLOURS)], annotation_clip=False)


def draw(axes, curves, **line):
    for i, (xs, ys) in enumerate(curves.values()):
        axes.plot(xs, ys, marker="o", color=COLOURS[i % len(COLOURS)], clip_on=False, **line)


def title(figure, head, below):
    figure.suptitle(head, x=0.09, y=0.975, ha="left", fontsize=13, fontweight="bold")
    figure.text(0.09, 0.905, below, ha="left", va="bottom", color=GREY)


def shape(report):
    return ("two buckets per key" if report["dual"] else "one bucket per key") + f", admission: {report['admit']}"


def engineering(axis):
    axis.set_major_formatter(EngFormatter(sep=""))
    axis.set_minor_formatter(NullFormatter())


def draw_spread(axes, rows):
    """With several seeds: from the least miss ratio to the most."""
    least, most = (series(rows, "capacity", key) for key in ("miss_ratio_least", "miss_ratio_most"))
    for i, policy in enumerate(least):
        axes.fill_between(*least[policy], most[policy][1], color=COLOURS[i % len(COLOURS)], alpha=0.2, linewidth=0)


def draw_sizes(report):
    figure, axes = plt.subplots(figsize=(8, 5))
    figure.subplots_adjust(left=0.09, right=0.88, top=0.87, bottom=0.12)
    curves = series(report["rows"], "capacity", "miss_ratio_mean" if "seeds" in report else "miss_ratio")
    draw(axes, curves)
    if "seeds" in report:
        draw_spread(axes, report["rows"])
    axes.set_xscale("log")
    axes.set_xlim(right=max(max(xs) for xs, _ in curves.values()))
    engineering(axes.xaxis)
    axes.set_ylim(0, max(1e-9, max(max(ys) for _, ys in curves.values())) * 1.05)
    axes.set_xlabel("capacity, entries")
    axes.set_ylabel("miss ratio")
    name_curves(axes, curves)
    requests = max(row["requests"] for row in report["rows"])
    keys = f", {report['distinct']:,} different keys" if "distinct" in report else ""
    title(figure, report["trace"], f"{requests:,} requests{keys}; {shape(report)}")
    return figure


def draw_windows(report):
    figure, axes = plt.subplots(figsize=(8, 5))
    figure.subplots_adjust(left=0.09, right=0.82, top=0.87, bottom=0.12)
    rows = report["rows"]
    one_size = len({row["asked"] for row in rows}) == 1
    curves = series(rows, "first", "miss_ratio", lambda row: row["policy"] if one_size else f"{row['policy']} {row['asked']}")
    end = max(row["first"] + row["requests"] for row in rows)
    for i, (xs, ys) in enumerate(curves.values()):
        axes.plot(xs + [end], ys + ys[-1:], color=COLOURS[i % len(COLOURS)], drawstyle="steps-post", linewidth=1.2)
    engineering(axes.xaxis)
    axes.set_ylim(0, max(1e-9, max(max(ys) for _, ys in curves.values())) * 1.05)
    axes.set_xlabel("requests")
    axes.set_ylabel("miss ratio")
    name_curves(axes, curves)
    sizes = f"{rows[0]['capacity']:,} entries, " if one_size else ""
    title(figure, report["trace"], f"{sizes}windows of {report['every']:,} requests")
    return figure


def draw_fill(report):
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 7), sharex=True)
    figure.subplots_adjust(left=0.09, right=0.87, top=0.87, bottom=0.09, hspace=0.14)
    rows = report["rows"]
    finds, inserts = series(rows, "load_factor", "finds_per_s"), series(rows, "load_factor", "inserts_per_s")
    draw(above, finds)
    draw(above, inserts, linestyle="--", alpha=0.6)
    above.set_ylim(0, None)
    above.yaxis.set_major_formatter(EngFormatter(sep=""))
    above.set_ylabel("per second: find (solid), insert (dashed)")
    name_curves(above, finds)
    kept = series(rows, "load_factor", "kept")
    draw(below, kept)
    below.set_ylim(0, 1.05)
    below.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    below.set_ylabel("offered keys that are kept")
    below.set_xlabel("keys offered, as a multiple of the capacity")
    name_curves(below, kept)
    title(figure, "Filling a table", f"{report['capacity']:,} entries, {report['slots']} per bucket; {shape(report)}")
    return figure


DRAWN = {"heddle.sweep/1": draw_sizes, "heddle.windows/1": draw_windows, "heddle.fill/1": draw_fill}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: heddle-plot FILE.svg|FILE.png")
    if sys.argv[1] == "--try":
        return
    report = json.load(sys.stdin)
    if report.get("schema") not in DRAWN:
        sys.exit(f"heddle-plot: cannot draw {report.get('schema')}; it draws {', '.join(DRAWN)}")
    if not report["rows"]:
        sys.exit("heddle-plot: there are no rows to draw")
    path = sys.argv[1]
    with plt.rc_context(STYLE):
        figure = DRAWN[report["schema"]](report)
        try:
            figure.savefig(path, dpi=160, metadata={"Date": None} if path.lower().endswith(".svg") else {})
        except OSError as e:
            print(f"heddle-plot: {path}: {e.strerror}", file=sys.stderr)
            sys.exit(TOLD)


if __name__ == "__main__":
    main()
