#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# counters.py - makes one row per point from the files of `bench.sh run FOLDER OUT counters`: the points in order
# (counters.tsv, by `heddle bench mode=watch`) and the kernels that ncu saw (counters.ncu.csv, its raw page). Several
# such pairs may be given.
#
#     counters.py [--head TEXT] POINTS.tsv NCU.csv [POINTS.tsv NCU.csv ...] >GPU.counters.tsv
#
# An empty kernel precedes the kernels of a point; its number of blocks is the number of the point. If a call has
# several kernels, counts are sums, and shares are means weighted by time.
import argparse
import csv
import sys

DURATION = "gpu__time_duration.sum"
SHARES = {  # percent of what the unit can do
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"
WARP_CYCLES, WARP_WAITS = "smsp__average_warp_latency_per_inst_issued.ratio", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
SUMS = {"instructions": ["smsp__inst_executed.sum"], "l2_sectors": ["lts__t_sectors.sum"], "dram_sectors": ["dram__sectors_read.sum", "dram__sectors_write.sum"]}
KEY = ["operation", "hits", "buckets", "dim", "load", "keys", "batch", "capacity", "layout", "variant"]
COLUMNS = KEY + ["kernels", "ns", "l2", "dram", "l1", "issue", "places", "occupancy", "lanes", "waits", "instructions", "l2_sectors", "dram_sectors", "bound"]

# The units that can be at their ceiling. The ceiling of l2 is the rate of random sector reads in the same run, that of
# dram the rate of a stream; random accesses do not reach the peak. places: the share of the floor, which is the time of
# the point's random accesses one after the other at the measured limits.
UNITS = ["l2", "dram", "l1", "issue", "places"]
CEILINGS = {"l2": "read_32", "dram": "read"}
NEAR = 0.9
LIMITS = 4096  # number of the first limit


def number(text):
    return float(text.replace(",", ""))


def kernels_of(lines):
    """Number of the point -> its kernels, each a dict of what was counted. What the profiler says besides is no row."""
    points, at = {}, None
    text = [line for line in lines if line.startswith('"')]
    if not text:
        raise SystemExit("counters.py: the profiler wrote no rows")
    reader = csv.DictReader(text)
    for row in reader:
        if not row["ID"].strip():
            continue  # units
        if "point_kernel" in row["Kernel Name"]:
            at = int(number(row["Grid Size"].strip("() ").split(",")[0]))
            points[at] = []  # a point that was tried again
        elif at is None:
            raise SystemExit(f"counters.py: {row['Kernel Name']} belongs to no point")
        else:
            points[at].append(row)
    return points


def counted(kernels, items):
    """One point's columns. Nothing was counted: None."""
    if not kernels:
        return None
    ns = [number(k[DURATION]) for k in kernels]

    def mean(name):
        return sum(number(k[name]) * t for k, t in zip(kernels, ns)) / sum(ns)

    row = {"kernels": len(kernels), "ns": sum(ns) / items}
    row |= {name: mean(metric) / 100 for name, metric in SHARES.items()}
    row |= {name: sum(number(k[m]) for k in kernels for m in metrics) / items for name, metrics in SUMS.items()}
    row["lanes"] = mean(LANES)
    row["waits"] = mean(WARP_WAITS) / mean(WARP_CYCLES) if mean(WARP_CYCLES) else 0
    return row


def bound_of(row, ceilings):
    nearest = max(UNITS, key=lambda name: row[name] / ceilings.get(name, 1))
    return nearest if row[nearest] / ceilings.get(nearest, 1) >= NEAR else "latency"


def ceilings_of(limits):
    return {unit: limits[name][unit] for unit, name in CEILINGS.items() if name in limits}


def shown(value):
    return value if isinstance(value, str) else f"{value:d}" if isinstance(value, int) else f"{value:.4g}" if value >= 1 else f"{value:.3f}"


def head_of(lines, limits):
    print("\n".join(line for line in lines if line.startswith("# ") and not line.startswith("# limit")))
    for name, row in limits.items():
        print(f"# limit {name}: l2 {row['l2']:.3f}, dram {row['dram']:.3f}, issue {row['issue']:.3f}")


def rows_of(lines, points, limits):
    """A line for each point that was counted."""
    head, *rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    ceilings = ceilings_of(limits)
    for i, cells in enumerate(rows, 1):
        point = dict(zip(head, cells))
        row = counted(points.get(i), int(point["batch"]))
        if row is None:
            print(f"counters.py: {point['operation']} hits={point['hits']} dim={point['dim']} load={point['load']} has no kernels", file=sys.stderr)
            continue
        row["places"] = 1 / (row["ns"] * float(point["floor"]))
        row["bound"] = bound_of(row, ceilings)
        yield "\t".join(shown(row[c]) if c in row else point[c] for c in COLUMNS)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--head", default="")
    p.add_argument("files", nargs="+", metavar="POINTS.tsv NCU.csv")
    o = p.parse_args()
    if len(o.files) % 2:
        p.error("every list of points needs what the profiler saw")
    if o.head:
        print(f"# {o.head}")
    rows = []
    for points_file, ncu in zip(o.files[::2], o.files[1::2]):
        lines = open(points_file).read().splitlines()
        points = kernels_of(open(ncu).read().splitlines())
        names = [line.split()[2] for line in lines if line.startswith("# limit ")]
        limits = {name: counted(points[LIMITS + i], 1) for i, name in enumerate(names) if points.get(LIMITS + i)}
        head_of(lines, limits)
        rows += rows_of(lines, points, limits)
    print("# one call of each point; ns, instructions of a warp and sectors of 32 bytes are per item; l2 to occupancy are shares of the peak, lanes are active per")
    print("# instruction, waits is the share of a warp's time in which it waits for memory; places: the share of the floor,")
    print("# which is all random accesses of an item one after the other, as the limits have them; bound: what of l2, dram, l1, issue and places is nearest to its")
    print(f"# ceiling, or latency where none is at {NEAR} of it; the ceiling of l2 is that of the limit read_32, of dram that of read, of the others 1")
    print("\t".join(COLUMNS))
    print("\n".join(rows))


if __name__ == "__main__":
    main()
