# SPDX-License-Identifier: Apache-2.0
"""Exact caches of heddle sim beside libCacheSim: misses, and requests per second of processor time, reading included.

python bench/lab/caches.py HEDDLE TRACE SIZES [bytes]   # a Python that has libcachesim; TRACE: oracleGeneral, plain
python bench/lab/caches.py --tables HEDDLE TRACE SIZES  # tables of buckets beside full:lru: the best of five passes

Each run is a process of its own, pinned to one core. libCacheSim's time is that of its process_trace; that of heddle is
the whole process.
"""

import json
import os
import resource
import subprocess
import sys
import time

ROWS = {
    "lru": "LRU", "lfu": "LFU", "fifo": "FIFO", "clock": "Clock", "random": "Random", "sieve": "Sieve",
    "s3fifo": "S3FIFO", "slru": "SLRU", "2q": "TwoQ", "arc": "ARC", "lfuda": "LFUDA", "gdsf": "GDSF",
    "wtinylfu": "WTinyLFU", "lirs": "LIRS", "lruk": "LRUK", "lrfu": None, "hyperbolic": "Hyperbolic",
    "clockpro": "ClockPro",
}  # fmt: skip
TABLES = ["lru", "lfu", "fifo", "clock", "sieve", "lru2", "lrfu"]
LONGEST = 25  # seconds


def theirs(name, size, trace, sized):
    import libcachesim

    cache = getattr(libcachesim, name)(cache_size=size)
    param = libcachesim.ReaderInitParam(ignore_obj_size=not sized)
    reader = libcachesim.TraceReader(trace, libcachesim.TraceType.ORACLE_GENERAL_TRACE, param)
    begin = time.process_time()
    ratio, _ = cache.process_trace(reader)
    print(ratio, time.process_time() - begin)


def ours(heddle, trace, row, size, *options):
    """The row of the report, and millions of requests per second of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [heddle, "sim", trace, "oracleGeneral", row, size, "--json", *options]
    run = subprocess.run(line, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        raise ValueError(f"{row} {size} {run.stderr.strip()}")
    r = json.loads(run.stdout)["rows"][0]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return r, r["requests"] / seconds / 1e6


def beside(heddle, trace, sizes, sized):
    for row, name in ROWS.items():
        for size in sizes.split(","):
            try:
                r, rate = ours(heddle, trace, "full:" + row, size + "B" * sized)
            except ValueError as refused:
                print(refused)
                continue
            text = f"{row:10} {r['capacity']:>10} {r['misses']:>9} {rate:6.1f} M/s"
            if name:
                line = [sys.executable, __file__, "--theirs", name, str(r["capacity"]), trace, str(int(sized))]
                try:
                    run = subprocess.run(line, capture_output=True, text=True, timeout=LONGEST, check=True)
                    ratio, seconds = map(float, run.stdout.split()[-2:])
                    misses = round(ratio * r["requests"])
                    text += f"   {misses:>9} {r['requests'] / seconds / 1e6:6.1f} M/s  {r['misses'] / misses - 1:+.3%}"
                except subprocess.TimeoutExpired:
                    text += f"   no end in {LONGEST} s"
            print(text, flush=True)


def tables(heddle, trace, sizes):
    runs = [("full:lru",)] + [(row, *mode) for row in TABLES for mode in ((), ("--dual",))]
    for row, *options in runs:
        for size in sizes.split(","):
            passes = [ours(heddle, trace, row, size, "--threads", "1", *options) for _ in range(5)]
            best = max(rate for _, rate in passes)
            print(f"{' '.join((row, *options)):12} {size:>8} {passes[0][0]['misses']:>9} {best:6.1f} M/s", flush=True)


if sys.argv[1] == "--theirs":
    theirs(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5] == "1")
else:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if sys.argv[1] == "--tables":
        tables(*sys.argv[2:])
    else:
        beside(sys.argv[1], sys.argv[2], sys.argv[3], len(sys.argv) > 4)
