#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# judge.py - holds the results against claims.txt, as ../verdicts.py says; run.sh judge calls it.
#
#     judge.py [--gpu nvidia-h200] [--results FOLDER]... [--out FOLDER] [--check]
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[1:1] = [str(HERE.parent), str(HERE.parent.parent / "bench")]
from kept import Kept, Missing, told
from verdicts import judge

COUNTED = ("sequential", "odd", "strided")
KINDS = COUNTED + ("random",)
LOADS = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95, 0.97)
SIZES = tuple(k << 20 for k in (1, 4, 16, 32))


class Results(Kept):
    """What was measured, by the names that claims.txt uses."""

    def __init__(self, folders, gpu):
        super().__init__(folders)
        self.gpu_name = gpu

    def _fills(self, hash, keys, buckets=None):
        """Rows of a function and kinds of keys in which chance has some collisions; fewer than 25 say nothing."""
        found = [r for r in self.table("spread.tsv")
                 if r["hash"] == hash and r["keys"] in keys and float(r["expected"]) >= 25 and buckets in (None, int(r["buckets"]))]
        if not found:
            raise Missing(f"spread.tsv: hash={hash} keys={'|'.join(keys)}")
        return found

    def collisions(self, hash, *keys, pick=max):
        """By how many standard deviations they are above what chance has, at worst."""
        return pick(float(r["above"]) for r in self._fills(hash, keys))

    def loads(self, hash, *keys, pick=max):
        """The same of the buckets' loads."""
        return pick(float(r["loads_above"]) for r in self._fills(hash, keys))

    def csr(self, hash, *keys, n=None):
        """The least ratio of expected to seen collisions; n: only with so many keys a bucket, or more."""
        return min(float(r["csr"]) for r in self._fills(hash, keys) if n is None or int(r["n"]) >= n * int(r["buckets"]))

    def farthest(self, hash, *keys, n):
        """How far the ratio is from 1 at most, with so many keys a bucket, or more."""
        return max(abs(float(r["csr"]) - 1) for r in self._fills(hash, keys) if int(r["n"]) >= n * int(r["buckets"]))

    def pair(self, one, other, *keys):
        """By how many deviations the loads of pairs of buckets are above chance, at worst."""
        found = [float(r["loads_above"]) for r in self.table("pairs.tsv") if {r["hash"], r["other"]} == {one, other} and r["keys"] in keys]
        if not found:
            raise Missing(f"pairs.tsv: hash={one} other={other}")
        return max(found)

    def _kernel(self, name, bits):
        for row in self.table("sm_90.hashes.tsv"):
            if row["kernel"] == f"hash_{name}_{bits}":
                return row
        raise Missing(f"sm_90.hashes.tsv: hash_{name}_{bits}")

    def instructions(self, name, bits=32):
        """What the function adds to a kernel that copies keys."""
        return int(self._kernel(name, bits)["instructions"]) - int(self._kernel("none", bits)["instructions"])

    def lookups(self, name, bits=32):
        """Loads of tables: from constant memory, besides the arguments'."""
        count = lambda row: sum(int(n) for n in re.findall(r"LDC\.\d+x(\d+)", row["uses"]))
        return count(self._kernel(name, bits)) - count(self._kernel("none", bits))

    def _row(self, name, **want):
        """The row with these cells; numbers are compared as numbers."""
        def same(cell, value):
            return cell == value if isinstance(value, str) else cell != "" and float(cell) == value
        for row in self.table(name):
            if all(same(row[k], v) for k, v in want.items()):
                return row
        raise Missing(f"{name}: " + " ".join(f"{k}={v}" for k, v in want.items()))

    def touched(self, layout, operation, load, column, there=None, value=4, small=0):
        """Per operation, of the larger table, or of the smaller one."""
        there = {"insert": 0}.get(operation, 1) if there is None else there
        rows = [r for r in self.table("touched.tsv") if (r["layout"], r["operation"]) == (layout, operation)
                and (float(r["load"]), int(r["there"]), int(r["value"])) == (load, there, value)]
        if not rows:
            raise Missing(f"touched.tsv: layout={layout} operation={operation} load={load}")
        return float((min if small else max)(rows, key=lambda r: int(r["capacity"]))[column])

    def step(self, layout, load, column, whole=0):
        """Of inserts at a load factor, or from empty up to it; of the paper's mapping none of whose slots are spare."""
        more = {"spare": 0} if layout == "masks" else {}
        return float(self._row("steps.tsv", layout=layout, load=load, whole=whole, **more)[column])

    def full(self, slots, spare, column):
        """Of a table that is filled until an insert is pending; two functions."""
        return float(self._row("full.tsv", slots=slots, spare=spare, hashes=2)[column])

    def lost(self):
        return max(abs(float(r["lost"])) for r in self.table("full.tsv"))

    def grown(self, column):
        return max(float(r[column]) for r in self.table("grow.tsv"))

    def bugs(self):
        return sum(int(r["bugs"]) for r in self.table("schedules.tsv"))

    def rate(self, part, **want):
        """Of a point of bench/bench.sh PART, 1e9 operations a second."""
        return float(self._row(f"{self.gpu_name}.{part}.tsv", **want)["rate"])

    def resized(self, part, what):
        return float(self._row(f"{self.gpu_name}.{part}.tsv", what=what)["items_per_s"]) * 1e-9

    def peer(self, peer, operation, load):
        return float(self._row(f"{self.gpu_name}.peers.tsv", peer=peer, operation=operation, load=load)["rate"])

    def hashes(self):
        return list(dict.fromkeys(r["hash"] for r in self.table("spread.tsv") if r["hash"] != "chance"))

    def names(self):
        return {n: getattr(self, n) for n in dir(self) if not n.startswith("_")} | {
            "counted": COUNTED, "kinds": KINDS, "factors": LOADS, "sizes": SIZES, "max": max, "min": min, "abs": abs}


def shown(cell):
    try:
        return cell()
    except Missing:
        return ""


def evenness(results):
    """Each function: collisions and loads by kind of keys, and its instructions."""
    text = "| function | " + " | ".join(KINDS) + " | instructions | table lookups |\n|---|" + "---|" * (len(KINDS) + 2) + "\n"
    for name in results.hashes():
        cells = [shown(lambda: f"{results.collisions(name, kind):+.1f}, {results.loads(name, kind):+.1f}") for kind in KINDS]
        cells += [shown(lambda: f"{count(name, 32)} / {count(name, 64)}") for count in (results.instructions, results.lookups)]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    return text


def pairs(results):
    """Each two functions; on the diagonal one with two seeds."""
    names = results.hashes()
    text = "| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names) + "\n"
    for i, one in enumerate(names):
        cells = [""] * i + [shown(lambda: f"{results.pair(one, other, *KINDS):+.1f}") for other in names[i:]]
        text += f"| {one} | " + " | ".join(cells) + " |\n"
    return text


def steps(results):
    """Figure 9, counted: by load factor, for each mapping."""
    names = ("first", "later", "displaced", "stashed")
    text = "| load factor | " + " | ".join(f"{who}: {n}" for who in ("paper", "usual") for n in names) + " | lock taken |\n|---|" + "---|" * (2 * len(names) + 1) + "\n"
    for load in LOADS:
        cells = [shown(lambda: f"{100 * results.step(layout, load, n):.1f}% ({100 * results.step(layout, load, n + '_lines'):.0f})") for layout in ("masks", "words") for n in names]
        text += f"| {load} | " + " | ".join(cells) + " | " + shown(lambda: f"{100 * results.step('masks', load, 'locked'):.1f}%") + " |\n"
    return text


if __name__ == "__main__":
    told(lambda: judge(HERE, Results, {"evenness": evenness, "pairs": pairs, "steps": steps}))
