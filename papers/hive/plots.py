# SPDX-License-Identifier: Apache-2.0
#
# plots.py - the results beside the paper's figures.
import drawing
from drawing import COLOURS, GREY, heading, plt, verdicts

BUCKETS = 1 << 20
SHOWN = ("crc32", "crc64", "city32", "murmur3", "bithash1", "bithash2")  # those of Figure 3


def panel(axes, rows, kind):
    own = [r for r in rows if r["keys"] == kind and int(r["buckets"]) == BUCKETS]
    chance = sorted({int(r["n"]): (float(r["expected"]), float(r["deviation"])) for r in own if float(r["expected"]) >= 25}.items())
    n = [k for k, _ in chance]
    axes.fill_between(n, [e / (e + 5 * d) for _, (e, d) in chance], [e / max(e - 5 * d, 1e-9) for _, (e, d) in chance], color="#E4E4E4", label="chance, five deviations")
    for i, name in enumerate(SHOWN):
        points = [(int(r["n"]), min(float(r["csr"]), 10)) for r in own if r["hash"] == name and float(r["expected"]) >= 25]
        axes.plot(*zip(*points), color=COLOURS[i], marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(0.2, 4)
    axes.set_yticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.set_title(kind, color=GREY, fontsize=10, loc="left")


def collisions(results):
    rows = results.table("spread.tsv")
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex=True, sharey=True)
    for at, kind in zip(axes.flat, ("sequential", "odd", "strided", "random")):
        panel(at, rows, kind)
    for at in axes[1]:
        at.set_xlabel("keys")
    for at in axes[:, 0]:
        at.set_ylabel("expected / seen")
    heading(figure, "Collisions (Figure 3)", "1 Mi buckets by the lowest bits of the hash; above 1: fewer collisions than chance has; none at all is off the top")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, ncol=7, loc="lower center", fontsize=8.5)
    figure.subplots_adjust(top=0.84, bottom=0.14, hspace=0.2, wspace=0.08)
    return figure


def draw(results, rows, folder):
    drawing.draw({"collisions": lambda: collisions(results), "verdicts": lambda: verdicts(rows)}, folder)
