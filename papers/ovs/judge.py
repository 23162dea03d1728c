#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# judge.py - holds the results against claims.txt, as ../verdicts.py says; run.sh judge calls it.
#
#     judge.py [--results FOLDER]... [--out FOLDER] [--check]
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[1:1] = [str(HERE.parent), str(HERE.parent.parent / "bench")]
from kept import Kept, Missing, told
from verdicts import judge

KINDS = ("mi", "du", "dr", "su", "sr", "sur", "dul", "zz")
SIZES = (2000, 2500, 3000, 3500, 4000)
PAGE, SECTOR, FAULT = 1 << 16, 32, 45e-6  # bytes, bytes, seconds

# The paper's designs, and a control; words of pages.c.
DESIGNS = {"hinted": {"far": "remote"}, "moved": {}, "two": {"table": "two"}, "by_hash": {"sort": "hash", "batch": 1000}}
TABLES = {"table": "one", "kind": "su", "range": "sparse", "keys": 4000, "batch": 100, "op": "insert", "hold": 0, "sort": "none", "far": "move",
          "recent": "fault", "prefetch": 1, "group": 16, "load": 0.9, "inner": 0, "memory": 16384, "scale": 256}
LISTS = {"table": "one", "kind": "su", "range": "sparse", "keys": 2500, "batch": 250, "op": "insert", "hold": 0, "sort": "key", "index": "far",
         "raise": "code", "recent": "fault", "prefetch": 1, "inner": 0, "memory": 16384, "scale": 256}
NEARS, GROUPS = (0.8, 0.667, 0.571, 0.5), (4, 8, 16, 32)
BLOCK_KEYS, BLOCKS = (1, 30, 60, 120, 180, 240, 300, 360), tuple(4**n for n in range(3, 9))
TWO_TABLES, TWO_LISTS = {"sort": "range", "batch": 1000, "load": 1, "inner": 20}, {"inner": 21}


class Results(Kept):
    """What was counted, by the names that claims.txt uses."""

    kinds, sizes, nears = KINDS, SIZES, NEARS

    def __init__(self, folders, gpu):
        super().__init__(folders)
        self._gpu = gpu

    def _rows(self, name, want):
        """The rows with these cells; numbers are compared as numbers."""
        same = lambda cell, value: cell == value if isinstance(value, str) else float(cell) == value
        rows = [row for row in self.table(name) if all(same(row[k], v) for k, v in want.items())]
        if not rows:
            raise Missing(f"{name}: " + " ".join(f"{k}={v}" for k, v in want.items()))
        return rows

    def _row(self, name, want):
        """The first of them."""
        return self._rows(name, want)[0]

    def pages(self, column, **want):
        """A count of pages.c; what is not named is as run.sh has it for that table."""
        usual = TABLES | (TWO_TABLES if want.get("table") == "two" else {}) | ({"hold": 4000} if want.get("op", "insert") != "insert" else {})
        return float(self._row("pages.tsv", usual | want)[column])

    def chunks(self, column, raise_="code", **want):
        """The same of chunks.c."""
        usual = LISTS | (TWO_LISTS if want.get("table") == "two" else {}) | ({"hold": 2500} if want.get("op", "insert") != "insert" else {})
        return float(self._row("chunks.tsv", usual | {"raise": raise_} | want)[column])

    def far(self, design, **want):
        """Sectors over the bus per item."""
        return self.pages("remote", **(DESIGNS[design] | want)) / self.pages("items", **(DESIGNS[design] | want))

    def bus(self, design, **want):
        """Bytes over the bus per item, both ways."""
        count = lambda column: self.pages(column, **(DESIGNS[design] | want))
        return (PAGE * (count("fetched") + count("written")) + SECTOR * count("remote")) / count("items")

    def gain(self, kind, keys=4000):
        """What HT-UVM moves over what HT-OVS moves."""
        return self.bus("hinted", kind=kind, keys=keys) / self.bus("two", kind=kind, keys=keys)

    def straight(self, design, kind):
        """How much of the growth of far sectors with the keys a straight line explains."""
        points = [(n, self.pages("remote", **(DESIGNS[design] | {"kind": kind, "keys": n}))) for n in SIZES]
        mean = lambda values: sum(values) / len(values)
        x, y = mean([p[0] for p in points]), mean([p[1] for p in points])
        both = sum((a - x) * (b - y) for a, b in points)
        return both**2 / (sum((a - x) ** 2 for a, _ in points) * sum((b - y) ** 2 for _, b in points))

    def hours(self, design, **want):
        """Of the faults, one after the other; "list": of SL-UVM, batches as they come."""
        faults, scale = (self.chunks("faults", sort="none", **want), LISTS["scale"]) if design == "list" else (
            self.pages("faults", **(DESIGNS[design] | want)), TABLES["scale"])
        return faults * scale * FAULT / 3600

    def moves(self, kind, raise_="code", sort="none"):
        """Lateral over down moves of inserts."""
        count = lambda column: self.chunks(column, kind=kind, raise_=raise_, sort=sort)
        return count("lateral") / count("down")

    def moved(self, table, **want):
        """Pages over the bus, of lists."""
        return self.chunks("fetched", table=table, **want) + self.chunks("written", table=table, **want)

    def pool(self, kind):
        """Chunks that a list takes, per key of its range, when 4e9 keys are in; the first chunk of each level is not counted."""
        count = lambda column: self.chunks(column, table="two", kind=kind, keys=4000)
        return count("chunks") / count("done")

    def probes(self, column, step, group=16):
        return float(self._row("probes.tsv", {"step": step, "group": group})[column])

    def attempts(self, kind):
        """Lock attempts per lock, on the host machine."""
        return float(self._row("locks.tsv", {"kind": kind})["attempts"])

    # ---- On the GPU --------------------------------------------------------------------------

    def _of_a_gpu(self, file, want):
        """Rows of GPU.file.tsv with these cells, all correct."""
        name = f"{self._gpu}.{file}.tsv"
        rows = self._rows(name, want)
        if any(int(r["wrong"]) for r in rows):
            raise Missing(f"{name}: " + " ".join(f"{k}={v}" for k, v in want.items()) + " without wrong items")
        return rows

    def rates(self, part, **want):
        """Rows of rates.cu with these cells."""
        return self._of_a_gpu("rates", {"part": part} | want)

    def rate(self, kernel, what, near, present, part="near", **want):
        """1e9 items per second; where a row was measured twice, the mean."""
        ran = {"insert": "insert_or_assign"}.get(what.split(",")[0], what)
        found = self.rates(part, kernel=f"ovs.{ran}.{kernel}", what=what, near=near, present=present, **want)
        return sum(float(r["rate"]) for r in found) / len(found)

    def speedup(self, what, near, present):
        """Of items sorted by the bucket over items as they come, in one table."""
        return self.rate("flip", what, near, present) / self.rate("probe16", what, near, present)

    def kmers(self, kernel, step, near):
        """1e9 k-mers per second of a step of the applications: build, count, classify."""
        ran = {"build": "insert_or_assign", "count": "accum_or_assign", "classify": "find"}[step]
        row, = self.rates("kmers", kernel=f"ovs.{ran}.{kernel}", what=f"kmers, {step}", near=near)
        return float(row["rate"])

    def kmers_gain(self, step, near):
        """Of k-mers sorted by the bucket over k-mers as they come."""
        return self.kmers("flip", step, near) / self.kmers("probe16", step, near)

    def kmers_mean(self):
        """The geometric mean of these, of all steps and shares."""
        gains = [self.kmers_gain(step, near) for step in ("build", "count", "classify") for near in (0.8, 0.5)]
        return math.prod(gains) ** (1 / len(gains))

    def best_group(self, *nears):
        """Lanes with the greatest geometric mean of finds, inserts and erases."""
        product = lambda group: math.prod(
            self.rate(f"probe{group}", what, near, present)
            for near in nears for what, present in (("find", 1), ("insert", 0), ("erase", 1)))
        return max(GROUPS, key=product)

    def best_batch(self):
        return float(max(self.rates("batches", kernel="ovs.insert_or_assign.flip", what="insert"), key=lambda r: float(r["rate"]))["items"])

    def best_segment(self):
        """Slots of the segments with the fastest inserts."""
        return int(max(self.rates("segments", what="fill"), key=lambda r: float(r["rate"]))["segment"]) / 8

    def listed(self, column, op, kind, **want):
        """A cell of the table of rates.cu's part gfsl; what is not named is usual. Lists with other blocks have other numbers of items."""
        usual = {"level_pools": 0, "unsorted": 0, "far": "none", "keys_per_block": 0, "blocks": 0}
        return float(self._of_a_gpu("gfsl", {"op": op, "kind": kind} | usual | want)[0][column])

    def list_rate(self, op, kind, **want):
        """1e9 items per second of the paper's list."""
        return self.listed("rate", op, kind, **want)

    def list_apart(self, op):
        """The ordered table, half of it near, batches sorted, over the paper's list with level 0 far, batches as they come."""
        row, = self.rates("lists", near=0.5, segment=262144, what={"insert": "fill", "find": "find"}[op])
        return float(row["rate"]) / self.list_rate(op, "su", level_pools=1, far="data")

    def list_spread(self, kind):
        """The fastest inserts over the slowest, by the keys of a block."""
        rates = [self.list_rate("insert", kind, keys_per_block=k) for k in BLOCK_KEYS]
        return max(rates) / min(rates)

    def best_blocks(self, kind):
        """Thread blocks with the fastest inserts, of 180 keys a block."""
        return float(max(BLOCKS, key=lambda n: self.list_rate("insert", kind, keys_per_block=180, blocks=n)))

    def attempts_there(self, kind, keys_per_block=0):
        """Lock attempts per lock, on the GPU."""
        count = lambda column: self.listed(column, "locks", kind, keys_per_block=keys_per_block)
        return count("attempts") / count("locks")

    def spread_of_lists(self):
        """The slowest inserts over the fastest, by the size of a segment."""
        rates = [float(r["rate"]) for r in self.rates("lists", what="fill")]
        return max(rates) / min(rates)

    def names(self):
        return {n: getattr(self, n) for n in dir(self) if not n.startswith("_")} | {
            "max": max, "min": min, "abs": abs, "sum": sum}


def shown(reader):
    try:
        return reader()
    except Missing:
        return "-"


def inputs(results):
    """Bytes over the bus per insert, by input and design, at 25% and 100%."""
    text = "| input | HT-UVM, 2.5e9 | HT-OVS | one table, by slot | HT-UVM, 4e9 | HT-OVS | one table, by slot |\n|---|---|---|---|---|---|---|\n"
    for kind in KINDS:
        cells = [shown(lambda: f"{results.bus(design, kind=kind, keys=keys):.0f}") for keys in (2500, 4000) for design in ("hinted", "two", "by_hash")]
        text += f"| {kind.upper()} | " + " | ".join(cells) + " |\n"
    return text


def scales(results):
    """The same counts at four scales."""
    rows = (
        ("HT-UVM, SU: far sectors per insert", lambda s: f"{results.far('hinted', scale=s):.2f}"),
        ("HT-UVM without hints, SU: faults per insert", lambda s: f"{results.pages('faults', scale=s) / results.pages('items', scale=s):.3f}"),
        ("HT-OVS, SU: bytes over the bus per insert", lambda s: f"{results.bus('two', scale=s):.1f}"),
        ("one table by slot, SU: bytes", lambda s: f"{results.bus('by_hash', scale=s):.1f}"),
        ("HT-OVS, DU: bytes", lambda s: f"{results.bus('two', kind='du', scale=s):.1f}"),
        ("one table by slot, DU: bytes", lambda s: f"{results.bus('by_hash', kind='du', scale=s):.1f}"),
        ("SL-UVM, SU as it comes: lateral over down moves", lambda s: f"{results.chunks('lateral', sort='none', scale=s) / results.chunks('down', sort='none', scale=s):.2f}"),
        ("SL-UVM, SU as it comes: faults per insert", lambda s: f"{results.chunks('faults', sort='none', scale=s) / results.chunks('items', sort='none', scale=s):.2f}"),
    )
    text = "| count | 1/1024 | 1/512 | 1/256 | 1/128 |\n|---|---|---|---|---|\n"
    for name, reader in rows:
        text += f"| {name} | " + " | ".join(shown(lambda: reader(s)) for s in (1024, 512, 256, 128)) + " |\n"
    return text


def variants(results):
    """The same counts by other models of the driver."""
    models = ({}, {"recent": "use"}, {"prefetch": 0})
    rows = (
        ("HT-UVM without hints, SU: faults per insert", lambda m: f"{results.pages('faults', **m) / results.pages('items', **m):.3f}"),
        ("HT-OVS, SU: bytes over the bus per insert", lambda m: f"{results.bus('two', **m):.1f}"),
        ("HT-OVS, SU: faults per 1,000 inserts", lambda m: f"{1000 * results.pages('faults', table='two', **m) / results.pages('items', table='two', **m):.2f}"),
        ("HT-OVS, DU: bytes", lambda m: f"{results.bus('two', kind='du', **m):.1f}"),
        ("SL-UVM at 1/1024, SU as it comes: faults per insert", lambda m: f"{results.chunks('faults', sort='none', scale=1024, **m) / results.chunks('items', sort='none', scale=1024, **m):.2f}"),
        ("SL-UVM at 1/1024, SU sorted: faults per insert", lambda m: f"{results.chunks('faults', scale=1024, **m) / results.chunks('items', scale=1024, **m):.2f}"),
    )
    text = "| count | by the last fault | by the last access | without prefetch |\n|---|---|---|---|\n"
    for name, reader in rows:
        text += f"| {name} | " + " | ".join(shown(lambda: reader(m)) for m in models) + " |\n"
    return text


def sorting(results):
    """1e9 items per second on the GPU, by the share of the table that is near."""
    rows = (("find, hits", "find", 1), ("find, a third of misses", "find", 0.667), ("find, misses", "find", 0),
            ("insert new keys", "insert", 0), ("insert, a fifth of repeats", "insert", 0.2), ("erase", "erase", 1))
    text = "| operation | " + " | ".join(f"near {near:.2f}" for near in NEARS) + " |\n|---" + "|---" * len(NEARS) + "|\n"
    for name, what, present in rows:
        cells = [shown(lambda: " / ".join(f"{results.rate(kernel, what, near, present):.3f}" for kernel in ("probe16", "flip"))) for near in NEARS]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    return text


if __name__ == "__main__":
    told(lambda: judge(HERE, Results, {"sorting": sorting, "inputs": inputs, "scales": scales, "variants": variants}))
