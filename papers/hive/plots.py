# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import chart, verdicts

BUCKETS = 1 << 20
SHOWN = ("crc32", "crc64", "city32", "murmur3", "bithash1", "bithash2")  # those of Figure 3
LEAST, MOST = 0.2, 4  # of the axis


def panel(rows, kind):
    own = [r for r in rows if r["keys"] == kind and int(r["buckets"]) == BUCKETS and float(r["expected"]) >= 25]
    chance = sorted({int(r["n"]): (float(r["expected"]), float(r["deviation"])) for r in own}.items())
    band = [(n, 1, e / (e + 5 * d), min(e / max(e - 5 * d, 1e-9), 2 * MOST)) for n, (e, d) in chance]
    curves = [chart.series(name, [(int(r["n"]), min(float(r["csr"]), 10)) for r in own if r["hash"] == name]) for name in SHOWN]
    x = chart.axis("keys", "count", log=True)
    y = chart.axis("expected / seen", log=True, least=LEAST, most=MOST, ticks=[0.25, 0.5, 1, 2, 4])
    return chart.lines([chart.series("chance, five deviations", band), *curves], x, y, kind)


def collisions(results):
    rows = results.table("spread.tsv")
    panels = [panel(rows, kind) for kind in ("sequential", "odd", "strided", "random")]
    below = "1 Mi buckets by the lowest bits of the hash; above 1: fewer collisions than chance has; none at all is off the top"
    return chart.chart("Collisions (Figure 3)", panels, below, columns=2)


def draw(results, rows, folder):
    drawing.draw({"collisions": lambda: collisions(results), "verdicts": lambda: verdicts(rows)}, folder)
