# SPDX-License-Identifier: Apache-2.0
"""Ordered operations: shapes of results, arrays of the caller, and calls that are refused. test_state.py has the rest."""

import unittest
from array import array

import heddle

try:
    import numpy
except ImportError:
    numpy = None


def u64(*numbers):
    return array("Q", numbers)


def table(value="uint64"):
    return heddle.Table(1000, value, design="sl")


class Ordered(unittest.TestCase):
    def test_neighbours(self):
        t = table()
        t.insert([10, 20, 30], [1, 2, 3])
        r = t.predecessor([10, 20, 25, 5])
        self.assertEqual(r.key.tolist(), [0, 10, 20, 0])
        self.assertEqual(r.value.tolist(), [0, 1, 2, 0])
        self.assertEqual(r.found.tolist(), [False, True, True, False])
        self.assertIsNone(r.rows)
        r = t.successor([10, 30, 31], inclusive=True)
        self.assertEqual(r.key.tolist(), [10, 30, 0])
        again = t.successor([9, 29, 40], inclusive=True, out=r)
        self.assertIs(again, r)
        self.assertEqual((r.key.tolist()[:2], r.found.tolist()), ([10, 30], [True, True, False]))

    def test_own_arrays(self):
        t = table()
        t.insert([10, 20], [1, 2])
        key, value = u64(7, 7, 7), u64(8, 8, 8)
        t.successor(u64(10, 15, 20), out={"key": key, "value": value})
        self.assertEqual((list(key), list(value)), ([20, 20, 7], [2, 2, 8]))
        r = t.predecessor(u64(15, 1), out=value[:2])
        self.assertEqual(r.key.tolist(), [10, 0])
        with self.assertRaisesRegex(heddle.Error, "out: find has no output 'key'"):
            t.find(u64(1, 2, 3), out={"key": key})

    def test_own_arrays_of_ranges(self):
        t = heddle.Table(1000, ("uint32", 2), design="sl")
        t.insert([10, 20, 30], [[1, 2], [3, 4], [5, 6]])
        block = lambda form, *shape: memoryview(bytearray(b"\7" * 48)).cast(form, shape)  # noqa: E731
        key, value, rows, more = block("Q", 2, 3), block("I", 2, 3, 2), array("I", [9, 9]), bytearray(2)
        out = {"key": key, "value": value, "rows": rows, "more": more}
        self.assertIs(t.range(u64(5, 25), u64(25, 99), 3, out=out), out)
        kept = int.from_bytes(b"\7" * 8, "little")
        self.assertEqual(key.tolist(), [[10, 20, kept], [30, kept, kept]])
        self.assertEqual([r[:n] for r, n in zip(value.tolist(), (2, 1))], [[[1, 2], [3, 4]], [[5, 6]]])
        self.assertEqual((rows.tolist(), list(more)), ([2, 1], [0, 0]))
        for pattern, wrong in (
            ("out\\['key'\\]: 1 dimensions instead of 2", {"key": u64(0, 0)}),
            ("out\\['key'\\]: 2 rows for each key, but the limit is 3", {"key": memoryview(bytearray(32)).cast("Q", (2, 2))}),
            ("out: 1 dimensions instead of 3", {"value": array("I", range(12))}),
            ("out\\['rows'\\]: elements of type uint64", {"rows": u64(0, 0)}),
            ("out: range has no output 'score'", {"score": u64(0, 0)}),
            ("out: an item of range has several rows; pass a dict of arrays", u64(0, 0)),
        ):
            with self.assertRaisesRegex(heddle.Error, f"^{pattern}"):
                t.range(u64(5, 25), u64(25, 99), 3, out=wrong)

    def test_ranges(self):
        t = heddle.Table(1000, ("uint32", 2), design="sl")
        t.insert([10, 20, 30], [[1, 2], [3, 4], [5, 6]])
        r = t.range([0, 15, 31], [2**64 - 1, 20, 2**64 - 1], 2)
        self.assertEqual(r.key.tolist(), [[10, 20], [20, 0], [0, 0]])
        self.assertEqual((r.rows.tolist(), r.more.tolist()), ([2, 1, 0], [True, False, False]))
        if numpy:
            self.assertEqual(r.value.shape, (3, 2, 2))
            self.assertEqual(r.value[0].tolist(), [[1, 2], [3, 4]])
        none = t.range([0, 31], [99, 99], 0)
        self.assertEqual((none.rows.tolist(), none.more.tolist()), ([0, 0], [True, False]))
        self.assertEqual([heddle.Outcome(o).name for o in none.outcome], ["HIT", "MISS"])
        self.assertIs(t.range([5, 6, 7], [8, 40, 9], 2, out=r), r)
        self.assertEqual(r.rows.tolist(), [0, 2, 0])
        with self.assertRaisesRegex(heddle.Error, "another kind of call"):
            t.range([5, 6, 7], [8, 40, 9], 3, out=r)

    def test_ends(self):
        t = table()
        self.assertIsNone(t.min())
        t.insert([10, 20], [1, 2])
        self.assertEqual((t.min(), t.max()), ((10, 1), (20, 2)))
        t.erase([10])
        self.assertEqual(t.min(), (20, 2))
        rows = heddle.Table(10, ("uint16", 4), design="sl")
        rows.insert([3], [[1, 2, 3, 4]])
        self.assertEqual((rows.max()[0], list(rows.max()[1])), (3, [1, 2, 3, 4]))

    def test_refused(self):
        t = table()
        for call, words in (
            (lambda: t.range([1], [2]), "limit"),
            (lambda: t.range([1], [2, 3], 1), "upper: 2 rows"),
            (lambda: t.range([1], [2], 1 << 32), "limit"),
            (lambda: t.range([1], None, 1), "upper"),
            (lambda: t.successor(), "keys"),
        ):
            with self.assertRaisesRegex((heddle.Error, TypeError), words):
                call()
        for design in ("hkv", "hive"):
            value = "uint32" if design == "hive" else "uint64"
            other = heddle.Table(100, value, design=design)
            with self.assertRaisesRegex(heddle.Error, "keeps no order of keys"):
                other.max()


if __name__ == "__main__":
    unittest.main()
