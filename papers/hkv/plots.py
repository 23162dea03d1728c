# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import COLOURS, INK, have, heading, line, plt, verdicts

LRU, LFU = (0.186, 0.430, 0.839, 0.994), (0.314, 0.557, 0.883, 0.997)  # Table 8


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
        peer = [have(lambda: r.rate(operation, hits, 32, l, column="peer")) for l in r.loads]
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
            ("eviction, tlpv1", "insert_or_assign tlpv1 load=1 policy=-"), ("eviction, coalesced", "insert_or_assign coalesced load=1")]
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


def draw(results, rows, folder):
    made = {"hit_rates": lambda: hit_rates(results), "load_factors": lambda: load_factors(results), "memory": lambda: memory(results),
            "verdicts": lambda: verdicts(rows)}
    drawing.draw(made, folder)
