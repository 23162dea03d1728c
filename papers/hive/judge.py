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

    def hashes(self):
        return list(dict.fromkeys(r["hash"] for r in self.table("spread.tsv") if r["hash"] != "chance"))

    def names(self):
        return {n: getattr(self, n) for n in dir(self) if not n.startswith("_")} | {
            "counted": COUNTED, "kinds": KINDS, "max": max, "min": min, "abs": abs}


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


if __name__ == "__main__":
    told(lambda: judge(HERE, Results, {"evenness": evenness, "pairs": pairs}))
