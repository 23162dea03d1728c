# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import chart, line, verdicts

GROWTHS = range(6)


def load(results):
    grown = [line(GROWTHS, results.loads(s), s) for s in ("1L-2H-16S", "2L-2H-8S", "4L-2H-4S", "4L-4H-2S")]
    sizes = sorted((int(r["capacity"]), float(r["load"])) for r in results.table("load.tsv") if (r["levels"], r["hashes"], r["grown"]) == ("2", "2", "0"))
    y = chart.axis("load factor", least=0.6, most=1)
    panels = [
        chart.lines([chart.series("paper", [(n, 0.92) for n in GROWTHS]), *grown], chart.axis("growths"), y, "a table that grows"),
        chart.lines([chart.series("paper", [(n, 0.92) for n, _ in sizes]), chart.series("2L-2H-8S", sizes)], chart.axis("slots", "count", log=True), y, "new tables"),
    ]
    return chart.chart("Load factor at the first insert without room (Figures 7 and 13)", panels, "random keys; left: 24 Ki slots at first", columns=2)


def keys(results):
    sizes = (8, 32, 128)
    panels = []
    for unit in ("lines", "sectors"):
        least = results.units("find", unit)
        found = [chart.series(where, [(k, results.units("find", unit, key=k, keys=where)) for k in sizes]) for where in results.keys()]
        paper = chart.series("paper", [(8, least), (128, least / (1 - 0.131))])
        panels.append(chart.lines([paper, *found], chart.axis("bytes of a key", log=True), chart.axis(unit, least=0), f"{unit} of a find"))
    below = "2L-2H-8S, load factor 0.8; paper: what costs 13.1% of a rate that such units limit"
    return chart.chart("What a find touches, by the size of the key (Figure 12a)", panels, below, columns=2)


def draw(results, rows, folder):
    drawing.draw({"load": lambda: load(results), "keys": lambda: keys(results), "verdicts": lambda: verdicts(rows)}, folder)
