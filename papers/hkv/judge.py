#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# judge.py - holds the results against claims.txt, as ../verdicts.py says; run.sh judge calls it.
#
#     judge.py [--gpu nvidia-h200] [--results FOLDER]... [--out FOLDER] [--check]
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[1:1] = [str(HERE.parent), str(HERE.parent.parent / "bench")]
from kept import Kept, Missing, told
from verdicts import judge

class Results(Kept):
    """What was measured, by the names that claims.txt uses."""

    alphas = (0.5, 0.75, 0.99, 1.25)
    dims = (8, 32, 64)
    loads = (0.5, 0.75, 1)
    paper = ("tlpv1", "tlpv2", "pipeline")

    def __init__(self, folders, gpu):
        super().__init__(folders)
        self.gpu_name = gpu

    def cpu(self, words, **more):
        """The one result whose words are among those of its line; NAME=- is a word that it has not."""
        wanted = words.split() + [f"{k}={v:g}" if isinstance(v, (int, float)) else f"{k}={v}" for k, v in more.items()]
        absent = [w[:-1] for w in wanted if w.endswith("=-")]
        wanted = {w if "=" in w or w in EXPERIMENTS else "kernel=" + w for w in wanted if not w.endswith("=-")}
        found = [
            float(value)
            for line, value in self.lines("cpu.tsv")
            if wanted <= set(line.split()) and not any(w.startswith(a) for w in line.split() for a in absent)
        ]
        if len(found) > 1:
            raise SystemExit(f"judge.py: {sorted(wanted)} are {len(found)} results")
        if not found:
            raise Missing("cpu.tsv: " + " ".join(sorted(wanted)))
        return found[0]

    def case(self, words):
        found = [float(value) for line, value in self.lines("cpu.tsv") if line.startswith(words)]
        if len(found) != 1:
            raise Missing(f"cpu.tsv: {words}")
        return found[0]

    def point(self, file, operation, column, **want):
        want = {k: f"{v:g}" if isinstance(v, (int, float)) else v for k, v in want.items() if v is not None}
        for row in self.table(file):
            if row.get("operation") == operation and all(row[k] == v for k, v in want.items()) and row.get(column):
                return float(row[column])
        raise Missing(f"{file}: {operation or ''} " + " ".join(f"{k}={v}" for k, v in want.items()))

    def rate(self, operation, hits, dim, load, buckets=1, column="rate"):
        return self.point(self.gpu_name + ".tsv", operation, column, hits=hits, dim=dim, load=load, buckets=buckets)

    def wall(self, operation, hits, dim, load):
        return self.rate(operation, hits, dim, load, column="wall")

    def drop(self, operation, hits, dim):
        return 1 - self.rate(operation, hits, dim, 1) / self.rate(operation, hits, dim, 0.5)

    def capacity(self, operation, hits, mi, load=0.5):
        return self.point(f"{self.gpu_name}.capacities.tsv", operation, "rate", hits=hits, load=load, buckets=1, capacity=str(mi << 20))

    def gpu(self, part, operation, hits, dim, load, variant=None):
        return self.point(f"{self.gpu_name}.{part}.tsv", operation, "rate", hits=hits, dim=dim, load=load, variant=variant)

    def planes(self, operation, variant, value_bytes, load):
        rate = self.point(f"{self.gpu_name}.planes.time.tsv", operation, "keys_per_s", variant=variant, mode="single",
                          value_bytes=value_bytes, load_factor=f"{load:.3f}")
        return rate / 1e9

    def peer(self, system, load):
        return self.point(f"{self.gpu_name}.peers.tsv", "find", "rate", system=system, load=load)

    def locks(self, mix, lock, calls="queued"):
        finders, updaters, inserters = (str(n) for n in mix)
        return self.point(self.gpu_name + ".locks.tsv", None, "items_per_s", lock=lock, calls=calls, finders=finders, updaters=updaters, inserters=inserters)

    def tiers(self, operation, dim, near, tiers, fetch):
        """A point on a full table with that share of the values near, placed by `tiers`, fetched by `fetch`; all of them: near 1, "", ""."""
        return self.point(self.gpu_name + ".tiers.tsv", operation, "rate", dim=dim, near=near, tiers=tiers, fetch=fetch)

    def names(self):
        return {n: getattr(self, n) for n in dir(self) if not n.startswith("_")} | {
            "spread": lambda v: (max(v) - min(v)) / max(v), "ratio": lambda v: max(v) / min(v), "max": max, "min": min, "sum": sum, "abs": abs}


# Words of a result's line that have no NAME=; any other is a kernel's name.
EXPERIMENTS = {"quality", "places", "hits", "ideal", "recent", "evictions", "retention", "burst", "admitted", "victims", "bytes", "contains", "find",
               "insert_or_assign"}


def rates_table(results):
    """What the table of goals has, single bucket: ours at load factor 0.5 / 1, the peer's in brackets."""
    rows = results.table(results.gpu_name + ".tsv")
    text = "| operation, share of hits | 32-byte values | 128 | 256 |\n|---|---|---|---|\n"
    seen = dict.fromkeys((r["operation"], r["hits"]) for r in rows if r["buckets"] == "1")
    for operation, hits in seen:
        cells = []
        for dim in ("8", "32", "64"):
            pair = [next((r for r in rows if (r["operation"], r["hits"], r["buckets"], r["dim"], r["load"]) == (operation, hits, "1", dim, l)), {})
                    for l in ("0.5", "1")]
            rate = " / ".join(f"{float(r['rate']):.1f}" if r.get("rate") else "-" for r in pair)
            peer = " / ".join(f"{float(r['peer']):.1f}" if r.get("peer") else "-" for r in pair)
            cells.append(rate + (f" ({peer})" if peer != "- / -" else ""))
        text += f"| {operation}, {100 * float(hits):.0f}% | " + " | ".join(cells) + " |\n"
    return text


if __name__ == "__main__":
    told(lambda: judge(HERE, Results, {"rates": rates_table}))
