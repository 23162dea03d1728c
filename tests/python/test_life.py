# SPDX-License-Identifier: Apache-2.0
"""The lives of tables: closing, threads, garbage, copies, forks, sub-interpreters, memory and signals."""

import array
import copy
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import tracemalloc
import unittest
import warnings
import weakref

import producers
from reading import entries_of, heddle, numpy, optional, resident_bytes, u64

MANY = 1 << 16  # a batch that backend ref runs by several threads
ASAN = "libasan" in os.environ.get("LD_PRELOAD", "")


def table(capacity=1024, value="uint64", **parameters):
    return heddle.Table(capacity, value, **parameters)


def filled(n=100, **parameters):
    t = table(max(1024, 2 * n), **parameters)
    t.insert(u64(range(n)), u64(range(n)))
    return t


def python(code, *flags, limit=600, **environment):
    """Runs Python code in a process of its own; returns what it printed."""
    done = subprocess.run([sys.executable, *flags, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          timeout=limit, env={**os.environ, **environment})  # fmt: skip
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Closing(unittest.TestCase):
    def test_closed_tables(self):
        t = filled()
        self.assertFalse(t.closed)
        t.close()
        t.close()
        self.assertTrue(t.closed)
        calls = [lambda: len(t), lambda: t.info, lambda: t.epoch, lambda: t.load_factor, lambda: t.hit_rate, t.check, t.counters,
                 lambda: t.grow(2), lambda: t.reserve(5000), lambda: t.shrink(1), lambda: t.set_near(1), lambda: t.save("/tmp/x"),
                 lambda: t.load("/tmp/x"), lambda: setattr(t, "epoch", 1), lambda: 5 in t, lambda: list(t),
                 lambda: next(t.items()), lambda: pickle.dumps(t), lambda: copy.copy(t), lambda: t._record_steps(True),
                 lambda: bool(t)]  # fmt: skip
        arguments = {"keys": [1], "upper": [2], "limit": 3, "values": [1], "holder": 1, "predicate": "all", "ops": b"\0"}
        for row in heddle._core.call_rows():
            needed = [p["name"] for p in row["parameters"] if not p["default"] or p["name"] == "values"]
            calls.append(lambda row=row, needed=needed: getattr(t, row["name"])(**{n: arguments[n] for n in needed}))
        for i, call in enumerate(calls):
            with self.assertRaisesRegex(heddle.Error, "the table is closed", msg=f"call {i}"):
                call()
        self.assertEqual(repr(t), "<heddle.Table: closed>")
        self.assertIn("closed", t._repr_html_())

    def test_with(self):
        with filled() as t:
            self.assertEqual(len(t), 100)
        self.assertTrue(t.closed)
        with self.assertRaises(ZeroDivisionError):
            with filled() as t:
                1 / 0  # noqa: B018
        self.assertTrue(t.closed)

    def test_failed_constructors(self):
        with self.assertRaises(heddle.Error):
            heddle.Table(64, ("float32", 2), value_bytes=4)
        broken = heddle.Table.__new__(heddle.Table)
        for call in (lambda: len(broken), lambda: broken.find([1]), broken.check):
            self.assertRaisesRegex(heddle.Error, "closed", call)
        self.assertTrue(broken.closed)
        del broken
        t = filled()
        with self.assertRaisesRegex(heddle.Error, "the table is open"):
            t.__init__(64, "uint64")
        self.assertEqual(len(t), 100)
        t.close()
        t.__init__(64, "float32")
        t.insert([1], [1.5])
        self.assertEqual(t.find([1]).value.tolist(), [1.5])

    def test_close_while_a_batch_runs(self):
        """The batch ends; the table is closed afterwards."""
        keys = u64(range(1 << 14))
        for _ in range(20):
            t = table(1 << 15, threads=1)
            ends, begun = [], threading.Event()

            def work(t=t, ends=ends, begun=begun):
                begun.set()
                try:
                    while True:
                        ends.append(len(t.insert(keys, keys)))
                except heddle.Error as error:
                    ends.append(str(error))

            workers = [threading.Thread(target=work) for _ in range(3)]
            for worker in workers:
                worker.start()
            begun.wait()
            time.sleep(0.002)
            t.close()
            self.assertTrue(t.closed)
            for worker in workers:
                worker.join()
            self.assertEqual(ends.count("the table is closed"), 3)
            self.assertEqual({e for e in ends if e != "the table is closed"} - {1 << 14}, set())

    def test_results_outlive_their_table(self):
        t = filled()
        r = t.find([5, 6])
        value, listed = r.value, t.export()
        alive = weakref.ref(t)
        del t
        gc.collect()
        self.assertIsNone(alive())
        self.assertEqual(value.tolist(), [5, 6])
        self.assertEqual(r.found.tolist(), [True, True])
        self.assertEqual(len(listed.key), 100)


class Shown(unittest.TestCase):
    """What a person sees of a result, and what the pages say of tables."""

    def test_a_result_shows_its_first_rows(self):
        with heddle.Table(1 << 12, "uint32", threads=1) as t:
            t.insert(u64(range(20)), array.array("I", range(100, 120)))
            shown = repr(t.find(u64([1, 9, 77]))).splitlines()
            self.assertEqual(shown[0], "<heddle.Result of find: 3 items>")
            self.assertEqual([line.split() for line in shown[1:]],
                             [["value", "found", "outcome", "score"], ["101", "True", "HIT", "1"],
                              ["109", "True", "HIT", "9"], ["0", "False", "MISS", "0"]])  # fmt: skip
            many = repr(t.find(u64(range(20)))).splitlines()
            self.assertEqual((len(many), many[-1]), (8, "..."), many)

    def test_a_table_adds_18_bytes_per_place(self):
        """doc/python-torch.md, Optimizers."""
        for value in 8, 64:
            with heddle.Table(1 << 16, value) as t:
                self.assertEqual(t.info["memory_bytes"], (value + 18) << 16)

    def test_the_share_of_ids_that_full_buckets_lose(self):
        """doc/python-torch.md, Capacity: of ids, for so many times as many places."""
        ids = 1 << 16
        for dual, places, low, high in (False, 1, 0.03, 0.04), (False, 1.1, 0.004, 0.01), (True, 1, 0.001, 0.006), (True, 1.1, 0, 0):
            with heddle.Table(int(ids * places), 0, dual=dual) as t:
                t.insert(u64(i * 0x9E3779B97F4A7C15 % 2**63 for i in range(ids)))
                lost = 1 - len(t) / ids
                self.assertTrue(low <= lost <= high, f"dual={dual}, {places} times the places: {lost:.4f}")


class Garbage(unittest.TestCase):
    def test_cycles(self):
        t = filled()
        t.self = [t]
        alive = weakref.ref(t)
        del t
        gc.collect()
        self.assertIsNone(alive())

    def test_cycle_of_a_result(self):
        """The caller's array of values refers to the result."""

        class Own(bytearray):
            pass

        t = table(value=8)
        out = Own(8)
        out.result = t.find([1], out=out)
        alive = weakref.ref(out)
        del out
        gc.collect()
        self.assertIsNone(alive())

    def test_cycle_of_steps(self):
        t = table(backend="host")
        t._record_steps(True)
        t.insert([1], [2])
        steps = t._record_steps(False)
        self.assertEqual([batch["op"] for batch in steps], ["insert_or_assign"])
        t._record_steps(True)
        t.insert([1], [2])
        t.steps = t
        alive = weakref.ref(t)
        del t
        gc.collect()
        self.assertIsNone(alive())

    def test_references_of_arguments(self):
        t = filled(10)
        keys, values, scores = u64([1, 2]), u64([1, 2]), u64([1, 2])
        out, options = u64([1, 2]), {"distinct": True}
        objects = (keys, values, scores, out, options, None, heddle.Result, t)
        before = [sys.getrefcount(o) for o in objects]
        for _ in range(200):
            t.insert(keys, values, scores)
            t.find(keys, out=out)
            t.find(keys, **options)
            t.insert(keys, values, evicted=True).evicted  # noqa: B018
            for bad in (lambda: t.insert(keys, [1]), lambda: t.find(keys, out=keys), lambda: t.find(keys, kernel="x"),
                        lambda: t.insert(keys, values, [1]), lambda: t.find(keys, nothing=1), lambda: t.find()):  # fmt: skip
                try:
                    bad()
                except (heddle.Error, TypeError):
                    pass
        del bad
        gc.collect()
        after = [sys.getrefcount(o) for o in objects]
        for b, a, o in zip(before, after, objects, strict=True):
            self.assertLess(abs(a - b), 60, f"references of {type(o).__name__}: {b} became {a}")


def leaking_calls():
    """Calls of all kinds, some of which fail: each leaves nothing behind."""
    t = filled(64, policy="lfu")
    h = heddle.Table(64, "uint32", design="hive")
    keys, values = u64(range(64)), u64(range(64))
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "t")
    t.save(path)

    def open_and_close():
        with heddle.Table(64, 8) as u:
            u.insert([1], b"12345678")
        heddle.load(path).close()

    def wrong():
        for call in (lambda: t.find([1.5]), lambda: t.find(keys, out=b""), lambda: t.insert(keys, [1]), lambda: t.export(0, 1 << 50),
                     lambda: heddle.load(path + "x"), lambda: heddle.Table(64, 8, backend="x"), lambda: t.find("x"),
                     lambda: t.find(producers.of_u64(u64([1]))), lambda: t.mixed(b"\0", [1], [1]), lambda: t.touch(object()),
                     lambda: t.insert(keys, keys, kernel="x"), lambda: heddle.inspect(path + "y")):  # fmt: skip
            try:
                call()
            except (heddle.Error, TypeError):
                continue
            raise AssertionError("a wrong call succeeds")
        producers.deleted.clear()

    def lists():
        t.insert(keys, values, evicted=True).evicted.value.tolist()
        t.export().key.tolist()
        list(t.items(16))
        t.find_missed(keys).missed.item.tolist()

    def producers_of_all_kinds():
        for kind in (producers.Producer, producers.OldProducer, producers.Lent):
            array = producers.of_u64(u64([1, 2]), kind, device=(producers.CPU, 0))
            t.insert(array, array)
            t.find(array)
        producers.deleted.clear()
        producers.taken.clear()

    def reads():
        r = t.find(keys)
        for name in ("value", "found", "outcome", "score", "ptr", "listed", "op"):
            getattr(r, name)
        t.find(keys, out=r)
        for name in ("info", "epoch", "load_factor", "closed", "hit_rate"):
            getattr(t, name)
        repr(t), repr(r), t._repr_html_(), t.counters(), len(t), heddle.rows("kernels"), heddle.inspect(path)

    def own_arrays():
        out = {"value": u64(range(64)), "found": bytearray(64), "score": u64(range(64))}
        t.find(keys, out=out, zero=True)
        t.touch(keys, out=out)
        for bad in ({"value": b""}, {"found": out["value"]}, {"none": 1}, {"value": out["score"], **out, 1: 2}, {"score": keys}):
            try:
                t.find(keys, out=bad)
            except heddle.Error:
                continue
            raise AssertionError("a wrong call succeeds")

    return [open_and_close, wrong, lists, own_arrays, producers_of_all_kinds, reads, lambda: pickle.loads(pickle.dumps(t)).close(),
            lambda: h.mixed(bytes(3), [1, 2, 3], [4, 5, 6]), lambda: t.find([1, 2, 3]), t.check]  # fmt: skip


class Memory(unittest.TestCase):
    @unittest.skipIf(ASAN, "every object then has another address, and the interpreter's cache of attributes keeps names")
    def test_no_call_leaks(self):
        for call in leaking_calls():
            for _ in range(60):
                call()
            gc.collect()
            tracemalloc.start()
            call()
            kept = []
            for _ in range(3):  # a table of the interpreter may grow in one of these periods
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(40):
                    call()
                gc.collect()
                kept.append(tracemalloc.get_traced_memory()[0] - before)
            tracemalloc.stop()
            self.assertLess(min(kept), 2000, f"{call} keeps so many bytes of Python's memory in 40 calls: {kept}")

    @unittest.skipIf(ASAN, "the address sanitizer keeps freed memory")
    def test_resident_memory(self):
        """Also the library's own memory comes back."""
        calls = leaking_calls()
        big = u64(range(1 << 12))

        def large():
            t = table(1 << 13)
            t.insert(big, big)
            t.find(big).value  # noqa: B018
            t.reserve(1 << 14)

        for call in (*calls, large):
            for _ in range(40):
                call()
            gc.collect()
            before = resident_bytes()
            for _ in range(150):
                call()
            gc.collect()
            grown = resident_bytes() - before
            self.assertLess(grown, 4 << 20, f"{call}: {grown} bytes more in 150 calls")


class Threads(unittest.TestCase):
    def run_all(self, works):
        errors = []

        def guarded(work):
            try:
                work()
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def test_one_table(self):
        for parameters in ({}, {"threads": 2}, {"backend": "host"}, {"lock": "rw"}):
            with table(4096, **parameters) as t:
                rounds = 5 if "backend" in parameters else 60

                def work(i, t=t, rounds=rounds):
                    keys = u64(range(100 * i, 100 * i + 100))
                    for n in range(rounds):
                        t.insert(keys, u64([n * 1000 + i] * 100))
                        r = t.find(keys)
                        assert all(r.found.tolist()) and set(r.value.tolist()) == {n * 1000 + i}
                        t.export()
                        len(t)
                        if n % 7 == 0 and i % 2:
                            t.erase(keys)
                            assert not any(t.find(keys).found.tolist())
                            t.insert(keys, keys)

                self.run_all([lambda i=i: work(i) for i in range(6)])
                self.assertEqual(len(t), 600)
                t.check()

    def test_growing_while_others_look_up(self):
        with filled(100, threads=2) as t:
            end = threading.Event()

            def look():
                while not end.is_set():
                    assert t.find(u64(range(100))).value.tolist() == list(range(100))

            def grow():
                for _ in range(6):
                    t.grow(t.info["buckets"] * 2)
                end.set()

            self.run_all([look, look, grow])
            t.check()

    def test_many_tables(self):
        def work(i):
            for _ in range(20):
                with filled(50 + i) as t:
                    assert len(t) == 50 + i
                    t.save(f"{folder}/{i}")
                    with heddle.load(f"{folder}/{i}", value="uint64") as u:
                        assert entries_of(u) == entries_of(t)

        with tempfile.TemporaryDirectory() as folder:
            self.run_all([lambda i=i: work(i) for i in range(8)])

    def test_errors_are_of_their_thread(self):
        with filled() as t:

            def work(i):
                for _ in range(300):
                    try:
                        t.find([1], kernel=f"kernel-{i}-")
                    except heddle.Error as error:
                        assert f"kernel-{i}-" in str(error), error

            self.run_all([lambda i=i: work(i) for i in range(4)])

    def test_batches_run_without_the_lock_of_the_interpreter(self):
        keys = u64(range(1 << 20))
        with table(1 << 21, threads=1) as t:
            counts = []

            def count():
                while not done.is_set():
                    counts.append(time.monotonic())
                    time.sleep(0.001)

            done = threading.Event()
            thread = threading.Thread(target=count)
            thread.start()
            begin = time.monotonic()
            t.insert(keys, keys)
            end = time.monotonic()
            done.set()
            thread.join()
        if end - begin > 0.05:
            self.assertGreater(sum(begin < c < end for c in counts), 3)


    def test_a_busy_machine(self):
        """The usual threads take little more processor time than one, and a few times its time at most; and so they do
        where PyTorch has loaded OpenMP's runtime before."""
        code = """
            import os, time
            if os.environ["FIRST"]:
                import torch
            import heddle
            keys = heddle._arrays.array.array("Q", range(4096))
            tables = [heddle.Table(1 << 16, "uint64", threads=n) for n in (1, 0)]
            for t in tables:
                t.insert(keys, keys)
            wall, used = ([], []), [0, 0]
            for turn in range(82):
                begun = time.perf_counter(), time.process_time()
                tables[turn % 2].find(keys)
                wall[turn % 2].append(time.perf_counter() - begun[0])
                used[turn % 2] += time.process_time() - begun[1]
            one, usual = (sorted(w)[20] for w in wall)
            print(used[1] < 4 * used[0] + 0.005 and usual < 10 * one + 0.001, one, usual, used)
        """
        spin = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100000))"
        busy = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(2 * os.cpu_count())]
        try:
            for first in [""] + ["torch"] * (optional("torch") is not None):
                with self.subTest(first=first):
                    said = python(code, FIRST=first)
                    self.assertTrue(said.startswith("True"), said)
        finally:
            for process in busy:
                process.kill()
                process.wait()


class Copies(unittest.TestCase):
    def test_pickle_and_copy(self):
        for parameters in ({"value": "uint64"}, {"value": ("float32", 2)}, {"value": 0}, {"value": 12},
                           {"value": "uint32", "design": "hive"}, {"value": "uint64", "dual": True, "slots": 8, "policy": "lfu", "seed": 5},
                           {"value": numpy and numpy.dtype("f4,i4")}):  # fmt: skip
            if parameters["value"] is None:
                continue
            with heddle.Table(128, **parameters) as t:
                width = t.info["value_bytes"]
                if not width:
                    t.insert(range(50))
                elif parameters["value"] == 12 or numpy and isinstance(parameters["value"], numpy.dtype):
                    t.insert(range(50), memoryview(bytes(range(width)) * 50).cast("B", (50, width)))
                else:
                    t.insert(range(50), [[k, k + 1] if width == 8 and "float32" in parameters["value"] else k for k in range(50)])
                for again in (pickle.loads(pickle.dumps(t)), copy.copy(t), copy.deepcopy(t)):
                    self.assertEqual(entries_of(again), entries_of(t))
                    for name in ("design", "backend", "policy", "slots", "buckets", "seed", "now"):
                        self.assertEqual(again.info[name], t.info[name])
                    self.assertEqual(again.value, t.value)
                    again.clear()
                    again.close()
                self.assertEqual(len(t), 50)

    def test_every_parameter_is_kept(self):
        """A copy has all fields of a table but its file, whether a snapshot has them or not."""
        rows = heddle._core.parameter_rows()
        other = {"lock": "rw", "capacity": 512, "slots": 16, "value_bytes": 4, "seed": 5, "epoch": 3, "threads": 2, "policy": "lfu",
                 "hash": "crc32,city32", "near": 1 << 24, "segment": 2048, "device_value_bytes": 1 << 12, "hashes": 2,
                 "spare": 3, "copies": 1 << 16, "levels": 2}  # fmt: skip
        needs = {"cache": {"value_bytes": 16}, "cached": {"cache": "buckets"}}
        for design in [row[0] for row in heddle.rows("designs")]:
            for row in rows:
                if row["design"] not in (None, design) or row["name"] in ("design", "backend", "file"):
                    continue
                value = other.get(row["name"], row["values"][-1] if row["values"] else 1)
                try:
                    t = heddle.Table(**{"capacity": 512, "design": design, **needs.get(row["name"], {}), row["name"]: value})
                except heddle.Error as error:  # this design has one value of it
                    self.assertTrue(row["design"] is None, (design, row["name"], error))
                    continue
                with t, self.subTest(design=design, field=row["name"]), copy.copy(t) as again:
                    self.assertEqual(fixed(again.info), fixed(t.info))
                    if not row["in_files"]:
                        kept = again._beside_snapshot()
                        self.assertEqual(kept, t._beside_snapshot())
                        self.assertEqual(kept[row["name"]], str(value))

    def test_what_a_file_decides(self):
        """A parameter beside a file is honoured, equal to the file's, or an error that names it; never dropped."""
        rows = heddle._core.parameter_rows()
        values = {"backend": "host", "lock": "rw", "layout": "usual", "threads": 3, "near": 1 << 24, "pins": 64, "clock": "device",
                  "policy": "lfu", "hash": "crc32,city32", "design": "sl", "copies": 1 << 16, "segment": 1 << 12, "capture_times": 1}  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            for design in ("hkv", "hive", "ovs", "sl"):
                with table(design=design, value="uint32") as t:
                    t.save(path)
                    is_ = {"design": design, "policy": t.info["policy"], "capacity": t.info["capacity"], "value_bytes": 4}
                heddle.load(path, "uint32", **is_).close()
                for row in [row for row in rows if row["name"] != "file"]:
                    value = values.get(row["name"], row["values"][-1] if row["values"] else 7)
                    if row["name"] == "design" and design == value:
                        value = "hkv"
                    try:
                        with heddle.load(path, "uint32", **{row["name"]: value}) as t:
                            self.assertFalse(row["in_files"], row)
                            kept = t._beside_snapshot()
                            self.assertEqual(kept.get(row["name"], kept.get("device_value_bytes")), str(value))
                    except heddle.Error as error:
                        self.assertTrue(row["in_files"] or row["design"] not in (None, design), (error, row))
                        self.assertTrue(str(error).startswith(row["name"] + ": "), error)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            with table(design="ovs", value="uint32", segment=1024) as t:
                t.save(path)
            for near in ("2048", 2048, "2Ki"):
                self.assertEqual(heddle.load(path, "uint32", near=near).info["near"], 2048)

    def test_attributes_are_kept(self):
        t = filled()
        t.note = ["x"]
        again = copy.deepcopy(t)
        self.assertEqual((again.note, len(again)), (["x"], 100))
        self.assertIsNot(again.note, t.note)

    def test_every_class_of_the_package(self):
        """An object of each public class survives copies and pickles, or says that it cannot."""
        t = filled()
        error = heddle.Error("why")
        error.status = "HD_EIO"
        things = [heddle.Policy("now"), heddle.Policy("given", "max(old, now)"), heddle.Policy("now", None, "MAX"), t.export(0, 64),
                  error, heddle.Outcome.HIT, heddle.Op.FIND, heddle.Accum.ADD, heddle.explain, heddle.Story(),
                  heddle.Report({"schema": "x", "rows": [{"a": 1}]}), t, t.find([1])]  # fmt: skip
        names = {name for name in heddle.__all__ if isinstance(getattr(heddle, name), type)}
        self.assertEqual({type(thing).__name__ for thing in things} & names, names)
        ways = [copy.copy, copy.deepcopy]
        ways += [lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)]
        for thing in things:
            for way in ways:
                if isinstance(thing, heddle.Result):
                    self.assertRaisesRegex(TypeError, "Result", way, thing)
                    continue
                again = way(thing)
                self.assertIs(type(again), type(thing))
                self.assertEqual(state_of(again), state_of(thing))
        self.assertEqual(heddle.Table(64, policy=copy.copy(things[1])).info["policy"], things[1].replace(" ", ""))

    def test_the_parts_of_a_list(self):
        part = filled().export(0, 64)
        self.assertEqual(part._replace(item=None).item, None)
        self.assertEqual(len(type(part)._make(part)), len(part))

    def test_iteration_over_a_table_that_grows(self):
        for change in (lambda t: t.grow(2 * t.info["buckets"]), lambda t: t.insert(u64(range(3000)), u64(range(3000)), grow=0.5)):
            t = filled(800, slots=8)
            parts = t.items(100)
            next(parts)
            change(t)
            self.assertRaisesRegex(RuntimeError, "number of buckets during iteration", next, parts)
            self.assertEqual(sum(len(part) for part in t.items(100)), len(t))

    def test_subclasses(self):
        t = Sub(64, "uint64")
        t.insert([1], [2])
        again = pickle.loads(pickle.dumps(t))
        self.assertIs(type(again), Sub)
        self.assertEqual(again.twice(), 2)

    def test_results_are_not_pickled(self):
        r = filled().find([1])
        self.assertRaises(TypeError, pickle.dumps, r)

    def test_names_of_files(self):
        with tempfile.TemporaryDirectory() as folder, filled() as t:
            for name in (os.fsencode(folder) + b"/\xff\xfe", os.path.join(folder, "é ✓"), os.fsencode(folder) + b"/t"):
                t.save(name)
                heddle.load(name, value="uint64").close()
                t.load(name)
                self.assertEqual(heddle.inspect(name)["size"], 100)
            for call in (t.load, heddle.load, heddle.inspect):
                with self.assertRaises(heddle.Error) as caught:
                    call(os.fsencode(folder) + b"/\xff\xfd")
                self.assertEqual(caught.exception.status, "HD_EIO")
                for wrong in ("a\0b", b"a\0b"):
                    self.assertRaises(ValueError, call, wrong)
                self.assertRaises(TypeError, call, 5)
            with open(os.path.join(folder, "bad"), "wb") as file:
                file.write(b"nothing" * 100)
            with self.assertRaises(heddle.Error) as caught:
                t.load(os.path.join(folder, "bad"))
            self.assertEqual(caught.exception.status, "HD_ECORRUPT")
            self.assertEqual(len(t), 100)


def fixed(info):
    """What a table and its copy have in common."""
    return {name: thing for name, thing in info.items() if name not in ("memory_bytes", "base_buckets")}


def state_of(thing):
    if isinstance(thing, heddle.Table):
        return thing.info, entries_of(thing)
    if isinstance(thing, heddle.Listed):
        return [part.tolist() for part in thing if part is not None]
    return str(thing), getattr(thing, "status", None), vars(thing) if isinstance(thing, heddle.Report) else None


class Sub(heddle.Table):
    def twice(self):
        return 2 * len(self)


def child_work(n):
    """What a process of multiprocessing does."""
    t = table(4 * MANY, threads=3)
    t.insert(u64(range(MANY)), u64(range(MANY)))
    return n * len(t)


def table_sum(t):
    return sum(t.find(u64(range(100))).value.tolist())


class Forks(unittest.TestCase):
    """Tables that were used by several threads before a fork. Python warns of forks beside threads."""

    def setUp(self):
        self.keys = u64(range(MANY))
        self.t = table(4 * MANY, threads=4)
        self.t.insert(self.keys, self.keys)
        self.addCleanup(self.t.close)
        quiet = warnings.catch_warnings()
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        warnings.simplefilter("ignore", DeprecationWarning)

    def in_child(self, work):
        """Runs `work` in a child, which must end within a minute."""
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.alarm(60)
                work()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def use(self):
        self.t.insert(self.keys, self.keys)
        assert len(self.t) == MANY and len(self.t.export().key) == MANY
        self.t.reserve(8 * MANY)
        self.t.clear()
        child_work(1)
        default = table(4 * MANY)
        default.insert(self.keys, self.keys)
        default.close()
        self.t.close()

    def test_fork(self):
        self.in_child(self.use)
        self.assertEqual(len(self.t), MANY)
        self.t.insert(self.keys, self.keys)

    def test_fork_of_a_child(self):
        self.in_child(lambda: (self.t.insert(self.keys, self.keys), self.in_child(self.use)))

    def test_fork_beside_a_thread(self):
        """Another thread has used a table; it uses none at the time of the fork."""
        thread = threading.Thread(target=child_work, args=(1,))
        thread.start()
        thread.join()
        self.in_child(self.use)

    def test_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            with context.Pool(2) as pool:
                self.assertEqual(pool.map_async(child_work, [1, 2]).get(60), [MANY, 2 * MANY])
                self.assertEqual(pool.apply_async(table_sum, (filled(),)).get(60), 4950)


class Interpreters(unittest.TestCase):
    def test_sub_interpreters_are_refused(self):
        """In one that may use such modules, and in an isolated one."""
        code = """
            import sys
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            import heddle
            for config in (["legacy"], ["isolated"]) if sys.version_info >= (3, 13) else ([], ):
                one = interpreters.create(*config)
                told = interpreters.run_string(one, '''if True:
                    try:
                        import heddle
                    except ImportError as error:
                        print("refused:", error)
                    else:
                        print("imported")
                ''')
                interpreters.destroy(one)
            t = heddle.Table(64, 8)
            t.insert([1], b"12345678")
            print(len(t))
        """
        if not optional("_interpreters") and not optional("_xxsubinterpreters"):
            self.skipTest("no sub-interpreters")
        text = python(code)
        self.assertNotIn("imported\n", text)
        self.assertIn("refused:", text)
        self.assertTrue(text.rstrip().endswith("1"), text)

    def test_development_mode(self):
        code = """
            import gc, heddle
            for backend in ("ref", "host"):
                with heddle.Table(64, "uint64", backend=backend) as t:
                    t.insert([1, 2], [3, 4], evicted=True).evicted
                    r = t.find([1, 2]); r.value, r.found, r.score
                    try:
                        t.find([1.5])
                    except heddle.Error:
                        pass
            t = heddle.Table(64, 8)
            t.me = t
            del t
            gc.collect()
            print("done")
        """
        self.assertEqual(python(code, "-X", "dev", "-W", "error").strip(), "done")

    def test_imported_twice(self):
        code = """
            import sys, heddle
            old = heddle.Table(64, "uint64")
            old.insert([1], [2])
            for name in [n for n in sys.modules if n.split(".")[0] == "heddle"]:
                del sys.modules[name]
            import heddle as again
            with again.Table(64, "uint64") as t:
                t.insert([5], [6])
                assert t.find([5]).value.tolist() == [6]
                assert old.find([1]).value.tolist() == [2]
                assert again.Error is not heddle.Error or True
                try:
                    t.find([1.5])
                except again.Error:
                    print("done")
        """
        self.assertEqual(python(code).strip(), "done")

    def test_end_of_the_process(self):
        """Tables, results and threads that are there at the end."""
        code = """
            import heddle, threading, time
            t = heddle.Table(1 << 16, "uint64", threads=2)
            keys = heddle._arrays.array.array("Q", range(1 << 15))
            r = t.find(keys)
            def work():
                while True:
                    t.insert(keys, keys)
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.05)
            print("done")
        """
        for _ in range(5):
            self.assertEqual(python(code).strip(), "done")


class Signals(unittest.TestCase):
    def test_interrupts(self):
        """Ctrl-C raises KeyboardInterrupt after the call; the table goes on."""
        keys = u64(range(1 << 17))
        with table(1 << 18, threads=2) as t:
            raised = 0
            for i in range(30):
                timer = threading.Timer(0.001 * (i % 10 + 1), os.kill, (os.getpid(), signal.SIGINT))
                try:
                    timer.start()
                    while True:
                        t.insert(keys, keys)
                        t.find(keys)
                except KeyboardInterrupt:
                    raised += 1
                timer.join()
            self.assertEqual(raised, 30)
            t.check()
            self.assertEqual(len(t), len(set(t)))
            self.assertEqual(t.find([1]).value.tolist(), [1])


class Clock(unittest.TestCase):
    def test_it_can_be_read_and_set(self):
        with filled(3, policy="lru") as t:
            self.assertEqual((t.clock, t.info["now"]), (3, 3))
            t.clock = 1000
            t.insert([4], [4])
            self.assertEqual((t.find([4]).score[0], t.clock), (1000, 1002))
            with self.assertRaisesRegex(heddle.Error, "clock"):
                t.clock = 2**63
            with self.assertRaises(AttributeError):
                del t.clock


if __name__ == "__main__":
    unittest.main()
