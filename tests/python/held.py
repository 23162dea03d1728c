# SPDX-License-Identifier: Apache-2.0
"""All ordered pairs of calls of heddle.Table, ht.Embedding and ht.EmbeddingBag, the first of them held up on the GPU.

    held.py [SECONDS [PATTERN [WAIT]]]   at most so many seconds (0: all); of the subjects, those that match. Without
                                         that wait of modules (one of WAITS), so that something should differ; names:
                                         only prints which subjects

The first call is made behind a kernel that waits 50 ms, on the stream of the call or on that of the prefetch; or each
of its own kernels is behind one that waits 10 ms, so that the rest of the call is long done before. The second on the same stream, or on another one, from the same thread, another one, or from two threads at once. The
results are those of the same calls without delay. Without a GPU nothing is held up, and two threads remain.
"""

import contextlib
import copy
import faulthandler
import fnmatch
import functools
import io
import os
import pickle
import random
import sys
import tempfile
import threading
import time
import warnings

import torch

import heddle
import heddle.torch as ht
from heddle import _core

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
HOLD_MS = 50
PIECE = 5  # a kernel of a call waits for a part of that
STEP_SECONDS = 60  # a step that takes longer ends the program, which prints where
N, KEYS, DIM = 48, 160, 8


# Arguments are made before anything is held up: a copy from this machine's memory would wait.
@functools.lru_cache(None)
def ids_of(k, n=N):
    """Distinct ids, of which pairs of calls have some in common."""
    return ((torch.arange(n) * 7 + k * 77) % KEYS + 1).to(DEVICE)


@functools.lru_cache(None)
def values_of(k, n, dtype, shape):
    return (torch.arange(n * shape[0] if shape else n) + k * 100).to(dtype).reshape(n, *shape).to(DEVICE)


@functools.lru_cache(None)
def ops():
    some = [heddle.Op.FIND, heddle.Op.INSERT_OR_ASSIGN, heddle.Op.ERASE, heddle.Op.FIND_OR_INSERT]
    return torch.tensor([int(some[i % 4]) for i in range(N)], dtype=torch.uint8, device=DEVICE)


def in_order(state):
    """A module's state has its entries in the order of slots, which two equal tables need not have."""
    if "key" not in state or "weight" not in state:
        return state
    order = state["key"].argsort()
    return {k: v[order] if isinstance(v, torch.Tensor) and len(v) == len(order) else v for k, v in state.items()}


def plain(x):
    """What a call gave, as numbers on this machine."""
    if isinstance(x, torch.Tensor):
        return x.detach().to("cpu", copy=True)
    if isinstance(x, dict):
        return in_order({k: plain(v) for k, v in x.items()})
    if isinstance(x, heddle.Result):
        return [plain(getattr(x, name, None)) for name in ("outcome", "found", "value", "score", "key", "rows", "more")]
    if isinstance(x, heddle.Listed):  # a tuple, too; in the order of slots, which two equal tables need not have
        columns = [plain(getattr(x, name)) for name in ("key", "score", "value") if getattr(x, name, None) is not None]
        return sorted(tuple(row.flatten().tolist() for row in rows) for rows in zip(*columns))
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if hasattr(x, "__dlpack__"):
        return torch.from_dlpack(x).to("cpu", copy=True)
    return x


def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


# ---- Streams --------------------------------------------------------------------------------------------------------


class Streams:
    def __init__(self):
        self.side = [torch.cuda.Stream(), torch.cuda.Stream()] if GPU else []
        self.cycles = self.measure() if GPU else 0

    def measure(self):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(1000)
        begin.record()
        torch.cuda._sleep(10_000_000)
        end.record()
        torch.cuda.synchronize()
        return int(10_000_000 * HOLD_MS / begin.elapsed_time(end))

    def of(self, name):
        """default, first or second; None on the CPU."""
        if not GPU:
            return None
        return torch.cuda.default_stream() if name == "default" else self.side[name == "second"]

    def hold(self, stream):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(self.cycles)

    @contextlib.contextmanager
    def hold_pieces(self):
        """Each kernel of a module, launched meanwhile."""
        from heddle.torch import _kernels

        launch = _kernels.Launch.__call__

        def late(self_, *arguments, **options):
            torch.cuda._sleep(self.cycles // PIECE)
            return launch(self_, *arguments, **options)

        _kernels.Launch.__call__ = late
        try:
            yield
        finally:
            _kernels.Launch.__call__ = launch


def finish():
    if GPU:
        torch.cuda.synchronize()


def on(stream):
    return torch.cuda.stream(stream) if stream is not None else torch.cuda.stream(None)


# ---- heddle.Table ---------------------------------------------------------------------------------------------------


class OfTable:
    """A table and what its calls are given. The batches of a table are in the order of the calls, whatever their
    streams (under `rw`); so nothing else orders them."""

    waits = False  # whether the caller orders the streams of two calls
    at_once = set()  # names of calls that two threads make at once: times would tell which table's came first
    designs = ("hkv", "hive", "ovs", "sl")

    def __init__(self, design):
        self.name = "Table " + design

    def make(self, folder):
        design = self.name.split()[1]
        value = {"hive": "int32", "sl": "int64", "ovs": "int64"}.get(design, ("float32", 4))
        t = heddle.Table(1024, value, design=design, backend="cuda" if GPU else "ref", lock="rw")
        t.folder, t.dtype = folder, {"hkv": torch.float32, "hive": torch.int32}.get(design, torch.int64)
        t.shape = (4,) if design == "hkv" else ()
        t.insert(ids_of(0, 96), self.values(t, 1, 96))
        if not os.path.exists(os.path.join(folder, design)):
            t.save(os.path.join(folder, design))
        t.path = os.path.join(folder, design)
        return t

    def values(self, t, k, n=N):
        return values_of(k, n, t.dtype, t.shape)

    def given(self, t, k, row):
        """Arguments of an operation, by the names of its parameters."""
        known = {"keys": lambda: ids_of(k), "values": lambda: self.values(t, k), "holder": lambda: 7,
                 "limit": lambda: 3,
                 "upper": lambda: ids_of(k) + 5, "predicate": lambda: "key_in", "a": lambda: 10, "b": lambda: 60,
                 "scores": lambda: torch.arange(N, device=DEVICE), "ops": ops}  # fmt: skip
        return {p["name"]: known[p["name"]]() for p in row["parameters"] if p["name"] in known}

    def calls(self):
        calls = {row["name"]: self.operation(row) for row in _core.call_rows()}
        return calls | {
            "len": lambda t, k: len(t),
            "load_factor": lambda t, k: t.load_factor,
            "counters": lambda t, k: t.counters()["outcomes"],
            "items": lambda t, k: sorted(row for part in t.items(100) for row in plain(part)),
            "check": lambda t, k: t.check(),
            "grow": lambda t, k: t.grow(t.info["buckets"] * 2),
            "reserve": lambda t, k: t.reserve(3000),
            "shrink": lambda t, k: t.shrink(t.info["base_buckets"]),
            "set_near": lambda t, k: t.set_near(0),
            "save": self.save,
            "load": lambda t, k: t.load(t.path),
            "info": lambda t, k: t.info["now"],
            "clock": self.clock,
            "epoch": self.epoch,
            "pickle": lambda t, k: self.rows(pickle.loads(pickle.dumps(t))),
        }

    def epoch(self, t, k):
        t.epoch = 3 + k
        return t.epoch

    def clock(self, t, k):
        t.clock = 5000 + k
        return t.now, t.clock

    def operation(self, row):
        def call(t, k):
            result = getattr(t, row["name"])(**self.given(t, k, row))
            return None if row["name"] in ("find_ptr", "find_or_insert_ptr", "lock_keys") else result

        return call

    def save(self, t, k):
        path = os.path.join(t.folder, f"saved-{k}-{threading.get_ident()}")
        t.save(path)
        with heddle.load(path, value=t.value, backend="ref") as other:
            rows = self.rows(other)
        os.unlink(path)
        return rows

    def rows(self, t):
        return plain(t.export())

    def look(self, t):
        return [self.rows(t), t.counters()["outcomes"]]

    def end(self, t):
        t.close()


# ---- ht.Embedding, ht.EmbeddingBag ----------------------------------------------------------------------------------


class OfModule:
    """A module that was trained a little, with gradients that wait and a forward pass without its backward pass. As
    with all of PyTorch, the caller orders the streams of two calls."""

    waits = True
    at_once = {"forward", "look_up", "prefetch", "backward", "step", "insert", "erase", "clear", "len", "steps"}

    def __init__(self, kind, **options):
        self.kind, self.options = kind, options
        self.name = " ".join([kind.__name__, *(f"{k}={v}" for k, v in options.items())])

    def forward(self, e, ids, **options):
        return e(ids.reshape(-1, 4) if self.kind is ht.EmbeddingBag else ids, **options)

    def make(self, folder):
        torch.manual_seed(5)
        e = self.kind(1024, DIM, optimizer=ht.Adam(0.05), seed=3, device=DEVICE, table={"clock": "logical"},
                      **self.options)  # fmt: skip
        for k in (3, 4, 5):  # so a third of what the calls ask for is there, and the rest new
            self.forward(e, ids_of(k, 64)).square().sum().backward()
            e.step()
        finish()
        e.kept, e.part = copy.deepcopy(e.state_dict()), next(iter(e.parts()))
        self.forward(e, ids_of(5)).sum().backward()
        e.waiting = self.forward(e, ids_of(6)).sum()
        return e

    def side(self, e):
        """The prefetch's stream, which the first prefetch makes."""
        if e._side is None:
            e.prefetch(ids_of(0, 1))
            finish()
        return e._side

    def calls(self):
        return {
            "forward": lambda e, k: self.forward(e, ids_of(k)),
            "forward, distinct": lambda e, k: self.forward(e, ids_of(k), distinct=True),
            "forward, backward": self.trains,
            "backward": self.backward,
            "step": lambda e, k: e.step(),
            "train": lambda e, k: (self.trains(e, k), e.step()),
            "eval": self.evaluates,
            "zero_grad": lambda e, k: e.zero_grad(),
            "gradients": lambda e, k: e.gradients,
            "look_up": lambda e, k: e.look_up(ids_of(k)),
            "train_rows": lambda e, k: e.train_rows(ids_of(k))[0],
            "prefetch": lambda e, k: e.prefetch(ids_of(k)),
            "prefetch, distinct": lambda e, k: e.prefetch(ids_of(k), distinct=True),
            "state_dict": lambda e, k: e.state_dict(),
            "load_state_dict": lambda e, k: str(e.load_state_dict(e.kept)),
            "parts": lambda e, k: self.sorted(e.parts()),
            "mark, changed_since": self.changed,
            "insert": lambda e, k: e.insert(ids_of(k), torch.full((N, DIM), 0.5 + k, device=DEVICE)),
            "insert_part": lambda e, k: e.insert_part(e.part),
            "erase": lambda e, k: e.erase(ids_of(k)),
            "clear": lambda e, k: e.clear(),
            "evicted": lambda e, k: e.evicted_most and sorted(x for part in e.evicted() for x in part.key.tolist()),
            "unplaced": lambda e, k: e.unplaced(),
            "counters": lambda e, k: e.counters(),
            "len": lambda e, k: len(e),
            "refused, reserved, dropped": lambda e, k: [e.refused, e.reserved, e.dropped],
            "steps": lambda e, k: e.steps,
            "epoch": self.epoch,
            "hit_rate": lambda e, k: getattr(e, "hit_rate", None),
            "deepcopy": lambda e, k: self.copied(e, copy.deepcopy),
            "pickle": lambda e, k: self.copied(e, lambda x: pickle.loads(pickle.dumps(x))),
            "torch.save": lambda e, k: self.stored(e),
            "to another device": lambda e, k: (e.to("cpu"), e.to(DEVICE), None)[-1],
            "table.find": lambda e, k: e.table.find(ids_of(k)).value,
            "table.save": self.saves,
            "table.grow": lambda e, k: e.table.grow(e.table.info["buckets"] * 2),
        }

    def epoch(self, e, k):
        e.epoch = 4 + k
        return e.epoch

    def trains(self, e, k):
        e.train()
        out = self.forward(e, ids_of(k))
        out.square().sum().backward()
        return out

    def backward(self, e, k):
        waiting, e.waiting = e.waiting, None
        if waiting is not None:
            waiting.backward()

    def evaluates(self, e, k):
        e.eval()
        with torch.no_grad():
            out = self.forward(e, ids_of(k))
        e.train()
        return out

    def changed(self, e, k):
        pending, e._pending = e._pending, []
        mark, parts = e.mark() if e.policy == "lru" else 0, self.sorted(e.changed_since(0))
        e._pending = pending
        return mark, parts

    def sorted(self, parts):
        return sorted((int(key), *weight, *state) for part in parts for key, weight, state in
                      zip(part.key.tolist(), part.weight.tolist(), part.state.tolist()))  # fmt: skip

    def copied(self, e, how):
        waiting, e.waiting = e.waiting, None
        other = how(e)
        e.waiting = waiting
        return other.state_dict()

    def stored(self, e):
        file = io.BytesIO()
        torch.save(e.state_dict(), file)
        file.seek(0)
        return torch.load(file)

    def saves(self, e, k):
        with tempfile.TemporaryDirectory() as folder:
            e.table.save(os.path.join(folder, "t"))
            with heddle.load(os.path.join(folder, "t"), value=e.table.value, backend="ref") as t:
                return sorted((int(key), value.tolist()) for key, value in zip(t.export().key, t.export().value))

    def look(self, e):
        e.waiting = None
        return [e.state_dict(), e.gradients, e.counters()]

    def end(self, e):
        e.table.close()


SUBJECTS = [
    *map(OfTable, OfTable.designs),
    OfModule(ht.Embedding),
    OfModule(ht.EmbeddingBag),
    OfModule(ht.Embedding, evicted=500),
    OfModule(ht.Embedding, kernels=False),
    OfModule(ht.Embedding, policy="lfu"),
]

# What calls of two streams and threads are; the first is held up. `same`: one stream.
STREAMS = [("first", "first"), ("default", "default"), ("first", "second"), ("default", "first"), ("first", "default")]
THREADS = ["one thread", "two threads in turn", "two threads at once"]


class Run:
    """Two calls of a subject, and what they gave."""

    def __init__(self, subject, names, folder, streams):
        self.subject, self.names, self.folder, self.streams = subject, names, folder, streams
        self.calls = subject.calls()

    def call(self, thing, k, stream, got):
        try:
            with on(stream):
                got[k] = plain_later(self.calls[self.names[k]](thing, k))
        except (heddle.Error, RuntimeError, ValueError, TypeError, AttributeError) as e:
            got[k] = f"{type(e).__name__}: {e}"

    def without_delay(self, prefetch, swapped=False):
        thing, got = self.subject.make(self.folder), [None, None]
        finish()
        if GPU and prefetch:
            self.subject.side(thing)
        for k in (1, 0) if swapped else (0, 1):
            self.call(thing, k, None, got)
            finish()
        return self.result(thing, got)

    def held(self, pair, threads, prefetch, pieces):
        thing, got = self.subject.make(self.folder), [None, None]
        finish()
        stream = [self.streams.of(name) for name in pair]
        if GPU and prefetch:
            side = self.subject.side(thing)
        if GPU and not pieces:
            self.streams.hold(side if prefetch else stream[0])

        def first():
            with self.streams.hold_pieces() if GPU and pieces else contextlib.nullcontext():
                self.call(thing, 0, stream[0], got)

        def second():
            if GPU and self.subject.waits and stream[0] != stream[1]:
                stream[1].wait_stream(stream[0])
            self.call(thing, 1, stream[1], got)

        if threads == 0:
            first(), second()
        else:
            both = [threading.Thread(target=f) for f in (first, second)]
            both[0].start()
            if threads == 1:
                both[0].join()
            both[1].start()
            for t in both:
                t.join()
        finish()
        return self.result(thing, got)

    def result(self, thing, got):
        got = [x() if callable(x) else x for x in got]
        try:
            got.append(plain(self.subject.look(thing)))
            self.subject.end(thing)
        except heddle.Error as e:
            got.append(f"{type(e).__name__}: {e}")
        return got


def plain_later(x):
    """What is on a GPU is read when all work is done: reading it now would wait."""
    return (lambda: plain(x)) if GPU else plain(x)


def supported(subject, streams, folder):
    """The calls that a subject has: alone they give no error. Kernels are compiled, and arguments made."""
    names = []
    for name in subject.calls():
        faulthandler.dump_traceback_later(STEP_SECONDS, exit=True)
        for k in (0, 1):
            thing, got = subject.make(folder), [None, None]
            Run(subject, [name, name], folder, streams).call(thing, k, None, got)
        x = got[1]() if callable(got[1]) else got[1]
        if not (isinstance(x, str) and "Error" in x.split(":")[0]):
            names.append(name)
        else:
            print(f"# {subject.name} does not run {name}: {x[:150]}")
    return names


def refuses(got):
    """Two threads at once: the module may refuse one of them by name."""
    return any(isinstance(x, str) and "thread" in x for x in got)


def try_pair(subject, names, streams, folder, draw, tally, pieces):
    run = Run(subject, names, folder, streams)
    pair, threads = draw.choice(STREAMS), draw.randrange(3)
    if not subject.at_once.issuperset(names):
        threads = min(threads, 1)
    if threads == 2 and subject.waits:
        pair = pair[0], pair[0]  # no stream can wait for a call that is yet to come
    prefetch = "prefetch" in names[0] and draw.randrange(2) == 1
    pieces = subject.waits and (pieces or draw.randrange(2) == 1)
    got, want = run.held(pair, threads, prefetch, pieces), run.without_delay(prefetch)
    tally["runs"] += 1
    good = same(got, want)
    if not good and threads == 2:
        good = refuses(got) or same(got, run.without_delay(prefetch, swapped=True))
    if not good:
        tally["differ"] += 1
        at = [what for what, a, b in zip(("first", "second", "rest"), got, want) if not same(a, b)]
        how = f"{pair[0]}, {pair[1]} stream, {THREADS[threads]}{', the prefetch held' * prefetch}{', its kernels' * pieces}"
        print(f"# differs: {subject.name}: {names[0]}, then {names[1]}; {how}: {', '.join(at)}")
        print(*(f"# {g[:200]}\n" for g in got if isinstance(g, str)), sep="", end="", flush=True)


# What does nothing on a GPU, or is no call of a user's.
NO_CALLS = {"check_offsets", "close", "closed", "device", "hit_rate", "load_dropped", "number", "state_of",
            "take_gradient", "upsert", "value", "weights_of"}  # fmt: skip


def forgotten():
    """Public names of tables and modules that no call of this file has."""
    with open(__file__) as file:
        text = file.read()
    operations = {row["name"] for row in _core.call_rows()}
    names = {"t." + n for n in dir(heddle.Table) if n not in operations}
    names |= {"e." + n for kind in (ht.Embedding, ht.EmbeddingBag) for n in dir(kind) if n not in dir(torch.nn.Module)}
    return sorted(n for n in names if n[2:] not in NO_CALLS and n[2] != "_" and n not in text)


# Behind the last call's stream; for all work before. And the calls whose work then is not waited for.
WAITS = {"turn": ("_follow", "prefetch*"), "whole": ("_settle", "train"), "prefetched": ("_settle", "prefetch*")}


def main(seconds=0.0, pattern="*", wait=None):
    method, first = WAITS.get(wait, (None, "*"))
    if method:
        setattr(ht.Embedding, method, lambda self: None)
    if forgotten():
        print(f"not ok - no call of held.py has {', '.join(forgotten())}")
        return 1
    chosen = [s for s in SUBJECTS if fnmatch.fnmatch(s.name, pattern)]
    if wait == "names":
        print(*(s.name for s in chosen), sep="\n")
        return 0
    warnings.simplefilter("ignore")  # gradients wait
    sys.stdout.reconfigure(line_buffering=True)
    streams, draw, begin = Streams(), random.Random(1), time.monotonic()
    total = {"pairs": 0, "possible": 0, "runs": 0, "differ": 0}
    with tempfile.TemporaryDirectory() as folder:
        for left, subject in zip(range(len(chosen), 0, -1), chosen):
            end = time.monotonic() + (seconds - time.monotonic() + begin) / left if seconds else float("inf")
            names = supported(subject, streams, folder)
            pairs = [(a, b) for a in names for b in names if fnmatch.fnmatch(a, first)]
            draw.shuffle(pairs)
            tally = {"pairs": 0, "possible": len(pairs), "runs": 0, "differ": 0}
            for pair in pairs:
                if time.monotonic() >= end:
                    break
                faulthandler.dump_traceback_later(STEP_SECONDS, exit=True)
                try_pair(subject, pair, streams, folder, draw, tally, method is not None)
                tally["pairs"] += 1
            print(f"# {subject.name}: {tally['pairs']} of {len(pairs)} pairs of {len(names)} calls, "
                  f"{tally['differ']} differ", flush=True)  # fmt: skip
            total = {k: total[k] + tally[k] for k in total}
    faulthandler.cancel_dump_traceback_later()
    print(f"{'not ok' if total['differ'] else 'ok'} - {total['pairs']} of {total['possible']} pairs of calls, "
          f"{total['differ']} differ; {torch.cuda.get_device_name() if GPU else 'no GPU'}")  # fmt: skip
    return 1 if total["differ"] else 0


if __name__ == "__main__":
    sys.exit(main(*(kind(x) for kind, x in zip((float, str, str), sys.argv[1:]))))
