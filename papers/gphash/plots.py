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


def draw(results, rows, folder):
    drawing.draw({"load": lambda: load(results), "verdicts": lambda: verdicts(rows)}, folder)
