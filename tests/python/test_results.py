# SPDX-License-Identifier: Apache-2.0
"""The memory of results: rows of absent keys, arrays of the caller, and memory that later results get again."""

import array
import ctypes
import gc
import os
import random
import threading
import unittest

import producers
from producers import CUDA, Borrowed, Exchanged, Lent, of_u64
from reading import entries_of, heddle, numpy, optional, outcomes_of, resident_bytes, rows_of, u64

torch = optional("torch")
needs_torch = unittest.skipUnless(torch, "torch is missing")
MANY = 1 << 13  # keys of a batch whose result is large enough to be kept: 16 bytes and more each


def filled(n=MANY, value="uint64", **parameters):
    """A table with the keys 0 to n - 1, whose values are the keys."""
    t = heddle.Table(4 * n, value, **parameters)
    t.insert(u64(range(n)), u64(range(n)))
    return t


def address_of(thing):
    """Where the memory of an array is."""
    view = memoryview(thing)
    return ctypes.addressof((ctypes.c_char * view.nbytes).from_buffer(view))


def soil(result, names=("value", "score", "found", "outcome")):
    """Overwrites the arrays of a result, whose memory a later one may get."""
    for name in names:
        part = memoryview(getattr(result, name)).cast("B")
        part[:] = b"\xa5" * len(part)


class Case(unittest.TestCase):
    def refuses(self, pattern, call, *arguments, **options):
        with self.assertRaisesRegex(heddle.Error, f"^{pattern}") as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, "HD_EINVAL")


class AbsentKeys(Case):
    """Their rows are zero in new results, also in memory that was used before."""

    def check_result(self, keys, r, row, scores):
        for i, key in enumerate(keys):
            there = key < row
            self.assertEqual((bool(r.found[i]), r.value[i], r.score[i]), (there, *((key, scores[key]) if there else (0, 0))))

    def test_any_mixture(self):
        """Also where eight keys, and those after the last eight, are all there, or none is."""
        t, chance = filled(100), random.Random(1)
        heddle._core.pretend_device(True)  # new memory has bytes other than 0 then
        self.addCleanup(heddle._core.pretend_device, False)
        for n in (*range(0, 36), 64, 100):
            for share in (0, 0.1, 0.5, 0.9, 1):
                keys = u64(chance.randrange(100) + (0 if chance.random() < share else 1000) for _ in range(n))
                scores = {key: score for key, (_, score) in entries_of(t).items()}
                self.check_result(keys, t.find(keys), 100, scores)
                value = [key if key < 100 else 0 for key in keys]
                self.assertEqual(t.touch(keys).value.tolist(), value)

    def test_all_operations_in_used_memory(self):
        """Every operation of both designs gives the same in memory that is zero and in memory that is not."""
        heddle._core.pretend_device(False)
        for soiled in (False, True):
            heddle._core.pretend_device(soiled)
            self.addCleanup(heddle._core.pretend_device, False)
            results = []
            for backend in ("ref", "host"):
                for value in ("uint64", ("uint8", 3), 0):
                    results.append(self.all_results(heddle.Table(64, value, slots=16, seed=3, backend=backend)))
                results.append(self.hive_results(heddle.Table(64, "uint32", design="hive", seed=3, backend=backend)))
            if soiled:
                self.assertEqual(results, clean)
            clean = results

    def read(self, result):
        if result is None or isinstance(result, int):
            return result
        if isinstance(result, heddle.Listed):
            return [None if part is None else part.tolist() for part in result]
        if not isinstance(result, heddle.Result):
            return result.tolist()
        parts = [getattr(result, name) for name in ("outcome", "found", "value", "score")]
        listed = None if result.listed is None else sorted(zip(*[p for p in self.read(result.listed) if p is not None], strict=True))
        there = None if result.ptr is None else [bool(address) for address in result.ptr.tolist()]
        return [None if part is None else part.tolist() for part in parts], listed, there

    def all_results(self, t):
        def values(keys):
            size = t.info["value_bytes"]
            return u64(keys) if size == 8 else bytes(size * len(keys)) if size else b""

        some, more, all_ = u64(range(0, 40)), u64(range(20, 60)), u64(range(0, 90, 3))
        rows = [memoryview(bytearray(values(k))).cast("B") for k in (some, more, all_)]
        if t.info["value_bytes"] == 8:
            rows = [values(k) for k in (some, more, all_)]
        elif t.info["value_bytes"]:
            rows = [r.cast("B", (len(r) // 3, 3)) for r in rows]
        else:
            rows = [None] * 3
        calls = [
            lambda: t.insert(some, rows[0]), lambda: t.find(all_), lambda: t.find_missed(more), lambda: t.touch(more),
            lambda: t.insert(more, rows[1], evicted=True), lambda: t.find_or_insert(all_, rows[2]), lambda: t.find_ptr(some),
            lambda: t.find_or_insert_ptr(u64(range(100, 180))), lambda: t.contains(more), lambda: t.assign(all_, rows[2]),
            lambda: t.erase(all_), lambda: t.export(), lambda: t.find(u64([])), lambda: t.find_missed(u64([])),
            lambda: t.insert(u64([]), rows[0] and rows[0][:0], evicted=True), lambda: t.size(),
        ]  # fmt: skip
        return [self.read(call()) for call in calls]

    def hive_results(self, t):
        ops = bytes([heddle.Op.INSERT_OR_ASSIGN, heddle.Op.FIND, heddle.Op.ERASE, heddle.Op.FIND, heddle.Op.CONTAINS] * 4)
        keys = u64([1, 1, 2, 5, 1] * 4)
        return [self.read(t.mixed(ops, keys, array.array("I", range(20)))), self.read(t.find(keys)), self.read(t.export())]

    def test_out_keeps_or_clears(self):
        t = filled(100)
        for backend in ("ref", "host"):
            t = filled(100, backend=backend)
            for call in (t.find, t.touch, t.find_missed):
                keys, out = u64([5, 500, 6, 600]), u64([7] * 4)
                call(keys, out=out)
                self.assertEqual(out.tolist(), [5, 7, 6, 7])
                r = call(keys, out=out, zero=True)
                self.assertEqual(out.tolist(), [5, 0, 6, 0])
                self.assertIs(r.value, out)
            r = t.find(keys)
            t.find(u64([1, 2, 900, 901]), out=r)
            self.assertEqual(r.value.tolist(), [1, 2, 6, 0])
            t.find(u64([900, 2, 900, 901]), out=r, zero=True)
            self.assertEqual((r.value.tolist(), [s != 0 for s in r.score.tolist()]), ([0, 2, 0, 0], [False, True, False, False]))
        with self.assertRaises(TypeError):
            t.find_or_insert(keys, keys, zero=True)


class OwnArrays(Case):
    """out={...}: arrays of the caller, which alone are written."""

    def test_all_names(self):
        for backend in ("ref", "host"):
            t = filled(100, backend=backend)
            keys = u64([5, 500])
            out = {"value": u64([7, 7]), "score": u64([7, 7]), "outcome": bytearray(b"\7\7"), "found": bytearray(b"\7\7")}
            self.assertIs(t.find(keys, out=out), out)
            score = t.find(keys).score[0]
            self.assertEqual((out["value"].tolist(), out["score"].tolist()), ([5, 7], [score, 7]))
            self.assertEqual((bytes(out["outcome"]), bytes(out["found"])), (b"\1\0", b"\1\0"))
            t.find(keys, out=out, zero=True)
            self.assertEqual((out["value"].tolist(), out["score"].tolist()), ([5, 0], [score, 0]))
            for names in (["value"], ["score"], ["value", "score"]):  # what was found is not told
                some = {name: u64([7, 7]) for name in names}
                t.find(keys, out=some, zero=True)
                self.assertTrue(all(part[0] > 4 and part[1] == 0 for part in some.values()), some)
            self.assertEqual(t.find(keys, out={}), {})

    def test_all_operations(self):
        t = filled(100)
        keys, values = u64([5, 500]), u64([8, 9])
        for name in ("insert", "assign", "contains", "touch", "erase", "find", "find_or_insert", "find_ptr", "find_or_insert_ptr"):
            takes = [p["name"] for p in next(r for r in heddle._core.call_rows() if r["name"] == name)["parameters"]]
            out = {"outcome": bytearray(b"cc"), "found": bytearray(b"cc")}
            if name.endswith("ptr"):
                out["ptr"] = u64([1, 1])
            arguments, twin = (keys, values) if "values" in takes else (keys,), filled(100)
            getattr(t, name)(*arguments, out=out)
            expected = [int(o) for o in outcomes_of(getattr(twin, name)(*arguments))]
            self.assertEqual((list(out["outcome"]), list(out["found"])), (expected, [1, 0]), name)
            t = filled(100)
        both = {"value": u64([1, 1]), "ptr": u64([3, 3]), "found": bytearray(2)}
        t.insert(keys, values)
        t.touch(u64([5, 900]), out=both)
        self.assertEqual((both["value"].tolist(), both["ptr"][1], bytes(both["found"])), ([8, 1], 3, b"\1\0"))
        self.assertEqual(ctypes.c_uint64.from_address(both["ptr"][0]).value, 8)
        same = u64([70, 80])  # find_or_insert may write the values that it is given
        t.find_or_insert(u64([5, 901]), same, out={"value": same})
        self.assertEqual(same.tolist(), [8, 80])

    def test_wrong_ones(self):
        t = filled(100)
        keys, values = u64([1, 2]), u64([1, 2])
        for pattern, out in (
            ("out: find has no output 'ptr'", {"ptr": u64([0, 0])}),
            ("out: find has no output 'listed'", {"listed": u64([0, 0])}),
            ("out: a name is no text", {3: u64([0, 0])}),
            ("out\\['found'\\]: elements of type uint64", {"found": u64([0, 0])}),
            ("out\\['score'\\]: 3 rows, but there are 2 keys", {"score": u64([0, 0, 0])}),
            ("out\\['outcome'\\]: read-only", {"outcome": b"12"}),
            ("out: elements of type int32", {"value": array.array("i", [0, 0])}),
            ("out: overlaps keys", {"value": keys}),
            ("out\\['score'\\]: overlaps keys", {"score": keys}),
            ("out\\['score'\\]: overlaps out\\['value'\\]", {"value": values, "score": values}),
        ):
            self.refuses(pattern, t.find, keys, out=out)
        for name in ("insert", "contains", "erase", "find_ptr"):
            arguments = (keys, values) if name == "insert" else (keys,)
            self.refuses(f"out: {'insert_or_assign' if name == 'insert' else name} delivers no values", getattr(t, name), *arguments,
                         out=u64([0, 0]))  # fmt: skip
        self.refuses("out: find_missed delivers a list", t.find_missed, keys, out={})
        self.refuses("out: insert_and_evict delivers a list", t.insert, keys, values, evicted=True, out={})
        self.assertEqual((keys.tolist(), values.tolist()), ([1, 2], [1, 2]))

    def test_a_name_that_the_dict_loses(self):
        """The dict changes while an array of it is taken."""
        t = filled(100)
        out = {}

        class Own:
            def __dlpack__(self, **_):
                out.clear()
                raise BufferError("none")

        out["score"], out["outcome"], out["found"] = Own(), bytearray(1), bytearray(1)
        with self.assertRaises(heddle.Error):
            t.find(u64([1]), out=out)
        self.assertEqual(out, {})


class KeptMemory(Case):
    """Memory of this machine that no array uses any more is that of later results."""

    def setUp(self):
        heddle._core.pretend_device(False)  # gives back what is kept

    def test_is_used_again(self):
        t = filled()
        keys = u64(range(MANY))
        r = t.find(keys)
        at = address_of(r.value)
        soil(r)
        del r
        absent = u64(range(MANY, 2 * MANY))
        r = t.find(absent)
        self.assertEqual(address_of(r.value), at)
        self.assertFalse(any(r.value.tolist()) or any(r.score.tolist()) or any(r.found.tolist()))
        self.assertEqual(set(r.outcome.tolist()), {0})

    def test_is_not_used_again_while_an_array_has_it(self):
        t = filled()
        keys = u64(range(MANY))
        value, expected = t.find(keys).value, list(range(MANY))
        parts = [t.find(u64(range(i, MANY + i))).found for i in range(20)]
        self.assertEqual(value.tolist(), expected)
        self.assertEqual([sum(p.tolist()) for p in parts], [MANY - i for i in range(20)])
        self.assertEqual(len({address_of(p) for p in parts}), 20)
        listed = t.find_missed(u64(range(MANY // 2, MANY + MANY // 2))).missed.key
        t.close()
        del t
        other = filled()
        for _ in range(5):
            soil(other.find(keys))
        self.assertEqual((value.tolist(), sorted(listed.tolist())), (expected, list(range(MANY, MANY + MANY // 2))))

    def test_sizes(self):
        """Results of many sizes, in any order."""
        t, chance, alive = filled(1 << 15), random.Random(2), []
        for _ in range(300):
            n = chance.choice((1, 100, 5000, 9000, 20_000, 30_000))
            first = chance.randrange(1 << 15)
            r = t.find(u64(range(first, first + n)))
            alive.append((r, first, n))
            if len(alive) > 3:
                r, first, n = alive.pop(chance.randrange(4))
                there = max(0, min(n, (1 << 15) - first))
                self.assertEqual(r.value.tolist(), [*range(first, first + there), *[0] * (n - there)])
                soil(r)

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "the address sanitizer keeps freed memory")
    def test_is_bounded(self):
        """64 MiB at most are kept, in 8 pieces at most."""
        t = heddle.Table(1024, 1 << 14)
        gc.collect()
        before = resident_bytes()
        alive = []
        for n in (1 << 13, 1 << 12, *[1 << 10] * 12):  # 128 MiB, 64 MiB, 16 MiB each
            alive.append(t.find(u64(range(n))))
            soil(alive[-1], ("value",))
        del alive
        gc.collect()
        self.assertLess(resident_bytes() - before, 100 << 20)
        heddle._core.pretend_device(False)
        self.assertLess(resident_bytes() - before, 30 << 20)

    def test_threads(self):
        """Results of all threads are right, although they get each other's memory."""
        tables, errors = [filled(), filled()], []

        def work(seed):
            chance = random.Random(seed)
            try:
                for _ in range(40):
                    first = chance.randrange(MANY)
                    r = tables[seed % 2].find(u64(range(first, first + MANY)))
                    value, there = r.value, MANY - first
                    if value.tolist() != [*range(first, MANY), *[0] * first] or sum(r.found.tolist()) != there:
                        errors.append((seed, first))
                    soil(r)
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    @needs_torch
    def test_torch(self):
        t = filled()
        keys = torch.arange(MANY)
        r = t.find(keys)
        value, at = r.value[10:20], r.value.data_ptr()
        del r
        self.assertNotEqual(t.find(keys).value.data_ptr(), at)
        self.assertEqual(value.tolist(), list(range(10, 20)))
        del value
        self.assertEqual(t.find(keys).value.data_ptr(), at)


class KeptMemoryOfDevices(Case):
    """Memory of a device is used again if no array was made over it, on the same stream."""

    def setUp(self):
        producers.lent.clear()
        heddle._core.pretend_device(True)
        self.addCleanup(heddle._core.pretend_device, False)
        self.t = heddle.Table(256, "uint64", backend="host")
        self.t.insert([1, 2], [5, 6])
        self.addCleanup(setattr, Exchanged, "current", Exchanged.current)

    def allocated(self, call, times=1):
        """How often the library allocated."""
        before = Exchanged.allocated
        for _ in range(times):
            call()
        return Exchanged.allocated - before

    def test_is_used_again(self):
        for kind in (Borrowed, Lent):
            heddle._core.pretend_device(True)
            keys, out = of_u64(u64([2, 9]), kind), of_u64(u64([8, 8]), kind)
            self.assertEqual(self.allocated(lambda: self.t.find(keys, out=out), 5), 1)
            self.assertEqual(out.data.tolist(), [6, 8])
            self.assertEqual(self.allocated(lambda: self.t.find(keys), 5), 0)
            more = of_u64(u64(range(500)), kind)
            self.assertEqual(self.allocated(lambda: self.t.find(more), 5), 1)
            self.assertEqual(self.allocated(lambda: self.t.find(keys), 5), 0)

    def test_memory_of_an_array_is_not(self):
        for kind in (Borrowed, Lent):
            heddle._core.pretend_device(True)
            keys = of_u64(u64([2, 9]), kind)
            self.assertEqual(self.allocated(lambda: self.t.find(keys).value, 5), 5)
            self.assertEqual(self.allocated(lambda: self.t.contains(keys), 5), 5)
            self.assertEqual(self.allocated(lambda: self.t.insert(keys, [5, 9], evicted=True).evicted, 5), 5)
            gc.collect()
            self.assertEqual(producers.lent, {})

    def test_a_result_that_is_alive_keeps_its_memory(self):
        keys = of_u64(u64([2, 1]), Borrowed)
        alive = [self.t.find(keys) for _ in range(3)]
        self.assertEqual(self.allocated(lambda: self.t.find(keys)), 1)
        self.assertEqual([r.value.tolist() for r in alive], [[6, 5]] * 3)

    def test_used_memory_is_cleared(self):
        keys, absent = of_u64(u64([1, 2]), Borrowed), of_u64(u64([8, 9]), Borrowed)
        self.t.find(keys)
        r = self.t.find(absent)
        self.assertEqual((r.value.tolist(), r.score.tolist(), r.found.tolist()), ([0, 0], [0, 0], [False, False]))

    def test_streams_and_devices(self):
        keys = of_u64(u64([2, 9]), Borrowed)
        self.assertEqual(self.allocated(lambda: self.t.find(keys), 2), 1)
        Exchanged.current = 0x60
        self.assertEqual(self.allocated(lambda: self.t.find(keys), 2), 1)
        Exchanged.current = 0x50
        self.assertEqual(self.allocated(lambda: self.t.find(keys), 2), 0)
        self.assertEqual(self.allocated(lambda: self.t.find(keys, stream=0x50), 2), 2)  # the library's own may be another
        self.assertEqual(self.allocated(lambda: self.t.find(keys), 2), 0)
        elsewhere = of_u64(u64([2, 9]), Borrowed, device=(CUDA, 1))
        self.assertEqual(self.allocated(lambda: self.t.find(elsewhere), 2), 1)

    def test_is_given_back(self):
        keys = of_u64(u64([2, 9]), Borrowed)
        for n in range(1, 40):
            alive = [self.t.find(of_u64(u64(range(1000 * i, 2000 * i)), Borrowed)) for i in range(1, 12)]
            del alive
        self.assertEqual(len(producers.lent), 8)
        self.t.find(keys, out=of_u64(u64([8, 8]), Borrowed))
        self.t.close()
        heddle._core.pretend_device(False)
        self.assertEqual(producers.lent, {})

    def test_outcomes_alone_are_the_library_s_array(self):
        for kind in (Borrowed, Lent):
            keys, taken = of_u64(u64([2, 9]), kind), len(producers.taken)
            fate = self.t.contains(keys)
            self.assertEqual((type(fate), fate.device, fate.shape, fate.tolist()), (Exchanged, (CUDA, 0), (2,), [1, 0]))
            self.assertEqual(len(producers.taken), taken)  # it is no array over a result
            self.assertEqual(self.t.erase(of_u64(u64([]), kind)).tolist(), [])

    def test_own_arrays(self):
        for kind in (Borrowed, Lent):
            heddle._core.pretend_device(True)
            keys = of_u64(u64([2, 9]), kind)
            found = producers.Producer(bytearray(2), producers.BOOL, 8, (2,))
            out = {"value": of_u64(u64([8, 8]), kind), "found": found}
            self.assertEqual(self.allocated(lambda: self.t.find(keys, out=out)), 0)
            self.assertEqual((out["value"].data.tolist(), bytes(found.data)), ([6, 8], b"\1\0"))
            self.t.find(keys, out=out, zero=True)
            self.assertEqual(out["value"].data.tolist(), [6, 0])


if __name__ == "__main__":
    unittest.main()
