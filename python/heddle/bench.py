# SPDX-License-Identifier: Apache-2.0
"""python -m heddle.bench - what a call costs from Python, by library of the arrays.

Columns: us, of one call from Python; c_us, of the same batch run by the library alone, with the arrays that the call
made; over_us, the difference. Each is the least of many short rounds. Rows without c_us are what a program would use
instead.
"""

import argparse
import itertools
import json
import sys
import time

import heddle

DIM = 16


def pace(call, seconds):
    """How many calls take so many seconds."""
    n, spent = 1, 0.0
    while spent < seconds / 4:
        n *= 2
        start = time.perf_counter()
        for _ in range(n):
            call()
        spent = time.perf_counter() - start
    return max(1, int(n * seconds / spent))


def one_round(call, n):
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def timed(call, alone=None, rounds=25):
    """Seconds of a call, and of the batch alone: the least of many short rounds, in turn, so that other work of the
    machine disturbs both alike."""
    n = pace(call, 0.005)
    with_python, by_library = [], []
    for _ in range(rounds):
        with_python.append(one_round(call, n))
        if alone:
            by_library.append(alone(n))
    return min(with_python), min(by_library) if alone else None


def alone_of(table, call):
    """A function of n: seconds of the batch of a call, run n times by the library alone."""

    def alone(n):
        table._repeat(n)
        call()
        return table._repeat(0) / n

    return alone


class Arrays:
    """Arrays of one library."""

    def __init__(self, name):
        self.name = name
        self.module = __import__(name.split(".")[0])

    def keys(self, n):
        return self.module.arange(n, dtype=self.module.int64)

    def rows(self, n):
        return self.module.zeros((n, DIM), dtype=self.module.float32)


class ByCapsule:
    """An array that is known by __dlpack__ alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def calls_of(table, arrays, n):
    """Pairs (what, call) for n keys."""
    keys, rows = arrays.keys(n), arrays.rows(n)
    table.insert(keys, rows)
    again = table.find(keys)
    yield "find", lambda: table.find(keys)
    yield "find, value read", lambda: table.find(keys).value
    yield "find, out=array", lambda: table.find(keys, out=rows)
    yield "find, out=result", lambda: table.find(keys, out=again)
    yield "contains", lambda: table.contains(keys)
    yield "insert", lambda: table.insert(keys, rows)
    capsules = ByCapsule(keys)
    if n == 1 and arrays.name != "numpy":
        yield "find, __dlpack__, out=array", lambda: table.find(capsules, out=rows)


def library_rows(names, sizes):
    for name in names:
        arrays = Arrays(name)
        for n in sizes:
            with heddle.Table(capacity=1 << 17, value=("float32", DIM), threads=1) as table:
                for what, call in calls_of(table, arrays, n):
                    us, alone = timed(call, alone_of(table, call))
                    yield {"library": name, "call": what, "keys": n, "us": us * 1e6, "c_us": alone * 1e6}


def other_rows(sizes):
    """What a program would use instead."""
    for n in sizes:
        keys, plain = list(range(n)), {key: (0.0,) * DIM for key in range(1 << 17)}
        yield {"library": "python", "call": "dict, a lookup per key", "keys": n,
               "us": timed(lambda: [plain[key] for key in keys])[0] * 1e6}  # fmt: skip
    try:
        import torch
    except ImportError:
        return
    dense = torch.nn.Embedding(1 << 17, DIM)
    bag = torch.nn.EmbeddingBag(1 << 17, DIM, mode="sum")
    with torch.no_grad():
        for n in sizes:
            ids = torch.arange(n)
            offsets = torch.zeros(1, dtype=torch.int64)
            yield {"library": "torch", "call": "nn.Embedding", "keys": n, "us": timed(lambda: dense(ids))[0] * 1e6}
            yield {"library": "torch", "call": "nn.EmbeddingBag", "keys": n, "us": timed(lambda: bag(ids, offsets))[0] * 1e6}


def main():
    parser = argparse.ArgumentParser(prog="python -m heddle.bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--keys", default="1,1024,65536", help="sizes of batches (1,1024,65536)")
    parser.add_argument("--json", action="store_true", help="a line of JSON per row, not a table")
    options = parser.parse_args()
    sizes = [int(n) for n in options.keys.split(",")]
    names = []
    for name in ("numpy", "torch", "array_api_strict"):
        try:
            __import__(name)
            names.append(name)
        except ImportError:
            print(f"{name}: missing", file=sys.stderr)
    if not options.json:
        print("library\tcall\tkeys\tus\tc_us\tover_us")
    for row in itertools.chain(library_rows(names, sizes), other_rows(sizes)):
        if options.json:
            print(json.dumps(row))
            continue
        alone = row.get("c_us")
        over = "" if alone is None else f"{row['us'] - alone:.2f}"
        print(f"{row['library']}\t{row['call']}\t{row['keys']}\t{row['us']:.2f}\t"
              f"{'' if alone is None else format(alone, '.2f')}\t{over}")  # fmt: skip


if __name__ == "__main__":
    main()
