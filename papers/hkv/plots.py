# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures. The same results: the same bytes (a fixed salt, no date).
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Okabe and Ito's colours, told apart by nearly everyone, as in tools/heddle-plot.py.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
INK, GREY, GRID = "#222222", "#666666", "#E4E4E4"
STYLE = {
    "font.size": 10, "font.family": "sans-serif", "text.color": INK, "axes.labelcolor": GREY, "axes.edgecolor": GREY,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID, "axes.axisbelow": True,
    "xtick.color": GREY, "ytick.color": GREY, "lines.linewidth": 1.8, "lines.markersize": 4,
    "svg.fonttype": "none", "svg.hashsalt": "heddle", "figure.facecolor": "white",
}
LRU, LFU = (0.186, 0.430, 0.839, 0.994), (0.314, 0.557, 0.883, 0.997)  # Table 8


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


def hit_rates(r):
    figure, axes = plt.subplots(figsize=(8, 4.6))
    a = r.alphas
    at = lambda words: [have(lambda: r.cpu(words, alpha=x)) for x in a]
    line(axes, a, LFU, 1, "paper, lfu", linestyle="none", markersize=9, fillstyle="none")
    line(axes, a, LRU, 0, "paper, lru", linestyle="none", markersize=9, fillstyle="none")
    line(axes, a, at("ideal capacity=128Mi"), 1, "the bound, computed, 128 Mi")
    line(axes, a, at("recent capacity=128Mi"), 0, "LRU, computed, 128 Mi")
    line(axes, a, at("hits scores=known"), 3, "scores that know popularity, 1 Mi", linestyle="--")
    line(axes, a, at("hits scores=lifetime"), 2, "counts kept for ever, 1 Mi", linestyle="--")
    lfu = [have(lambda: r.cpu("hits policy=lfu scores=-", alpha=x, warm=w)) for x, w in zip(a, (3, 3, 12, 100))]
    line(axes, a, lfu, 4, "lfu: counts kept in the table, 1 Mi", linestyle="--")
    axes.set_xlabel("exponent of Zipf's law")
    axes.set_ylabel("share of lookups that hit")
    axes.set_xticks(a)
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False, loc="lower right")
    heading(figure, "Hit rates (Table 8)", "ten times as many keys as the table has room for")
    return figure


def load_factors(r):
    figure, axes = plt.subplots(figsize=(8, 4.6))
    shown = (("find_ptr", 1), ("find", 1), ("assign", 0.6), ("insert_or_assign", 0))
    paper = {"find": (3.37, 3.38, 3.40)}
    for i, (operation, hits) in enumerate(shown):
        line(axes, r.loads, [have(lambda: r.rate(operation, hits, 32, l)) for l in r.loads], i, operation)
        peer = [have(lambda: r.rate(operation, hits, 32, l, column="hkv")) for l in r.loads]
        line(axes, r.loads, peer, i, f"{operation}, HKV on this GPU", linestyle="--")
    line(axes, r.loads, paper["find"], 6, "find, paper, H100 NVL (Table 6)", linestyle=":")
    axes.set_xlabel("load factor")
    axes.set_ylabel("1e9 keys/s")
    axes.set_xticks(r.loads)
    axes.set_ylim(0, 1.45 * axes.get_ylim()[1])
    axes.legend(frameon=False, ncol=2, fontsize=8.5, loc="upper right")
    heading(figure, "Throughput over load factors (Figures 6 and 7)", f"{r.gpu_name}; 128-byte values, 128 Mi entries, batches of 1 Mi keys")
    return figure


def memory(r):
    rows = [("miss, tlpv1", "contains tlpv1 load=1 dual=0"), ("miss, tlpv1, two buckets", "contains tlpv1 load=1 dual=1"),
            ("miss, no digests", "contains nodigest load=1"), ("insert, room left, tlpv1", "insert_or_assign tlpv1 load=0.5"),
            ("eviction, tlpv1", "insert_or_assign tlpv1 load=1 policy=-"), ("eviction, gather", "insert_or_assign gather load=1")]
    found = [(name, have(lambda: r.cpu(words + " what=table_sectors"))) for name, words in rows]
    found = [(name, value) for name, value in found if value is not None][::-1]
    figure, axes = plt.subplots(figsize=(8, 3.6))
    axes.barh([name for name, _ in found], [value for _, value in found], color=COLOURS[0], height=0.6)
    for i, (_, value) in enumerate(found):
        axes.annotate(f"{value:.1f}", (value, i), xytext=(4, 0), textcoords="offset points", va="center", color=INK)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("32-byte sectors of the table per key")
    heading(figure, "What an operation asks of memory (Table 3)", "counted on the host machine; 128 slots, no values")
    figure.subplots_adjust(left=0.24, bottom=0.16, top=0.83)
    return figure


def verdicts(rows, answers):
    sections = list(dict.fromkeys(row["section"] for row in rows))[::-1]
    figure, axes = plt.subplots(figsize=(8, 4.2))
    left = [0] * len(sections)
    for answer, colour in zip(answers, ["#009E73", "#56B4E9", "#D55E00", "#BBBBBB", "#E4E4E4"]):
        n = [sum(row["section"] == s and row["verdict"] == answer for row in rows) for s in sections]
        axes.barh(sections, n, left=left, color=colour, label=answer, height=0.7)
        left = [a + b for a, b in zip(left, n)]
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("claims")
    axes.legend(frameon=False, ncol=5, loc="lower left", bbox_to_anchor=(-0.55, 1.0), fontsize=9)
    heading(figure, "The paper's claims", "")
    figure.subplots_adjust(left=0.38, top=0.84)
    return figure


def draw(results, rows, folder):
    """Writes every plot as FOLDER/NAME.svg."""
    answers = ["holds", "holds in shape", "does not hold", "not measured yet", "not testable here"]
    folder.mkdir(parents=True, exist_ok=True)
    made = {"hit_rates": lambda: hit_rates(results), "load_factors": lambda: load_factors(results), "memory": lambda: memory(results),
            "verdicts": lambda: verdicts(rows, answers)}
    with plt.rc_context(STYLE):
        for name, make in made.items():
            figure = make()
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
