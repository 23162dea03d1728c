#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - what set associativity costs each policy: misses of tables of buckets, and of the exact cache of the policy.

    run.py HEDDLE [TRACE.oracleGeneral.zst ...] > results.tsv     replays (a quarter of an hour on two cores)
    run.py --summary results.tsv                                   the tables of README.md
    run.py --plot results.tsv [FOLDER]                             its pictures, in plots/ beside it

The exact cache is full:POLICY, or that of EXACT. The generated traces are the same on every machine. The column `points` is the
difference of the two miss ratios in percentage points: above 0 the table misses more.
"""
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "build-aux"))
import chart  # noqa: E402

POLICIES = ["lru", "fifo", "lfu", "clock", "sieve", "lrfu", "slru", "twoq", "s3fifo", "arc", "tinylfu",
            "wtinylfu"]
EXACT = {"slru": "slru2", "twoq": "2q"}  # the exact caches of other names
SLOTS = [16, 32, 64, 128, 256, 512, 1024]
SHARES = [2, 5, 10, 25, 50, 80]  # percent of the distinct keys
UNIT = 2048  # entries: all sizes are multiples, so that tables of every shape have the entries of the exact cache
GENERATED = ["zipf:1.0,200k", "zipf:0.8,50k", "zipf:0.6,20k", "ycsb:d,100k"]
REQUESTS = "400k"
MODES = ["single", "dual"]
HALVES = ["up to a quarter of the keys", "a third of the keys and more"]
COLUMNS = ["trace", "policy", "size", "entries", "slots", "mode", "exact", "table", "points"]


def rows_of(heddle, trace, policies, sizes, *options):
    command = [heddle, "sim", trace, ",".join(policies), ",".join(map(str, sizes)), "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def replay(heddle, trace, policies, sizes, *options):
    """The miss ratio of each policy and size; a table's capacity is the size."""
    found = {}
    for row in rows_of(heddle, trace, policies, sizes, *options)["rows"]:
        if row["capacity"] != row["size"]:
            raise SystemExit(f"run.py: {trace}: {row['capacity']} entries for {row['size']}")
        found[row["policy"].removeprefix("full:"), row["size"]] = row["miss_ratio"]
    return found


def study(heddle, name, trace):
    distinct = rows_of(heddle, trace, ["full:fifo"], ["100%"])["distinct"]
    entries = {share: max(1, round(distinct * share / 100 / UNIT)) * UNIT for share in SHARES}
    sizes = sorted(set(entries.values()))
    exact = replay(heddle, trace, ["full:" + EXACT.get(p, p) for p in POLICIES], sizes)
    for slots in SLOTS:
        for mode in MODES:
            shape = ["--slots", str(slots)] + (["--dual"] if mode == "dual" else [])
            table = replay(heddle, trace, POLICIES, sizes, *shape)
            for (policy, size), ratio in table.items():
                want = exact[EXACT.get(policy, policy), size]
                of_keys, points = f"{100 * size / distinct:.0f}%", f"{100 * (ratio - want):.3f}"
                row = [name, policy, of_keys, size, slots, mode, f"{want:.5f}", f"{ratio:.5f}", points]
                print("\t".join(map(str, row)), flush=True)


def measure(heddle, traces):
    print("\t".join(COLUMNS))
    with tempfile.TemporaryDirectory() as work:
        for i, spec in enumerate(GENERATED):
            path = os.path.join(work, f"{i}.oracleGeneral")
            subprocess.run([heddle, "gen", spec, "--requests", REQUESTS, "-o", path], check=True, capture_output=True)
            study(heddle, spec, path)
        for path in traces:
            study(heddle, os.path.basename(path).split(".")[0], path)


def grouped(path):
    """The points of each policy, mode, number of slots and half: whether the size is above 30% of the keys."""
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    groups = collections.defaultdict(list)
    for r in (dict(zip(COLUMNS, line)) for line in lines[1:]):
        above = int(r["size"].rstrip("%")) > 30
        groups[r["policy"], r["mode"], int(r["slots"]), above].append(float(r["points"]))
    return groups


def summary(path):
    groups = grouped(path)
    for above in (False, True):
        print(HALVES[above])
        for policy in POLICIES:
            for mode in MODES:
                cells = []
                for slots in SLOTS:
                    p = groups[policy, mode, slots, above]
                    cells.append(f"{statistics.median_high(p):+.2f} ({min(p):+.2f} to {max(p):+.2f})")
                print(f"| `{policy}`, {mode} | " + " | ".join(cells) + " |")


def panel(groups, policy, above):
    curves = []
    for mode in MODES:
        found = [(slots, groups[policy, mode, slots, above]) for slots in SLOTS]
        curves.append(chart.series(mode, [(s, statistics.median_high(p), min(p), max(p)) for s, p in found]))
    return chart.lines(curves, chart.axis("slots of a bucket", log=True, ticks=SLOTS), chart.axis("points"), policy)


def plot(path, folder):
    heddle = chart.command()
    if not heddle:
        sys.exit("run.py: there is no heddle in PATH, in build/ or in the environment's HEDDLE")
    groups = grouped(path)
    below = "percentage points of the miss ratio: the median of the traces and sizes, and the range"
    folder.mkdir(parents=True, exist_ok=True)
    for above, name in enumerate(("quarter", "third")):
        panels = [panel(groups, policy, above) for policy in POLICIES]
        made = chart.chart(f"Misses above the exact cache, {HALVES[above]}", panels, below, columns=2)
        (folder / f"{name}.svg").write_text(chart.svg(made, heddle), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--summary":
        summary(sys.argv[2])
    elif len(sys.argv) > 2 and sys.argv[1] == "--plot":
        beside = pathlib.Path(sys.argv[2]).parent / "plots"
        plot(sys.argv[2], pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else beside)
    elif len(sys.argv) > 1:
        measure(sys.argv[1], sys.argv[2:])
    else:
        sys.exit(__doc__)
