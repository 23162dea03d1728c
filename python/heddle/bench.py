# SPDX-License-Identifier: Apache-2.0
"""python -m heddle.bench - what a call costs from Python, by library of the arrays.

Columns: us, of one call from Python; c_us, of the same batch run by the library alone, with the arrays that the call
made; over_us, the difference. Each is the least of many short rounds. Rows without c_us are what a program would use
instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time

import heddle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Calls = Iterator[tuple[str, Callable[[], Any]]]
    Rows = Iterator[dict[str, Any]]

DIM = 16


def pace(call: Callable[[], Any], seconds: float) -> int:
    """How many calls take so many seconds."""
    n, spent = 1, 0.0
    while spent < seconds / 4:
        n *= 2
        start = time.perf_counter()
        for _ in range(n):
            call()
        spent = time.perf_counter() - start
    return max(1, int(n * seconds / spent))


def one_round(call: Callable[[], Any], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def timed(call: Callable[[], Any], alone: Callable[[int], float] | None = None, rounds: int = 25,
          drain: Callable[[], Any] | None = None) -> tuple[float, Any]:  # fmt: skip
    """Seconds of a call, and of the batch alone: the least of many short rounds, in turn, so that other work of the
    machine disturbs both alike. On a device a round is short enough to be queued, and `drain` waits for it."""
    n = 50 if drain else pace(call, 0.005)
    with_python, by_library = [], []
    for _ in range(rounds * 4 if drain else rounds):
        with_python.append(one_round(call, n))
        if drain:
            drain()
        if alone:
            by_library.append(alone(n))
        if drain:
            drain()
    return min(with_python), min(by_library) if alone else None


def alone_of(table: heddle.Table, call: Callable[[], Any]) -> Callable[[int], float]:
    """A function of n: seconds of the batch of a call, run n times by the library alone."""

    def alone(n: int) -> float:
        table._repeat(n)
        call()
        return table._repeat(0) / n

    return alone


class Arrays:
    """Arrays of one library."""

    def __init__(self, name: str, device: str) -> None:
        self.name = name
        self.module = __import__(name)
        self.options = {"device": device} if name == "torch" else {}
        if name == "jax":
            self.module.config.update("jax_enable_x64", True)
            self.module = __import__("jax.numpy", fromlist=["numpy"])

    def keys(self, n: int) -> Any:
        return self.module.arange(n, dtype=self.module.int64, **self.options)

    def rows(self, n: int) -> Any:
        return self.module.zeros((n, DIM), dtype=self.module.float32, **self.options)

    def bools(self, n: int) -> Any:
        kind = getattr(self.module, "bool", None) or self.module.bool_
        return self.module.zeros((n,), dtype=kind, **self.options)

    def drain(self) -> None:
        """Waits for the device."""
        if self.name == "torch":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.Device().synchronize()
        else:
            self.module.zeros(1).block_until_ready()


class ByCapsule:
    """An array that is known by __dlpack__ alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def calls_of(table: heddle.Table, arrays: Arrays, n: int) -> Calls:
    """Pairs (what, call) for n keys."""
    keys, rows = arrays.keys(n), arrays.rows(n)
    table.insert(keys, rows)
    again = table.find(keys)
    yield "find", lambda: table.find(keys)
    yield "find, value read", lambda: table.find(keys).value
    if arrays.name != "jax":  # its arrays cannot be written
        own = {"value": rows, "found": arrays.bools(n)}
        yield "find, out=array", lambda: table.find(keys, out=rows)
        yield "find, out=dict", lambda: table.find(keys, out=own)
    yield "find, out=result", lambda: table.find(keys, out=again)
    yield "contains", lambda: table.contains(keys)
    yield "insert", lambda: table.insert(keys, rows)
    if arrays.name == "torch":
        yield from operators_of(table, keys, rows)
    if arrays.name == "torch" and n == 1:
        capsules = ByCapsule(keys)
        yield "find, __dlpack__, out=array", lambda: table.find(capsules, out=rows)


def operators_of(table: heddle.Table, keys: Any, rows: Any) -> Calls:
    """The same by torch.ops.heddle."""
    from heddle.torch import Handle

    h = Handle(table)
    yield "torch.ops find", lambda: h.find(keys)
    yield "torch.ops find_out", lambda: h.find_out(keys, rows)
    yield "torch.ops contains", lambda: h.contains(keys)
    yield "torch.ops insert_or_assign", lambda: h.insert_or_assign(keys, rows)


def producing(arrays: Arrays, n: int) -> Callable[[], Any]:
    """What a call has its library do for an array that is known by __dlpack__ alone."""
    capsules = ByCapsule(arrays.keys(n))
    return lambda: capsules.__dlpack__(stream=None, max_version=(1, 0))


def library_rows(names: Iterable[str], sizes: list[int], device: str) -> Rows:
    on_device = device == "cuda"
    for name in names:
        arrays = Arrays(name, device)
        drain = arrays.drain if on_device else None
        for n in sizes:
            backend: dict[str, Any] = {"backend": "cuda"} if on_device else {"threads": 1}
            with heddle.Table(capacity=1 << 17, value=("float32", DIM), **backend) as table:
                for what, call in calls_of(table, arrays, n):
                    us, alone = timed(call, alone_of(table, call), drain=drain)
                    yield {"library": name, "call": what, "keys": n, "us": us * 1e6, "c_us": alone * 1e6}
            if name == "torch" and n == sizes[0]:
                yield {"library": name, "call": "__dlpack__ alone", "keys": n, "us": timed(producing(arrays, n))[0] * 1e6}


def other_rows(sizes: list[int], device: str) -> Rows:
    """What a program would use instead."""
    for n in sizes if device == "cpu" else []:
        keys, plain = list(range(n)), {key: (0.0,) * DIM for key in range(1 << 17)}
        yield {"library": "python", "call": "dict, a lookup per key", "keys": n,
               "us": timed(lambda: [plain[key] for key in keys])[0] * 1e6}  # fmt: skip
    try:
        import torch
    except ImportError:
        return
    dense = torch.nn.Embedding(1 << 17, DIM, device=device)
    bag = torch.nn.EmbeddingBag(1 << 17, DIM, mode="sum", device=device)
    drain = torch.cuda.synchronize if device == "cuda" else None
    with torch.no_grad():
        for n in sizes:
            ids = torch.arange(n, device=device)
            offsets = torch.zeros(1, dtype=torch.int64, device=device)
            for name, call in (("nn.Embedding", lambda: dense(ids)), ("nn.EmbeddingBag", lambda: bag(ids, offsets))):
                yield {"library": "torch", "call": name, "keys": n, "us": timed(call, drain=drain)[0] * 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m heddle.bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--keys", default="1,1024,65536", help="sizes of batches (1,1024,65536)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="of the arrays and the table (cpu)")
    parser.add_argument("--json", action="store_true", help="a line of JSON per row, not a table")
    options = parser.parse_args()
    sizes = [int(n) for n in options.keys.split(",")]
    names = []
    for name in ("torch", "cupy", "jax") if options.device == "cuda" else ("numpy", "torch", "array_api_strict"):
        try:
            __import__(name)
            names.append(name)
        except ImportError:
            print(f"{name}: missing", file=sys.stderr)
    if not options.json:
        print("library\tcall\tkeys\tus\tc_us\tover_us")
    for row in itertools.chain(library_rows(names, sizes, options.device), other_rows(sizes, options.device)):
        if options.json:
            print(json.dumps(row))
            continue
        alone = row.get("c_us")
        over = "" if alone is None else f"{row['us'] - alone:.2f}"
        print(f"{row['library']}\t{row['call']}\t{row['keys']}\t{row['us']:.2f}\t"
              f"{'' if alone is None else format(alone, '.2f')}\t{over}")  # fmt: skip


if __name__ == "__main__":
    main()
