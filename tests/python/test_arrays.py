# SPDX-License-Identifier: Apache-2.0
"""Arrays of all kinds as arguments and results: what is taken, in place, and what is refused with an error that names
the argument. Devices, streams and ownership are tested with producers of DLPack that pretend (producers.py)."""

import array
import collections
import gc
import mmap
import sys
import unittest

import producers
from reading import RESERVED, entries_of, heddle, numpy, optional, outcomes_of, rows_of, u64
from producers import CPU, CUDA, CUDA_HOST, CUDA_MANAGED, FLOAT, INT, UINT, Borrowed, Lent, OldProducer, Producer, of_u64

from heddle import Outcome

torch = optional("torch")
strict = optional("array_api_strict")
needs_numpy = unittest.skipUnless(numpy, "NumPy is missing")
needs_torch = unittest.skipUnless(torch, "torch is missing")
needs_strict = unittest.skipUnless(strict, "array_api_strict is missing")
HIT, MISS = Outcome.HIT, Outcome.MISS


class Case(unittest.TestCase):
    def refuses(self, pattern, call, *arguments, **options):
        """The call raises heddle.Error, whose text begins with the pattern."""
        with self.assertRaisesRegex(heddle.Error, f"^{pattern}") as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, "HD_EINVAL")
        return caught.exception

    def table(self, value="uint64", **parameters):
        t = heddle.Table(256, value, **parameters)
        self.addCleanup(t.close)
        return t


class Keys(Case):
    """What may be keys."""

    def setUp(self):
        self.t = self.table()
        self.t.insert(u64(range(10)), u64(range(100, 110)))

    def takes(self, keys, n, hits):
        r = self.t.find(keys)
        self.assertEqual(len(r), n)
        self.assertEqual(sum(bool(r.found[i]) for i in range(n)), hits)
        return r

    def test_plain_things(self):
        for keys in ([1, 2, 99], (1, 2, 99), range(1, 3), iter([1, 2]), {1, 2}, {1: 0, 2: 0}.keys(), u64([1, 2]),
                     array.array("q", [1, 2]), array.array("L", [1, 2]), memoryview(u64([1, 2])),
                     collections.deque([1, 2]), (k for k in [1, 2])):  # fmt: skip
            n = len(keys) if hasattr(keys, "__len__") else 2
            self.takes(keys, n, 2)
        for key in (3, True):
            self.takes(key, 1, 1)

    def test_negative_numbers_are_64_bits(self):
        self.t.insert([-5, 7], u64([1, 2]))
        self.assertIn(2**64 - 5, self.t)
        self.assertIn(-5, self.t)
        self.refuses("keys: ", self.t.find, [-5, 2**63])

    def test_empty(self):
        for keys in ([], (), u64([]), range(0), memoryview(u64([]))):
            for name in ("find", "contains", "find_ptr", "find_missed", "touch", "erase", "find_or_insert_ptr"):
                result = getattr(self.t, name)(keys)
                self.assertEqual(outcomes_of(result), [])
            self.assertEqual(outcomes_of(self.t.insert(keys, [])), [])
            self.assertEqual(outcomes_of(self.t.insert(keys, keys, evicted=True)), [])
        self.refuses("keys: 0 dimensions|keys: elements", self.t.find, b"")

    def test_reserved(self):
        for keys in (list(RESERVED), array.array("q", [-1, -2, -3]), u64(RESERVED)):
            for name in ("find", "contains", "erase", "touch", "find_missed"):
                self.assertEqual(outcomes_of(getattr(self.t, name)(keys)), [Outcome.RESERVED] * 3)
            self.assertEqual(outcomes_of(self.t.insert(keys, [1, 2, 3])), [Outcome.RESERVED] * 3)
        for key in (*RESERVED, -1):
            self.assertNotIn(key, self.t)
        self.assertEqual(len(self.t), 10)

    def test_wrong_things(self):
        for keys in ("12", ["1"], [1.5], [1.0], 1.0, [None], [[1], [2]], [1, [2]], object(), {"a": 1}, [2**64], [-(2**63) - 1],
                     2**64, u64, [1j], Ellipsis):  # fmt: skip
            self.refuses("keys: ", self.t.find, keys)
            self.refuses("keys: ", self.t.insert, keys, u64([1]))
        self.refuses("keys: None", self.t.find, None)
        for form in "bBhHiIfd":
            self.refuses("keys: elements of type .*; uint64 or int64 is needed", self.t.find, array.array(form, [1, 2]))
        for keys in (b"12345678", bytearray(8), memoryview(bytes(8)), mmap.mmap(-1, 16)):
            self.refuses("keys: elements of type uint8", self.t.find, keys)
        self.assertRaises(TypeError, self.t.find)
        self.assertRaises(TypeError, self.t.find, [1], [2])
        self.assertRaises(TypeError, self.t.find, [1], keys=[2])
        self.assertRaises(TypeError, self.t.find, [1], key=[2])
        self.assertEqual(len(self.t), 10)

    def test_a_list_that_contains_itself(self):
        endless = []
        endless.append(endless)
        self.refuses("keys: sequences are nested more than 16 deep", self.t.find, endless)
        self.refuses("values: sequences are nested more than 16 deep", self.t.insert, [1], endless)

    def test_misaligned(self):
        """The library takes values at any address, and everything else at addresses of its type."""
        view = lambda form, n: memoryview(bytearray(n * array.array(form).itemsize + 1))[1:].cast(form)  # noqa: E731
        keys, out = view("Q", 3), view("Q", 3)
        for name in ("find", "contains", "touch", "erase", "find_ptr", "find_missed", "find_or_insert_ptr"):
            self.refuses("keys: misaligned", getattr(self.t, name), keys)
        self.refuses("scores: misaligned", self.t.touch, [1, 2, 3], out)
        self.refuses("keys: misaligned", self.t.find, Producer(bytearray(25), UINT, 64, (3,), (CPU, 0), offset=1))
        for name in ("score", "ptr"):
            call = self.t.find if name == "score" else self.t.find_ptr
            self.refuses(rf"out\['{name}'\]: misaligned", call, [1, 2, 3], out={name: out})
        o = self.table(design="sl")
        self.refuses("upper: misaligned", o.range, [1, 2, 3], keys, 1)
        self.refuses(r"out\['rows'\]: misaligned", o.range, [1], [2], 1, out={"rows": view("I", 1)})
        self.t.insert([1, 2, 3], keys)
        self.t.find([1, 2, 3], out=out)
        self.assertEqual(out.tolist(), keys.tolist())
        self.takes(view("Q", 0), 0, 0)

    def test_errors_of_iterables(self):
        def broken():
            yield 1
            raise LookupError("no more")

        error = self.refuses("keys: no more", self.t.find, broken())
        self.assertIsInstance(error.__cause__, LookupError)

        def stopped():
            yield 1
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, self.t.find, stopped())

    def test_shapes(self):
        two = memoryview(bytes(32)).cast("Q", (2, 2))
        self.refuses("keys: 2 dimensions instead of 1", self.t.find, two)
        self.refuses("keys: not contiguous", self.t.find, memoryview(u64(range(8)))[::2])
        self.refuses("keys: not contiguous", self.t.find, memoryview(u64(range(8)))[::-1])
        self.takes(memoryview(u64(range(8)))[2:4], 2, 2)

    def test_close_inside_of_arguments(self):
        t = self.t

        class Closes:
            def __index__(self):
                t.close()
                return 0

        self.assertEqual(len(t.export(Closes()).key), 10)
        self.assertTrue(t.closed)
        self.refuses("the table is closed", t.find, [1])

    @needs_numpy
    def test_numpy(self):
        n = numpy
        for dtype in ("uint64", "int64", "=u8", "<i8", n.longlong, n.ulonglong, n.intp):
            r = self.takes(n.array([1, 2, 99], dtype), 3, 2)
            for out, want in ((r.value, "uint64"), (r.found, "bool"), (r.score, "uint64"), (r.outcome, "uint8")):
                self.assertIs(type(out), n.ndarray)
                self.assertEqual(out.dtype, want)
        self.takes(n.array(1, "int64"), 1, 1)
        self.takes(n.uint64(1), 1, 1)
        self.takes(n.array([1, 2], "u8").view(type("Own", (n.ndarray,), {})), 2, 2)
        self.takes(n.array([[1, 2]], "u8")[0], 2, 2)
        self.takes([n.int32(1), n.uint64(2)], 2, 2)
        frozen = n.array([1, 2], "u8")
        frozen.flags.writeable = False
        self.takes(frozen, 2, 2)
        for dtype in ("int32", "uint32", "float64", "float32", "bool", "uint8", "float16"):
            self.refuses("keys: elements of type", self.t.find, n.array([1, 2], dtype))
        other = f"{'>' if sys.byteorder == 'little' else '<'}"
        for dtype, said in ((other + "u8", "uint64 of the other byte order"), (other + "f4", "float32 of the other byte order"),
                            ("u4,u4", "structure"), ("U1", "text"), ("S8", "text"), ("complex128", "complex128"),
                            (other + "c8", "complex64 of the other byte order"), ("longdouble", "float128"),
                            ("M8[s]", r"datetime64\[s\]"), ("float64", "float64")):  # fmt: skip
            self.refuses(f"keys: elements of type {said}[,;:]", self.t.find, n.zeros(2, dtype))
            if dtype != "float64":
                self.refuses(f"values: elements of type {said}[,;:]", self.t.insert, u64([1, 2]), n.zeros(2, dtype))
        self.refuses("keys: elements are Python objects", self.t.find, n.array([1, 2], object))
        for wrong in (n.arange(8)[::2], n.arange(8)[::-1], n.arange(8).reshape(2, 4).T[1], n.arange(4).reshape(2, 2),
                      n.broadcast_to(n.uint64(1), (4,))):  # fmt: skip
            self.refuses("keys: ", self.t.find, wrong)

    @needs_strict
    def test_array_api(self):
        r = self.takes(strict.asarray([1, 2, 99], dtype=strict.uint64), 3, 2)
        for out in (r.value, r.found, r.score, r.outcome):
            self.assertIs(type(out), type(strict.asarray(1)))
        self.assertEqual(r.value.dtype, strict.uint64)
        self.refuses("keys: ", self.t.find, strict.asarray([1.0, 2.0]))

    @needs_torch
    def test_torch(self):
        r = self.takes(torch.tensor([1, 2, 99]), 3, 2)
        for out in (r.value, r.found, r.score, r.outcome):
            self.assertIs(type(out), torch.Tensor)
        self.assertEqual((r.value.dtype, r.found.dtype), (torch.uint64, torch.bool))
        self.takes(torch.tensor(1), 1, 1)
        self.takes(torch.tensor([1, 2], dtype=torch.uint64), 2, 2)
        self.takes(torch.arange(8)[2:4], 2, 2)
        self.takes(torch.empty(0, dtype=torch.int64), 0, 0)
        self.takes(torch.nn.Parameter(torch.tensor([1, 2]), requires_grad=False), 2, 2)
        for wrong in (torch.arange(8)[::2], torch.arange(4).view(2, 2), torch.tensor([1.0]), torch.tensor([True]),
                      torch.tensor([1], dtype=torch.int32), torch.tensor([1]).expand(3),
                      torch.tensor([1, 0]).to_sparse(), torch.empty(2, dtype=torch.int64, device="meta")):  # fmt: skip
            self.refuses("keys: ", self.t.find, wrong)

    def test_producers(self):
        for kind in (Producer, OldProducer):
            keys = of_u64(u64([1, 2, 99]), kind, device=(CPU, 0))
            self.takes(keys, 3, 2)
            self.assertEqual(keys.streams, [None])
        self.takes(Producer(u64([7, 1, 2]), UINT, 64, (2,), (CPU, 0), offset=8), 2, 2)
        self.takes(Producer(u64([1, 2]), INT, 64, (2,), (CPU, 0), strides=(1,)), 2, 2)
        for kind in (CUDA_HOST, CUDA_MANAGED):
            self.takes(of_u64(u64([1, 2]), device=(kind, 0)), 2, 2)
        self.takes(Producer(u64([1]), UINT, 64, (1,), (CPU, 0), strides=(77,)), 1, 1)
        self.takes(Producer(u64([]), UINT, 64, (0,), (CPU, 0), strides=(5,)), 0, 0)
        self.takes(Producer(u64([1]), UINT, 64, (), (CPU, 0)), 1, 1)


class Values(Case):
    """What may be values, scores and flags."""

    def test_types(self):
        for value, form, other in (("uint64", "Q", "q"), ("int64", "q", "Q"), ("float32", "f", "i"), ("float64", "d", "q"),
                                   ("int32", "i", "f"), ("uint16", "H", "h"), ("int8", "b", "B"), ("uint8", "B", "b")):  # fmt: skip
            t = self.table(value)
            t.insert([1, 2], array.array(form, [3, 4]))
            self.assertEqual(t.find([2, 1]).value.tolist(), [4, 3])
            t.insert([1, 2], [5, 6])
            self.assertEqual(t.find([2, 1]).value.tolist(), [6, 5])
            self.refuses("values: elements of type", t.insert, [1, 2], array.array(other, [3, 4]))
            self.refuses("values: ", t.insert, [1, 2], ["3", "4"])
            if form not in "fd":
                self.refuses("values: ", t.insert, [1, 2], [1.5, 2])
            self.assertEqual(t.find([2, 1]).value.tolist(), [6, 5])

    def test_bool(self):
        t = self.table("bool")
        t.insert([1, 2], [True, False])
        self.assertEqual(t.find([1, 2]).value.tolist(), [True, False])
        self.refuses("values: ", t.insert, [1, 2], [2, 3])

    def test_halves(self):
        for value in ("float16", "bfloat16"):
            t = self.table((value, 2))
            data = memoryview(array.array("H", [1, 2, 3, 4])).cast("B").cast("H", (2, 2))
            if value == "bfloat16":
                t.insert([1, 2], data)
            else:
                self.refuses("values: elements of type uint16", t.insert, [1, 2], data)
                t.insert([1, 2], Producer(array.array("H", [1, 2, 3, 4]), FLOAT, 16, (2, 2), (CPU, 0)))
            value = t.find([2, 1]).value
            self.assertEqual(value.shape, (2, 2))
            self.assertEqual(bytes(memoryview(value).cast("B")), bytes(array.array("H", [3, 4, 1, 2])))
            self.refuses("values: ", t.insert, [1], [[1.0, 2.0]])

    def test_shapes(self):
        t = self.table(("float32", (2, 3)))
        six = array.array("f", range(12))
        rows = memoryview(six).cast("B")
        t.insert([1, 2], rows.cast("f", (2, 2, 3)))
        self.assertEqual(t.find([2]).value.tolist(), [[[6, 7, 8], [9, 10, 11]]])
        t.insert([1, 2], rows.cast("f", (2, 6)))  # rows may be flat
        t.insert([1, 2], [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]])
        t.insert(3, [[0, 1, 2], [3, 4, 5]])  # one value
        for shape in ((2, 3, 2), (12,), (1, 2, 2, 3), (6, 2), (3, 4), (4, 3), (2, 3, 2, 1)):
            self.refuses("values: ", t.insert, [1, 2], rows.cast("f", shape))
        for wrong in ([[0, 1, 2], [3, 4, 5]], [[[0, 1], [2, 3], [4, 5]]] * 2, [[[0, 1, 2, 3], [4, 5]]] * 2, [0] * 12, 1.0):
            self.refuses("values: ", t.insert, [1, 2], wrong)
        self.assertEqual(len(t), 3)
        self.assertEqual(t.find([9, 9]).value.shape, (2, 2, 3))

    def test_opaque(self):
        t = self.table(8)
        for values in (memoryview(b"12345678abcdefgh").cast("B", (2, 8)), u64([1, 2]), array.array("d", [1, 2]),
                       memoryview(bytes(16)).cast("i", (2, 2))):  # fmt: skip
            t.insert([1, 2], values)
            want = bytes(memoryview(values).cast("B"))
            self.assertEqual(bytes(memoryview(t.find([1, 2]).value).cast("B")), want)
        t.insert([1], b"12345678")
        t.insert([1], bytearray(b"12345678"))
        with mmap.mmap(-1, 8) as m:
            t.insert([1], m)
        self.assertEqual(t.find([1, 2, 3]).value.shape, (3, 8))
        self.refuses("values: 16 rows, but there are 2 keys", t.insert, [1, 2], bytes(16))
        self.refuses("values: 8 bytes, but 2 values have 16", t.insert, [1, 2], array.array("f", [1, 2]))
        self.refuses("accum_or_assign: ", t.accum_or_assign, [1], b"12345678")

    @needs_numpy
    def test_structures(self):
        dtype = numpy.dtype([("first Object", "f4"), ("b", "i4")])
        t = self.table(dtype)
        values = numpy.array([(1.5, 2), (2.5, 3)], dtype)
        t.insert([1, 2], values)
        self.assertEqual(t.find([2, 1]).value.view(dtype).ravel().tolist(), [(2.5, 3), (1.5, 2)])
        out = numpy.zeros(2, dtype)
        t.find([1, 2], out=out)
        self.assertEqual(out.tolist(), values.tolist())
        for wrong in (numpy.array([{}, []], object), numpy.array([(None,)] * 2, [("x", "O")])):
            self.refuses("values: elements are Python objects", t.insert, [1, 2], wrong)

    @needs_numpy
    def test_numpy(self):
        n = numpy
        t = self.table(n.dtype((n.float32, 4)))
        values = n.arange(8, dtype="f4").reshape(2, 4)
        t.insert([1, 2], values)
        self.assertEqual(t.find(n.array([2, 1])).value.tolist(), values[::-1].tolist())
        for wrong in (values.astype("f8"), values.astype(">f4"), values[:, ::2], values.T, values[::-1], values[:1],
                      n.asfortranarray(values), values.astype("i4"), n.zeros((2, 4), "f4").astype(object)):  # fmt: skip
            self.refuses("values: ", t.insert, [1, 2], wrong)
        self.assertEqual(len(t), 2)

    @needs_torch
    def test_torch(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int32):
            t = self.table((dtype, 4))
            values = torch.arange(8).reshape(2, 4).to(dtype)
            t.insert(torch.tensor([1, 2]), values)
            r = t.find(torch.tensor([2, 1, 7]))
            self.assertEqual((r.value.dtype, r.value.shape), (dtype, (3, 4)))
            self.assertTrue(torch.equal(r.value[:2], values.flip(0)))
            for wrong in (values.double(), values.t(), values[:, ::2], values.bool(), values[:1]):
                self.refuses("values: ", t.insert, torch.tensor([1, 2]), wrong)

    def test_sets(self):
        t = self.table(0)
        t.insert([1, 2])
        r = t.find([1, 3])
        self.assertIsNone(r.value)
        self.assertEqual(r.found.tolist(), [True, False])
        self.refuses("values: ", t.insert, [1, 2], [3, 4])
        self.refuses("out: ", t.find, [1, 2], out=u64([0, 0]))

    def test_missing_values(self):
        t = self.table()
        for name in ("insert", "assign", "accum_or_assign", "find_or_insert"):
            with self.assertRaisesRegex(heddle.Error, "value"):
                getattr(t, name)([1])

    def test_scores_flags_and_ops(self):
        t = self.table(policy="custom")
        t.insert([1, 2], [3, 4], [5, 6])
        t.insert([1, 2], [3, 4], scores=array.array("q", [7, 8]))
        self.assertEqual(sorted(s for _, s in entries_of(t).values()), [7, 8])
        for wrong in (u64([1]), [1.5, 2], array.array("i", [1, 2]), memoryview(u64(range(4)))[::2], 5, [[1], [2]]):
            self.refuses("scores: ", t.insert, [1, 2], [3, 4], wrong)
        with self.assertRaisesRegex(heddle.Error, "score"):
            t.insert([1, 2], [3, 4])
        t.accum_or_assign([1, 2], [1, 1], [9, 9], flags=b"\1\1")
        t.accum_or_assign([1, 2], [1, 1], [9, 9], flags=[heddle.Accum.ADD] * 2)
        for wrong in (b"\1", [300, 1], u64([1, 1]), b"\1\7"):
            with self.assertRaisesRegex(heddle.Error, "flag"):
                t.accum_or_assign([1, 2], [1, 1], [9, 9], flags=wrong)
        h = self.table("uint32", design="hive")
        r = h.mixed([heddle.Op.INSERT_OR_ASSIGN, heddle.Op.FIND], [1, 1], [5, 0])
        self.assertEqual(len(r), 2)
        for wrong in (b"\1", [300, 1], u64([1, 1]), bytes([heddle.Op.TOUCH, 0]), b"\xff\0", None):
            with self.assertRaises(heddle.Error):
                h.mixed(wrong, [1, 1], [5, 0])

    def test_numbers(self):
        t = self.table()
        t.insert([1], [1])
        for wrong in (-1, 2**64):
            self.refuses("holder: not a number from 0", t.lock_keys, [1], wrong)
            self.refuses("start: not a number from 0", t.export, wrong)
            self.refuses("slots: not a number from 0", t.export, 0, wrong)
            self.refuses("a: not a number from 0", t.size_if, "key_in", wrong, 5)
            self.refuses("buckets: not a number from 0", t.grow, wrong)
            self.refuses("capacity: not a number from 0", t.reserve, wrong)
            self.refuses("epoch: ", setattr, t, "epoch", wrong)
        self.refuses("epoch: ", setattr, t, "epoch", 2**32)
        self.refuses("holder: None", t.lock_keys, [1], None)
        self.refuses("predicate: None", t.size_if, None)
        for wrong in (1.5, "1"):
            self.assertRaises(TypeError, t.lock_keys, [1], wrong)
            self.assertRaises(TypeError, t.grow, wrong)
        self.assertRaises(TypeError, t.size_if, 5)
        self.assertRaises(AttributeError, delattr, t, "epoch")
        places = t.info["places"]
        for start, slots in ((0, places + 1), (places, 1), (0, 1 << 61), (1, 2**64 - 1)):
            self.refuses("slots: ", t.export, start, slots)
        with self.assertRaises(heddle.Error):
            t.export(places + 1)
        self.assertEqual(len(t.export(places)), 0)
        if numpy:
            t.reserve(numpy.int64(300))
            self.assertEqual(t.size_if("key_in", numpy.uint8(1), numpy.int64(1)), 1)

    def test_tables(self):
        for value in ("float31", "text", object(), ("float32", -1), ("float32", 1 << 40), ("float32", (1,) * 9), -1, 1 << 40):
            with self.assertRaises((heddle.Error, ValueError, TypeError, OverflowError)):
                heddle.Table(64, value)
        self.assertRaises(TypeError, heddle.Table, 64, 8, no_such="x")
        for wrong in ({"capacity": "x"}, {"capacity": 64, "backend": "x"}, {"capacity": 64, "policy": "x"}, {"capacity": -1}):
            with self.assertRaises(heddle.Error):
                heddle.Table(value=8, **wrong)


class Outputs(Case):
    """The argument `out`, and results."""

    def setUp(self):
        self.t = self.table()
        self.t.insert(u64(range(10)), u64(range(100, 110)))

    def test_arrays(self):
        for out in (u64([7, 7, 7]), memoryview(u64([7, 7, 7])), numpy and numpy.array([7, 7, 7], "u8"),
                    torch and torch.tensor([7, 7, 7], dtype=torch.uint64)):  # fmt: skip
            if out is None:
                continue
            r = self.t.find([1, 99, 2], out=out)
            self.assertEqual(out.tolist(), [101, 7, 102])
            self.assertIs(r.value, out)
            self.assertEqual(r.found.tolist(), [True, False, True])
            self.assertIsNone(r.score)

    def test_wrong_arrays(self):
        for out in (u64([7, 7]), array.array("q", [7] * 3), array.array("d", [7] * 3), [7, 7, 7], (7, 7, 7), 7, "out", bytes(24),
                    memoryview(bytes(24)).cast("Q"), memoryview(u64([7] * 6))[::2], bytearray(24), object()):  # fmt: skip
            self.refuses("out: ", self.t.find, [1, 99, 2], out=out)
        if numpy:
            frozen = numpy.zeros(3, "u8")
            frozen.flags.writeable = False
            for out in (frozen, numpy.zeros(6, "u8")[::2], numpy.zeros((3, 1), "u4"), numpy.zeros(3, ">u8")):
                self.refuses("out: ", self.t.find, [1, 99, 2], out=out)

    def test_overlap(self):
        shared = u64(range(12))
        view = memoryview(shared)
        for keys, out in ((view[:6], view[:6]), (view[:6], view[5:11]), (view[5:11], view[:6])):
            self.refuses("out: overlaps keys", self.t.find, keys, out=out)
        self.t.find(view[:6], out=view[6:])
        shared = u64(range(12))
        view = memoryview(shared)
        self.refuses("out: overlaps values", self.t.find_or_insert, [1, 2, 3], view[:3], out=view[1:4])
        self.refuses("out: overlaps scores", self.t.touch, [1, 2, 3], view[:3], out=view[1:4])
        self.refuses("out: overlaps scores", self.t.find_or_insert, [1, 2, 3], view[:3], view[3:6], out=view[3:6])
        h = self.table("uint32", design="hive")
        values = array.array("I", [1, 2])
        self.refuses("out: overlaps values", h.mixed, [heddle.Op.FIND] * 2, [1, 2], values, out=values)

    def test_find_or_insert_in_place(self):
        values = u64([7, 8, 9])
        r = self.t.find_or_insert([1, 50, 2], values, out=values)
        self.assertEqual(values.tolist(), [101, 8, 102])
        self.assertEqual(outcomes_of(r), [HIT, Outcome.INSERTED, HIT])

    def test_results_again(self):
        r = self.t.find([1, 99, 2])
        value, found, outcome = r.value, r.found, r.outcome
        self.assertIs(self.t.find([3, 4, 98], out=r), r)
        self.assertEqual(value.tolist(), [103, 104, 102])
        self.assertEqual(found.tolist(), [True, True, False])
        self.assertIs(r.outcome, outcome)
        out = u64([7, 7, 7])
        r = self.t.find([1, 99, 2], out=out)
        self.t.find([3, 98, 4], out=r)
        self.assertEqual(out.tolist(), [103, 7, 104])
        mixed = self.table("uint32", design="hive")
        r = mixed.mixed([heddle.Op.FIND] * 2, [1, 2], array.array("I", [1, 2]))
        self.refuses("out: the result of another kind of call", mixed.insert, [1, 2], array.array("I", [1, 2]), out=r)
        m = self.t.find_missed([1, 99, 98])
        first = m.missed
        self.assertEqual(sorted(first.key.tolist()), [98, 99])
        self.t.find_missed([97, 1, 2], out=m)
        self.assertEqual(m.missed.key.tolist(), [97])

    def test_wrong_results(self):
        r = self.t.find([1, 99, 2])
        for call in (lambda: self.t.find([1, 2], out=r), lambda: self.t.touch([1, 2, 3], out=r),
                     lambda: self.table(12).find([1, 2, 3], out=r), lambda: self.t.find_missed([1, 2, 3], out=r),
                     *(lambda v=value: self.table(v).find([1, 2, 3], out=r)
                       for value in ("int64", "float64", 8, ("uint32", 2), ("uint64", (1,))))):  # fmt: skip
            self.refuses("out: the result of another kind of call", call)
        for part in (r.score, r.value):
            self.refuses("out: overlaps keys", self.t.find, part, out=r)

    def test_parts_that_were_not_delivered(self):
        r = self.t.find([1])
        self.assertIsNone(r.ptr)
        self.assertIsNone(r.evicted)
        self.assertRaises(AttributeError, getattr, r, "nothing")
        self.assertRaises(TypeError, heddle.Result)

    @needs_numpy
    def test_results_outlive_everything(self):
        r = self.t.find(numpy.arange(3, dtype="u8"))
        value = r.value
        self.t.close()
        del r
        gc.collect()
        value += 1
        self.assertEqual(value.tolist(), [101, 102, 103])

    def test_libraries_of_many_types(self):
        """More types of arrays than the module remembers."""
        for i in range(150):
            keys = of_u64(u64([1, 99]), type(f"Keys{i}", (Producer,), {}), device=(CPU, 0))
            values = of_u64(u64([5, 6]), type(f"Values{i}", (OldProducer,), {}), device=(CPU, 0))
            r = self.t.find_or_insert(keys, values)
            self.assertEqual(type(r.value), numpy.ndarray if numpy else memoryview)
        r = self.t.find(u64([1]))
        self.assertEqual(type(r.value), numpy.ndarray if numpy else memoryview)


class Ownership(Case):
    """The deleter of a tensor runs exactly once, however the call ends."""

    def setUp(self):
        producers.deleted.clear()
        producers.lent.clear()
        self.t = self.table()

    def once(self, *arrays):
        self.assertEqual(producers.lent, {})
        self.assertEqual(sorted(map(id, producers.deleted)), sorted(map(id, arrays)))
        producers.deleted.clear()

    def test_calls_that_succeed(self):
        for kind in (Producer, OldProducer, Lent):
            keys, values = (of_u64(u64([1, 2]), kind, device=(CPU, 0)) for _ in range(2))
            out = of_u64(u64([0, 0]), kind, device=(CPU, 0))
            self.t.insert(keys, values)
            self.once(keys, values)
            self.t.find(keys, out=out)
            self.once(keys, out)
            self.assertEqual(out.data.tolist(), [1, 2])
            self.t.insert(keys, [3, 4], keys)
            self.once(keys, keys)

    def test_calls_that_fail(self):
        for kind in (Producer, OldProducer, Lent):
            good = of_u64(u64([1, 2]), kind, device=(CPU, 0))
            data = u64([1, 2, 3, 4])
            for bad, text in (
                (Producer(data, UINT, 32, (2,), (CPU, 0)), "elements of type uint32"),
                (Producer(data, UINT, 64, (2,), (CPU, 0), lanes=2), "elements of type vector, which no table has"),
                (Producer(data, UINT, 64, (2, 2), (CPU, 0)), "2 dimensions|4 bytes|.* bytes"),
                (Producer(data, UINT, 64, (2,), (CPU, 0), strides=(2,)), "not contiguous"),
                (Producer(data, UINT, 64, (2,), (CPU, 0), strides=(-1,)), "not contiguous"),
                (Producer(data, UINT, 64, (3,), (CPU, 0)), "3 rows, but there are 2 keys"),
                (Producer(data, UINT, 64, (2,), (CUDA, 3)), "on device cuda:3, but the table is in host memory"),
                (Producer(data, UINT, 64, (2,), (8, 0)), "on a device of DLPack's type 8"),
                (Producer(data, UINT, 64, (2,), (14, 0)), "on a device of DLPack's type 14"),
                (Producer(data, 5, 64, (2,), (CPU, 0)), "elements of type complex64"),
                (Producer(data, 200, 64, (2,), (CPU, 0)), "elements of type type64"),
            ):  # fmt: skip
                bad.__class__ = kind
                self.refuses(f"values: ({text})", self.t.insert, good, bad)
                self.once(good, bad)
                self.refuses(f"scores: ({text})", self.t.insert, good, [1, 2], bad)
                self.once(good, bad)
                self.refuses(f"out: ({text})", self.t.find, good, out=bad)
                self.once(good, bad)
            self.refuses("out: overlaps keys", self.t.find, good, out=good)
            self.once(good, good)
            self.refuses("no kernel|kernel|find: ", self.t.find, good, kernel="no-such-kernel")
            self.once(good)
        self.assertEqual(len(self.t), 0)

    def test_read_only_and_copied(self):
        for flags, text in ((producers.READ_ONLY, "read-only, but the call writes it"),
                            (producers.COPIED, "its library delivers a copy, but the call writes it")):  # fmt: skip
            for kind in (Producer, Lent):
                array_ = of_u64(u64([1, 2]), kind, device=(CPU, 0), flags=flags)
                self.t.insert(array_, array_)
                self.once(array_, array_)
                self.refuses(f"out: {text}", self.t.find, [1, 2], out=array_)
                self.once(array_)

    def test_versions(self):
        self.assertEqual(self.t.find(later := of_u64(u64([1, 2]), device=(CPU, 0))).found.tolist(), [False, False])
        self.assertGreaterEqual(later.versions[0], (1, 0))
        self.once(later)
        later.major = 2
        self.refuses(r"keys: DLPack 2\.0 is not supported", self.t.find, later)
        self.once(later)

    def test_broken_producers(self):
        class Raises(Producer):
            def __dlpack__(self, **_):
                raise BufferError("not today")

        class Interrupts(Producer):
            def __dlpack__(self, **_):
                raise KeyboardInterrupt

        class NoCapsule(Producer):
            def __dlpack__(self, **_):
                return 5

        class WrongName(Producer):
            def __dlpack__(self, **_):
                return producers.api.PyCapsule_New(1, b"something", None)

        class Used(Producer):
            def __dlpack__(self, **_):
                capsule = self.capsule(True)
                heddle_again = type("Again", (), {"__dlpack__": lambda *_, **__: capsule})()
                t.find(heddle_again)
                return capsule

        class Own(Producer):  # a TypeError that is not about the arguments of the call
            def __dlpack__(self, **options):
                self.streams.append(options)
                raise TypeError("an argument is null")

        class Typed(Raises):
            dtype = "datetime64"

        t = self.t
        own = of_u64(u64([1]), Own)
        error = self.refuses("keys: an argument is null", t.find, own)
        self.assertEqual((type(error.__cause__), len(own.streams)), (TypeError, 1))
        self.refuses("keys: elements of type datetime64: not today", t.find, of_u64(u64([1]), Typed))
        error = self.refuses("keys: not today", t.find, of_u64(u64([1]), Raises))
        self.assertIsInstance(error.__cause__, BufferError)
        self.assertRaises(KeyboardInterrupt, t.find, of_u64(u64([1]), Interrupts))
        for kind in (NoCapsule, WrongName):
            self.refuses("keys: ", t.find, of_u64(u64([1]), kind))
        used = of_u64(u64([1]), Used, device=(CPU, 0))
        self.refuses("keys: ", t.find, used)
        self.once(used)

    def test_borrowed(self):
        keys = of_u64(u64([1, 2]), Borrowed, device=(CPU, 0))
        self.t.insert(keys, keys)
        self.assertEqual(entries_of(self.t).keys(), {1, 2})
        self.once()
        references = sys.getrefcount(keys)
        for _ in range(10):
            self.t.find(keys)
            self.refuses("values: ", self.t.insert, keys, [1.5, 2])
        gc.collect()  # frames of the errors above
        self.assertEqual(sys.getrefcount(keys), references)


class Devices(Case):
    """Arrays that say that they are on a device, with tables of the simulator, whose memory is this machine's."""

    def setUp(self):
        producers.deleted.clear()
        producers.lent.clear()
        Borrowed.asked.clear()
        heddle._core.pretend_device(True)
        self.addCleanup(heddle._core.pretend_device, False)
        self.t = self.table(backend="host")

    def test_places(self):
        keys = of_u64(u64([1, 2]))
        self.t.insert(keys, keys)
        self.assertEqual(entries_of(self.t).keys(), {1, 2})
        for table in (self.table(), self.table("uint32", design="hive")):
            self.refuses("keys: on device cuda:0, but the table is in host memory", table.find, keys)
        heddle._core.pretend_device(False)
        self.refuses("keys: on device cuda:0, but the table is in host memory", self.t.find, keys)
        self.assertEqual(producers.lent, {})

    def test_streams(self):
        class Stream:
            def __cuda_stream__(self):
                return (0, 0x70)

        class OtherStream:
            cuda_stream = 0x80

        for stream, name in ((None, 1), (0, 1), (7, 7), (Stream(), 0x70), (OtherStream(), 0x80), (2**63, 2**63)):
            for kind in (Producer, OldProducer):
                keys, values = of_u64(u64([1, 2]), kind), of_u64(u64([1, 2]), kind)
                host = of_u64(u64([1, 2]), kind, device=(CPU, 0))
                pinned = of_u64(u64([1, 2]), kind, device=(CUDA_HOST, 0))
                managed = of_u64(u64([1, 2]), kind, device=(CUDA_MANAGED, 0))
                for array_ in (values, host, pinned, managed):
                    self.t.insert(keys, array_, stream=stream)
                self.assertEqual(keys.streams, [name] * 4)
                self.assertEqual((values.streams, host.streams, pinned.streams, managed.streams),
                                 ([name], [None], [None], [name]))  # fmt: skip
        for wrong in (-1, 2**64):
            self.refuses("stream: ", self.t.find, of_u64(u64([1])), stream=wrong)
        with self.assertRaises((heddle.Error, TypeError)):
            self.t.find(of_u64(u64([1])), stream="fast")

    def test_current_stream_of_a_table_of_functions(self):
        for kind in (Borrowed, Lent):
            kind.asked.clear()
            keys = of_u64(u64([1, 2]), kind, device=(CUDA, 4))
            self.t.insert(keys, [1, 2])
            self.assertEqual(kind.asked, [(CUDA, 4)])
            kind.asked.clear()
            self.t.insert(keys, [1, 2], stream=3)
            self.t.insert(of_u64(u64([1]), kind, device=(CPU, 0)), [1])
            self.assertEqual(kind.asked, [])
        self.assertEqual(producers.lent, {})

    def test_results_in_host_memory(self):
        """A library that cannot allocate gets results of NumPy."""
        self.t.insert([1, 2], [5, 6])
        r = self.t.find(of_u64(u64([2, 9])))
        self.assertEqual(type(r.value), numpy.ndarray if numpy else memoryview)
        self.assertEqual((r.value.tolist(), r.found.tolist()), ([6, 0], [True, False]))

    def test_results_on_the_device(self):
        for kind in (Borrowed, Lent):
            self.t.clear()
            self.t.insert([1, 2], [5, 6])
            before = kind.allocated
            r = self.t.find(of_u64(u64([2, 9]), kind))
            self.assertEqual(producers.Exchanged.allocated, before + 1)
            self.assertIs(type(r.value), Borrowed)
            self.assertEqual(r.value.device, (CUDA, 0))
            self.assertEqual((r.value.tolist(), r.found.tolist(), r.outcome.tolist()), ([6, 0], [True, False], [1, 0]))
            value = r.value
            self.t.find(r.value)  # results are arguments
            evicted = self.t.insert(of_u64(u64([2, 9]), kind), [1, 2], evicted=True).evicted
            self.assertEqual(evicted.key.shape, (0,))
            out = of_u64(u64([8, 8]), kind)
            self.t.find(of_u64(u64([2, 77]), kind), out=out)
            self.assertEqual(out.data.tolist(), [1, 8])
            del r, evicted
            gc.collect()
            self.assertEqual(value.tolist(), [6, 0])
            del value
        gc.collect()
        heddle._core.pretend_device(False)  # gives back what is kept for later results
        self.assertEqual(producers.lent, {})

    def test_ownership(self):
        keys = of_u64(u64([1, 2]))
        for bad in (of_u64(u64([1])), Producer(u64([1, 2]), FLOAT, 64, (2,)), Producer(u64([1, 2]), UINT, 64, (2,), strides=(3,))):
            producers.deleted.clear()
            self.refuses("values: ", self.t.insert, keys, bad)
            self.assertEqual(producers.lent, {})
            self.assertEqual(set(producers.deleted), {keys, bad})
            self.assertEqual(len(producers.deleted), 2)


if __name__ == "__main__":
    unittest.main()
