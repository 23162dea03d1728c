#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# judge.py - holds the results against claims.txt, as ../verdicts.py says; run.sh judge calls it.
#
#     judge.py [--results FOLDER]... [--out FOLDER] [--check]
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[1:1] = [str(HERE.parent), str(HERE.parent.parent / "bench")]
from kept import Kept, Missing, told
from verdicts import judge

USUAL = "2L-2H-8S"
CAPACITY = 3072  # entries of the tables whose operations are counted

# Where full keys are: words of counts.c. A key of 8 bytes in its slot needs no fingerprint.
KEYS = {
    "in place": {},
    "behind pointers": {"heap": 1, "bits": 16},
    "in place, no fingerprints": {"bits": 0},
}


def named(row):
    return f"{row['levels']}L-{row['hashes']}H-{row['slots']}S"


class Results(Kept):
    """What was measured, by the names that claims.txt uses."""

    def __init__(self, folders, gpu):
        super().__init__(folders)

    def _rows(self, name, **want):
        """The rows with these cells; numbers are compared as numbers. There is one at least."""
        def same(cell, value):
            return cell == value if isinstance(value, str) else float(cell) == value
        rows = [r for r in self.table(name) if all(same(r[k], v) for k, v in want.items())]
        if not rows:
            raise Missing(f"{name}: " + " ".join(f"{k}={v}" for k, v in want.items()))
        return rows

    def shapes(self):
        return list(dict.fromkeys(named(r) for r in self.table("load.tsv")))

    def keys(self):
        return list(KEYS)

    def loads(self, shape=USUAL, asked=24576, **want):
        """Load factors at the first pending insert."""
        levels, hashes, slots = (int(n[:-1]) for n in shape.split("-"))
        want |= {"asked": asked} if asked else {}
        return [float(r["load"]) for r in self._rows("load.tsv", levels=levels, hashes=hashes, slots=slots, **want)]

    def lost(self):
        return sum(int(r["lost"]) for r in self.table("load.tsv"))

    def touched(self, operation, column, shape=USUAL, load=0.8, capacity=CAPACITY, layout="cells", key=8, keys="in place"):
        levels, hashes, slots = (int(n[:-1]) for n in shape.split("-"))
        how = {"heap": 0, "bits": 64} | KEYS[keys]
        if key == 8 and not how["heap"]:
            how["bits"] = 64
        return float(self._rows("touched.tsv", levels=levels, hashes=hashes, slots=slots, operation=operation,
                                load=load, capacity=capacity, layout=layout, key=key, **how)[0][column])

    def units(self, operation, unit="lines", **how):
        """Lines or sectors that an operation touches, of any part of the table."""
        columns = ("key_lines", "full_lines", "number_lines", "cell_lines") if unit == "lines" else (unit,)
        return sum(self.touched(operation, c, **how) for c in columns)

    def slower(self, unit, keys="in place"):
        """The share of the rate of finds that keys of 128 bytes instead of 8 cost, if the time is that of such units."""
        return 1 - self.units("find", unit, key=8, keys=keys) / self.units("find", unit, key=128, keys=keys)

    def find_lines(self, shape):
        """Lines with keys that a find reads, and the first load factor: by which shapes are chosen."""
        return self.touched("find", "key_lines", shape, load=0.5)

    def better(self, shape=USUAL, grown=0):
        """How many shapes read no more lines and have a higher load factor: new, or at worst of their growths."""
        load = lambda s: min(self.loads(s)[1:]) if grown else self.loads(s)[0]
        return sum(self.find_lines(s) <= self.find_lines(shape) and load(s) > load(shape) for s in self.shapes())

    def tables(self, column, large=True):
        """Tables in which growth has no room for an entry: of 32 slots for a key, or smaller ones."""
        return sum(int(r[column]) for r in self.table("places.tsv") if not large or int(r["levels"]) * int(r["hashes"]) * int(r["slots"]) == 32)

    def shared(self):
        return sum(int(r["shared"]) for r in self.table("fixed.tsv"))

    def bugs(self, way=None):
        return sum(int(r["bugs"]) for r in self.table("schedules.tsv") if way in (None, r["way"]))

    def device(self, measure, batch=0):
        """Of bench/lab/persist.cu on a GPU."""
        return float(self._rows("device.tsv", measure=measure, batch=batch)[0]["value"])

    def hit_ratio(self, policy, percent):
        row = self._rows("caches.tsv", policy=policy, percent=percent)[0]
        return float(row["hits"]) / float(row["requests"])

    def crash(self, without, column):
        return int(self._rows("crashes.tsv", without=without)[0][column])

    def names(self):
        return {n: getattr(self, n) for n in dir(self) if not n.startswith("_")} | {"max": max, "min": min, "sum": sum, "len": len}


def shapes(results):
    """Figure 13, counted: each shape."""
    text = "| shape | lines of a find | new table | growth 1 | 2 | 3 | 4 | 5 |\n|---|---|---|---|---|---|---|---|\n"
    for s in sorted(results.shapes(), key=lambda s: (results.find_lines(s), -results.loads(s, grown=0)[0])):
        text += f"| {s} | {results.find_lines(s):g} | " + " | ".join(f"{l:.3f}" for l in results.loads(s)) + " |\n"
    return text


def operations(results):
    """What an operation touches."""
    columns = ("key_lines", "number_lines", "cell_lines", "lines_written", "read", "written", "pages_written", "atomics", "fences")
    text = "| operation | key lines | number lines | value lines | lines written | bytes read | bytes written | in pages of 4 KiB | atomics | fences |\n" + "|---" * 10 + "|\n"
    for name in ("find", "miss", "assign", "insert", "erase"):
        value = {c: results.touched(name, c) for c in columns}
        value["pages_written"] *= 4096
        text += f"| {name} | " + " | ".join(f"{value[c]:.4g}" if value[c] < 1000 else f"{value[c]:,.0f}" for c in columns) + " |\n"
    return text


def keys(results):
    """What an operation touches, by the size of the key."""
    text = "| key | where | lines: find | miss | insert | sectors: find | miss | insert |\n" + "|---" * 8 + "|\n"
    for where in results.keys():
        for size in (8, 32, 128):
            counts = [results.units(op, unit, key=size, keys=where) for unit in ("lines", "sectors") for op in ("find", "miss", "insert")]
            text += f"| {size} bytes | {where} | " + " | ".join(f"{n:.4g}" for n in counts) + " |\n"
    return text


REPAIRS = {
    "nothing": "nothing",
    "look": "a second look at the other slots before a key is published",
    "levels": "recovery of all levels, not of the bottom level alone",
    "values": "recovery empties slots whose key has no value",
    "cells": "recovery finds the free cells",
}


def repairs(results):
    """Each repair, and whether a crash or a schedule shows that it is missing."""
    text = "| left out | schedules | crashes | images | found |\n|---|---|---|---|---|\n"
    for r in results.table("crashes.tsv"):
        counts = " | ".join(f"{int(r[c]):,}" for c in ("schedules", "crashes", "images"))
        text += f"| {REPAIRS.get(r['without'], r['without'])} | {counts} | {'yes' if r['wrong'] == '1' else 'no'} |\n"
    return text


if __name__ == "__main__":
    told(lambda: judge(HERE, Results, {"shapes": shapes, "operations": operations, "keys": keys, "repairs": repairs}))
