# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import chart, have, line, verdicts

LRU, LFU = (0.186, 0.430, 0.839, 0.994), (0.314, 0.557, 0.883, 0.997)  # Table 8


def hit_rates(r):
    a = r.alphas
    at = lambda words: [have(lambda: r.cpu(words, alpha=x)) for x in a]
    counted = [have(lambda: r.cpu("hits policy=lfu scores=-", alpha=x, warm=w)) for x, w in zip(a, (3, 3, 12, 100))]
    curves = [
        line(a, LRU, "paper, lru", line=False),
        line(a, at("recent capacity=128Mi"), "LRU, computed, 128 Mi entries"),
        line(a, LFU, "paper, lfu", line=False),
        line(a, at("ideal capacity=128Mi"), "the bound, computed, 128 Mi entries"),
        line(a, at("hits scores=known"), "scores that know popularity, 1 Mi entries"),
        line(a, at("hits scores=lifetime"), "counts kept for ever, 1 Mi entries"),
        line(a, counted, "lfu: counts kept in the table, 1 Mi entries"),
    ]
    panel = chart.lines(curves, chart.axis("exponent of Zipf's law"), chart.axis("share of lookups that hit", "percent"))
    return chart.chart("Hit rates (Table 8)", [panel], "ten times as many keys as the table has room for")


def load_factors(r):
    shown = (("find_ptr", 1), ("find", 1), ("assign", 0.6), ("insert_or_assign", 0))
    paper = {"find": (3.37, 3.38, 3.40)}
    panels = []
    for operation, hits in shown:
        rates = {of: [have(lambda: r.rate(operation, hits, 32, l, column=of)) for l in r.loads] for of in ("rate", "peer")}
        curves = [line(r.loads, rates["rate"], "Heddle"), line(r.loads, rates["peer"], "HierarchicalKV, the same GPU")]
        if operation in paper:
            curves.append(line(r.loads, paper[operation], "paper, H100 NVL (Table 6)"))
        panels.append(chart.lines(curves, chart.axis("load factor"), chart.axis("10⁹ keys per second"), operation))
    below = f"{r.gpu_name}; 128-byte values, 128 Mi entries, batches of 1 Mi keys"
    return chart.chart("Throughput over load factors (Figures 6 and 7)", panels, below, columns=2)


def memory(r):
    rows = [("miss, tlpv1", "contains tlpv1 load=1 dual=0"), ("miss, tlpv1, two buckets", "contains tlpv1 load=1 dual=1"),
            ("miss, no digests", "contains nodigest load=1"), ("insert, room left, tlpv1", "insert_or_assign tlpv1 load=0.5"),
            ("eviction, tlpv1", "insert_or_assign tlpv1 load=1 policy=-"), ("eviction, coalesced", "insert_or_assign coalesced load=1")]
    found = [(name, have(lambda: r.cpu(words + " what=table_sectors"))) for name, words in rows]
    found = [(name, value) for name, value in found if value is not None]
    panel = chart.bars([name for name, _ in found], ["sectors"], [[value] for _, value in found], "32-byte sectors of the table per key")
    return chart.chart("What an operation asks of memory (Table 3)", [panel], "counted on the host machine; 128 slots, no values")


def draw(results, rows, folder):
    made = {"hit_rates": lambda: hit_rates(results), "load_factors": lambda: load_factors(results), "memory": lambda: memory(results),
            "verdicts": lambda: verdicts(rows)}
    drawing.draw(made, folder)
