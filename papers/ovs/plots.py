# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import chart, have, line, verdicts

NAMES = {"hinted": "HT-UVM with hints", "two": "HT-OVS", "by_hash": "one table, sorted by slot"}


def scaling(r):
    """Figures 4 and 5: what goes over the bus for each key, as a table outgrows the memory."""
    panels = []
    for kind in ("su", "mi"):
        curves = [line(r.sizes, [have(lambda: r.bus(design, kind=kind, keys=n)) for n in r.sizes], NAMES[design]) for design in NAMES]
        panels.append(chart.lines(curves, chart.axis("10⁶ keys"), chart.axis("bytes over the bus per insert"), kind.upper()))
    return chart.chart("Inserts beyond 16 GiB (Figures 4, 5 and 9)", panels, "a model of pages; sizes of the paper, at 1/256", columns=2)


def inputs(r):
    values = [[have(lambda: r.bus(design, kind=kind)) for design in NAMES] for kind in r.kinds]
    panel = chart.bars([kind.upper() for kind in r.kinds], list(NAMES.values()), values, "bytes over the bus per insert")
    return chart.chart("What inputs move (Figures 9 and 13)", [panel], "4e9 inserts, a model of pages at 1/256")


def moves(r):
    paper = {"su": 1.62, "du": 1.6, "mi": 1.21}
    values = [[paper[kind], have(lambda: r.moves(kind)), have(lambda: r.moves(kind, raise_="least"))] for kind in paper]
    panel = chart.bars([kind.upper() for kind in paper], ["paper", "one after the other", "the least key raised"], values, "lateral over down moves")
    return chart.chart("Moves of skip-list inserts (Table 1)", [panel], "2.5e9 inserts as they come, at 1/256")


def sorting(r):
    """Figures 9 and 10: items as they come, and sorted by the bucket, on the GPU."""
    near, ways = sorted(r.nears), {"probe16": "as they come", "flip": "sorted by the bucket"}
    panels = []
    for title, what, present in (("find, hits", "find", 1), ("insert new keys", "insert", 0)):
        curves = [line(near, [have(lambda: r.rate(kernel, what, n, present)) for n in near], name) for kernel, name in ways.items()]
        panels.append(chart.lines(curves, chart.axis("share of the table in device memory"), chart.axis("10⁹ items per second"), title))
    return chart.chart("A far table on an H200 (Figures 9 and 10)", panels, "2^30 slots, batches of 2^24 items", columns=2)


def draw(results, rows, folder):
    made = {"scaling": scaling, "inputs": inputs, "moves": moves, "sorting": sorting}
    drawing.draw({name: lambda make=make: make(results) for name, make in made.items()} | {"verdicts": lambda: verdicts(rows)}, folder)
