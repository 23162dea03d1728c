# SPDX-License-Identifier: Apache-2.0
"""heddle.torch: operators, embeddings beside PyTorch's own, state, and compilers. On the CPU."""

import contextlib
import copy
import importlib.util
import itertools
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

import heddle
from reading import resident_bytes

try:
    import torch

    import heddle.torch as ht

    missing = None
except ImportError as error:
    torch, missing = None, str(error)

IDS = 40
COMPILER = "inductor" if shutil.which("g++") else "aot_eager"
Module = torch.nn.Module if torch else object


def setUpModule():
    if missing:
        raise unittest.SkipTest(missing)




def random_ids(*shape, seed=0, most=IDS):
    return torch.randint(0, most, shape, generator=torch.Generator().manual_seed(seed))


def rows_of(embedding, ids):
    """The rows that ids have now, without change."""
    return embedding.look_up(torch.as_tensor(ids))


def twin(embedding, most=IDS, sparse=False):
    """A torch.nn.Embedding with the rows that ids 0 to most - 1 have now."""
    made = torch.nn.Embedding(most, embedding.dim, sparse=sparse)
    made.weight.data = rows_of(embedding, torch.arange(most)).clone().float()
    return made


def train(module, optimizer, rounds=6, shape=(5, 7), scale=1.0):
    """Trains to a loss in which every row has its own gradient. `optimizer` may be the module."""
    for i in range(rounds):
        out = module(random_ids(*shape, seed=i)).float()
        weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(100 + i)) * scale
        (out * weight + out.square() * 0.1).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


class Operators(unittest.TestCase):
    def setUp(self):
        self.table = heddle.Table(capacity=1 << 10, value=("float32", 6))
        self.handle = ht.Handle(self.table)
        self.keys = torch.arange(1, 9)
        self.values = torch.randn(8, 6)
        self.handle.insert_or_assign(self.keys, self.values)

    def test_operators_do_what_methods_do(self):
        h, more = self.handle, torch.tensor([3, 100, -1])
        values, found = h.find(more)
        self.assertEqual(found.tolist(), [True, False, False])
        self.assertTrue(torch.equal(values[0], self.values[2]) and not values[1:].any())
        out = torch.full((3, 6), 5.0)
        h.find_out(more, out)
        self.assertTrue(torch.equal(out[0], self.values[2]) and (out[1:] == 5).all())
        self.assertEqual(h.contains(more).tolist(), [True, False, False])
        kept, outcome = h.find_or_insert(more, torch.ones(3, 6))
        self.assertEqual(outcome.tolist(), [heddle.Outcome.HIT, heddle.Outcome.INSERTED, heddle.Outcome.RESERVED])
        self.assertTrue(torch.equal(kept, torch.stack([self.values[2], torch.ones(6), torch.ones(6)])))
        h.accum_or_assign(more[:1], torch.ones(1, 6))
        self.assertTrue(torch.equal(h.touch(more[:1])[0][0], self.values[2] + 1))
        h.assign(more[:1], torch.zeros(1, 6))
        self.assertFalse(h.find(more[:1])[0].any())
        self.assertEqual(h.erase(more).tolist(), [heddle.Outcome.ERASED, heddle.Outcome.ERASED,
                                                  heddle.Outcome.RESERVED])  # fmt: skip

    def test_operators_on_a_gpu_do_the_same(self):
        """Their outputs are other tensors; here they run on the CPU."""
        self.assertLess(set(ht._ops._ON_GPU), set(ht._ops.NAMES))
        keys, rows = torch.tensor([3, 100, -1, 4]), torch.arange(24.0).view(4, 6)
        results = []
        for functions in ({name: getattr(ht._ops, name) for name in ht._ops._ON_GPU}, ht._ops._ON_GPU):
            table = heddle.Table(capacity=100, value=("float32", 6))
            h = ht.Handle(table)
            h.insert_or_assign(self.keys, self.values)
            steps = ("find", "touch", "assign", "find_or_insert", "find", "accum_or_assign", "insert_or_assign", "touch", "erase", "find")
            for name in steps:
                takes = (keys,) if name in ("find", "touch", "erase") else (keys, rows)
                results.append(functions[name](h.number, h.state, *takes))
            table.close()
        for a, b in zip(results[:10], results[10:], strict=True):
            for x, y in zip(a, b, strict=True) if isinstance(a, tuple) else ((a, b),):
                self.assertTrue(torch.equal(x, y) and x.dtype == y.dtype)

    def test_outputs_outlive_their_table(self):
        table = heddle.Table(capacity=1 << 14, value=("float32", 6))
        h, keys = ht.Handle(table), torch.arange(1 << 13)
        h.insert_or_assign(keys, keys[:, None].float().expand(-1, 6).contiguous())
        values, found = h.find(keys)
        table.close()
        del h, table
        other = heddle.Table(capacity=1 << 14, value=("float32", 6))
        for _ in range(5):
            ht.Handle(other).find(keys)
        self.assertTrue(bool(found.all()) and torch.equal(values[:, 5], keys.float()))

    def test_opcheck(self):
        n, s, k, v = self.handle.number, self.handle.state, self.keys, self.values
        embedding, absent = ht.Embedding(100, 4, optimizer=ht.SGD(0.1)), torch.arange(500, 508)
        bag = ht.EmbeddingBag(100, 4)
        ids = torch.tensor([[1, 2], [2, -1]])
        e = embedding._number
        embedding(ids)
        inverse, count = torch.tensor([1, 2, 2, 0]), torch.tensor(3)
        ops = torch.ops.heddle
        calls = {
            "find": (n, s, k), "contains": (n, s, k), "touch": (n, s, k), "find_or_insert": (n, s, k, v),
            "insert_or_assign": (n, s, k, v), "assign": (n, s, k, v), "accum_or_assign": (n, s, k, v),
            "erase": (n, s, absent), "embedding": (e, s, ids), "embedding_train": (e, s, ids),
            "embedding_gradient": (e, s, ids, inverse, count, torch.ones(2, 2, 4)),
            "embedding_offsets": (bag.number, s, torch.tensor([0, 2]), 4),
        }  # fmt: skip
        for name, args in calls.items():
            with self.subTest(name):
                torch.library.opcheck(getattr(ops, name).default, args)
        torch.library.opcheck(ops.find_out.default, (n, s, k), {"out": torch.zeros(8, 6)})
        self.assertEqual(set(calls) | {"find_out"}, set(ht._ops.NAMES))

    def test_numbers_keep_no_table(self):
        number = self.handle.number
        self.assertIs(ht.table_of(number), self.table)
        self.assertEqual(ht.handle_of(self.table), number)
        with self.assertRaises(heddle.Error):
            ht.handle_of(self.table, number + 1)
        other = heddle.Table(capacity=10, value="float32")
        with self.assertRaises(heddle.Error):
            ht.handle_of(other, number)
        self.assertEqual(ht.handle_of(other, 987_654), 987_654)
        del other
        with self.assertRaises(heddle.Error):
            torch.ops.heddle.find(987_654, self.handle.state, self.keys)

    def test_compiled_order(self):
        """A compiler must neither merge equal lookups around a change, nor remove a change whose result is not used."""

        def change(keys, values):
            before, _ = self.handle.find(keys)
            self.handle.assign(keys, values)
            after, _ = self.handle.find(keys)
            self.handle.erase(keys)
            return before, after

        before, after = torch.compile(change, fullgraph=True, backend=COMPILER)(self.keys, torch.ones(8, 6))
        self.assertTrue(torch.equal(before, self.values) and torch.equal(after, torch.ones(8, 6)))
        self.assertEqual(len(self.table), 0)


def outcome_of(call):
    """What a call gives, as plain data: results, or the exception."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001
        return type(error), getattr(error, "status", None), str(error)
    results = result if isinstance(result, tuple) else (result,)
    return [(r.dtype, tuple(r.shape), r.tolist()) if torch.is_tensor(r) else r for r in results]


class Asks(Module):
    """A module that looks keys up by a handle."""

    def __init__(self, handle):
        super().__init__()
        self.handle = handle

    def forward(self, keys):
        return self.handle.find(keys)[0] + 1


@unittest.skipUnless(torch and ht.operators_in_c["CPU"], "this PyTorch has no kernels in C")
class KernelsInC(unittest.TestCase):
    """Kernels in C beside the functions in Python: the same results, contents, and exceptions."""

    LOOKUPS, CHANGES = ("find", "contains", "touch", "erase"), ("find_or_insert", "insert_or_assign", "assign", "accum_or_assign")

    def setUp(self):
        self.opened = []

    def table(self, value=("float32", 3), **more):
        self.opened.append(heddle.Table(capacity=1 << 10, value=value, **more))
        return self.opened[-1]

    def compare(self, name, table_of, *args, **options):
        """Calls an operator, and its function in Python, on tables that `table_of` opens. The results."""
        rows = []
        for in_c in (True, False):
            table, copies = table_of(), copy.deepcopy((args, options))
            function = getattr(torch.ops.heddle, name).default if in_c else getattr(ht._ops, name)
            state, number = torch.zeros(1, dtype=torch.int64), ht.handle_of(table)
            got = outcome_of(lambda: function(number, state, *copies[0], **copies[1]))  # noqa: B023
            rows.append((got, None if table.closed else self.contents(table), [a.tolist() for a in copies[1].values()]))
        self.assertEqual(repr(rows[0]), repr(rows[1]), (name, args, options))
        return rows[0][0]

    def contents(self, table):
        part = table.export()
        values = [None] * len(part.key) if part.value is None else part.value.tolist()
        return sorted(zip(part.key.tolist(), values, strict=True))

    def filled(self, value=("float32", 3), **more):
        table = self.table(value, **more)
        keys = torch.arange(20)
        width = table.info["value_bytes"]
        rows = torch.arange(20 * width, dtype=torch.int64).view(20, width).to(torch.uint8)
        dtype, shape = ht._ops.value_of(table)
        table.insert(keys, rows.view(dtype).view(20, *shape).contiguous() if width else None)
        return table

    def rows(self, table, n, seed=0):
        dtype, shape = ht._ops.value_of(table)
        return torch.randint(0, 100, (n, *shape), generator=torch.Generator().manual_seed(seed)).to(dtype)

    def every(self, table_of, keys, rows):
        """Every operator with these arrays."""
        results = [self.compare(name, table_of, keys) for name in self.LOOKUPS]
        results += [self.compare(name, table_of, keys, rows) for name in self.CHANGES]
        return [*results, self.compare("find_out", table_of, keys, out=rows)]

    def test_plain_batches_need_no_python(self):
        names = ht.operators_in_c["CPU"]
        self.assertEqual(set(names), {*self.LOOKUPS, *self.CHANGES, "find_out"})
        handle, keys = ht.Handle(self.filled()), torch.tensor([3, 100])
        rows = self.rows(handle.table, 2)
        with unittest.mock.patch.object(ht._ops, "find_object", side_effect=AssertionError("Python was asked")):
            for name in names:
                with self.subTest(name):
                    getattr(handle, name)(keys, *([rows] if name in (*self.CHANGES, "find_out") else []))
            with self.assertRaisesRegex(AssertionError, "Python was asked"):
                handle.find(keys.float())

    def test_types_and_shapes_of_values(self):
        keys = torch.tensor([3, 5, 100, -1, -2, 7, 1 << 40, 4, 19, 20])
        types = ("float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
        for value in (("float32", 3), "float32", ("float32", (2, 3)), 5, 0, *((t, 4) for t in types), ("bool", 3)):
            with self.subTest(value=value):
                table = self.table(value)
                self.every(lambda value=value: self.filled(value), keys, self.rows(table, len(keys)))

    def test_keys(self):
        keys = torch.tensor([3, 5, 100, 4, 19, 20])
        rows = self.rows(self.table(), 6)
        for name, k, r in (
            ("uint64", keys.view(torch.uint64), rows), ("none", keys[:0], rows[:0]), ("one", keys[:1], rows[:1]),
            ("scalar", keys[0], rows[0]), ("scalar, a row", keys[0], rows[:1]), ("2 dimensions", keys.view(2, 3), rows),
            ("int32", keys.int(), rows), ("float", keys.float(), rows), ("gaps", keys[::2], rows[:3]), ("offset", keys[2:], rows[2:]),
            ("expanded", keys[:1].expand(6), rows), ("repeated", keys[[0, 0, 1, 2, 2, 2]], rows), ("bool", keys.bool(), rows),
        ):  # fmt: skip
            with self.subTest(name):
                self.every(self.filled, k, r)

    def test_values(self):
        keys, rows = torch.tensor([3, 5, 100, 4, 19, 20]), self.rows(self.table(), 6)
        for name, r in (
            ("short", rows[:5]), ("long", torch.cat([rows, rows])), ("flat", rows.view(-1)), ("narrow", rows[:, :2].contiguous()),
            ("gaps", rows[:, :2]), ("turned", rows.t()), ("other type", rows.double()), ("bytes", rows.view(torch.uint8)),
            ("one more dimension", rows[:, None]), ("needs a gradient", rows.clone().requires_grad_()),
        ):  # fmt: skip
            with self.subTest(name):
                self.every(self.filled, keys, r)
        bits = torch.randint(0, 1 << 14, (6, 4), dtype=torch.int32).to(torch.uint16)
        self.every(lambda: self.filled(("bfloat16", 4)), keys, bits)

    def test_policies_designs_and_backends(self):
        keys, rows = torch.tensor([3, 5, 100, 4, 19, 20]), self.rows(self.table(), 6)
        for more in ({"policy": "lfu"}, {"design": "hive"}, {"backend": "host"}, {"lock": "rw"}):
            with self.subTest(more):
                hive = "design" in more
                value, r = ("uint32", rows[:, 0].to(torch.uint32)) if hive else (("float32", 3), rows)
                self.every(lambda more=more, value=value: self.filled(value, **more), keys, r)

    def test_a_batch_that_the_library_refuses(self):
        """custom needs scores, which these operators do not have."""
        keys, rows = torch.arange(3), torch.ones(3, 3)
        got = self.compare("insert_or_assign", lambda: self.table(policy="custom"), keys, rows)
        self.assertEqual(got[:2], (heddle.Error, "HD_EINVAL"))

    def test_out_that_overlaps_the_keys(self):
        both = torch.zeros(16, dtype=torch.int64)
        table = self.filled(("int64", 1))
        for out in (both[3:11].view(8, 1), both[:8].view(8, 1)):
            for function in (torch.ops.heddle.find_out, ht._ops.find_out):
                with self.assertRaisesRegex(heddle.Error, "out: overlaps keys"):
                    function(ht.handle_of(table), torch.zeros(1), both[:8], out=out)
        ht.Handle(table).find_out(both[:8], both[8:].view(8, 1))

    def test_large_batches(self):
        keys = torch.arange(50_000)
        tables = [heddle.Table(capacity=1 << 17, value=("float32", 8)) for _ in range(2)]
        rows = keys[:, None].float().expand(-1, 8).contiguous()
        for table, call in zip(tables, (torch.ops.heddle.find, ht._ops.find), strict=True):
            table.insert(keys[::3].contiguous(), rows[::3].contiguous())
            values, found = call(ht.handle_of(table), torch.zeros(1), keys)
            self.assertTrue(torch.equal(found, keys % 3 == 0) and torch.equal(values, rows * found[:, None]))

    def test_closed_tables_and_unknown_numbers(self):
        keys, rows = torch.arange(3), torch.ones(3, 3)

        def closed():
            table = self.filled()
            ht.handle_of(table)
            table.close()
            return table

        for got in self.every(closed, keys, rows):
            self.assertEqual(got, (heddle.Error, "HD_EINVAL", "the table is closed"))
        number = ht.handle_of(heddle.Table(10, "float32"))  # which is gone
        for function in (torch.ops.heddle.find, torch.ops.heddle.find.default, ht._ops.find):
            with self.assertRaisesRegex(heddle.Error, f"no table of number {number} in this process"):
                function(number, torch.zeros(1), keys)

    def test_methods_of_a_subclass(self):
        class Loud(heddle.Table):
            def contains(self, *args, **options):
                raise KeyError("loud")

        handle = ht.Handle(Loud(10, "float32"))
        with self.assertRaisesRegex(KeyError, "loud"):
            handle.contains(torch.arange(3))
        self.assertFalse(handle.find(torch.arange(3))[1].any())

    def test_steps_are_recorded(self):
        table = self.filled(backend="host")
        handle = ht.Handle(table)
        table._record_steps(True)
        handle.find(torch.arange(3))
        self.assertEqual([batch["op"] for batch in table._record_steps(False)], ["find"])
        table._repeat(3)
        handle.find(torch.arange(3))
        self.assertGreater(table._repeat(0), 0)

    def test_an_old_failure_is_not_raised_again(self):
        def contains(number: int, state: torch.Tensor, keys: torch.Tensor):
            return torch.ops.heddle.contains(number, state, keys)

        scripted, keys = torch.jit.script(contains), torch.arange(3)
        with self.assertRaisesRegex(Exception, "no table of number 123456"):
            scripted(123_456, torch.zeros(1), keys)  # does not pass the guard, which raises heddle.Error
        with self.assertRaisesRegex(RuntimeError, "Expected a value of type 'Tensor'") as caught:
            torch.ops.heddle.contains(1, torch.zeros(1), "x")
        self.assertNotIsInstance(caught.exception, heddle.Error)
        self.assertTrue(scripted(ht.handle_of(self.filled()), torch.zeros(1), keys).all())

    def test_exceptions_are_whole(self):
        """Nothing of the frames that raised it, no context, and a new one each time."""
        handle, caught = ht.Handle(self.filled()), []
        for _ in range(2):
            with self.assertRaises(heddle.Error) as context:
                handle.find(torch.arange(3.0))
            caught.append(context.exception)
        self.assertIsNot(*caught)
        self.assertEqual((caught[0].__context__, caught[0].__cause__), (None, None))

    def test_modes_and_transformations(self):
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.utils.flop_counter import FlopCounterMode

        handle, keys = ht.Handle(self.filled()), torch.arange(3)
        with FlopCounterMode(display=False), torch.inference_mode():
            self.assertTrue(handle.contains(keys).all())
        graph = make_fx(lambda k: handle.find(k)[0] + 1)(keys)
        self.assertIn(torch.ops.heddle.find.default, [node.target for node in graph.graph.nodes])
        self.assertTrue(torch.equal(graph(keys), handle.find(keys)[0] + 1))
        for strict in (True, False):
            program = torch.export.export(Asks(handle), (keys,), strict=strict)
            self.assertTrue(torch.equal(program.module()(keys), handle.find(keys)[0] + 1))

    def test_other_threads_close_and_drop_tables(self):
        keys, rows = torch.arange(64), torch.ones(64, 3)
        for drop in (False, True):
            with self.subTest(drop=drop):
                self.check_threads(drop, keys, rows)

    def check_threads(self, drop, keys, rows):
        numbers, errors, done = [], [], threading.Event()

        def call():
            state = torch.zeros(1)
            while not done.is_set():
                for number in numbers[-2:]:
                    try:
                        torch.ops.heddle.insert_or_assign(number, state, keys, rows)
                        torch.ops.heddle.find(number, state, keys)
                    except heddle.Error:
                        continue
                    except BaseException as error:  # noqa: BLE001
                        errors.append(error)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(60):
            table = heddle.Table(capacity=1 << 10, value=("float32", 3))
            numbers.append(ht.handle_of(table))
            time.sleep(0.002)
            if not drop:
                table.close()
            del table
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_no_operator_leaks(self):
        handle, keys = ht.Handle(self.filled()), torch.arange(20)
        rows, wrong = self.rows(handle.table, 20), keys.float()

        def calls(times):
            for _ in range(times):
                for name in self.LOOKUPS:
                    getattr(handle, name)(keys)
                for name in (*self.CHANGES, "find_out"):
                    getattr(handle, name)(keys, rows)
            for _ in range(times // 4):
                for name in ("find", "insert_or_assign"):
                    with contextlib.suppress(heddle.Error):
                        getattr(handle, name)(wrong, *([rows] if name != "find" else []))

        calls(500)
        before = resident_bytes()
        calls(6000)
        self.assertLess(resident_bytes() - before, 4 << 20)

    def test_operators_in_python(self):
        """The same tests of operators, in a process that has no kernels in C."""
        environment = {**os.environ, "HEDDLE_TORCH_OPERATORS": "python"}
        words = [sys.executable, "-m", "unittest", "-q", "test_torch.Operators"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=pathlib.Path(__file__).parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "import heddle.torch as ht; print(ht.operators_in_c)"
        done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "{'CPU': [], 'CUDA': []}")


class Equal(unittest.TestCase):
    """Embeddings beside PyTorch's, from the same initial rows."""

    def test_sgd_is_the_same_bit_for_bit(self):
        for dim in (1, 3, 8, 17, 64):
            for shape in ((5, 7), (300,), (64, 40)):
                with self.subTest(dim=dim, shape=shape):
                    ours = ht.Embedding(1 << 12, dim, optimizer=ht.SGD(0.05))
                    theirs = twin(ours)
                    train(ours, ours, shape=shape)
                    train(theirs, torch.optim.SGD(theirs.parameters(), lr=0.05), shape=shape)
                    self.assertTrue(torch.equal(rows_of(ours, torch.arange(IDS)), theirs.weight.data))

    def test_sgd_gradients_of_several_passes(self):
        ours = ht.Embedding(1 << 12, 8, optimizer=ht.SGD(0.05))
        theirs = twin(ours)
        optimizer = torch.optim.SGD(theirs.parameters(), lr=0.05)
        for i in range(3):
            for module in (ours, theirs):
                (module(random_ids(9, seed=i)) * (i + 1)).sum().backward()
        self.assertEqual(len(ours.gradients), 3)
        ours.step(), optimizer.step()
        self.assertEqual(len(ours.gradients), 0)
        self.assertTrue(torch.equal(rows_of(ours, torch.arange(IDS)), theirs.weight.data))

    def check_near(self, ours, theirs, optimizer):
        train(ours, ours)
        train(theirs, optimizer)
        torch.testing.assert_close(rows_of(ours, torch.arange(IDS)), theirs.weight.data, rtol=1e-5, atol=1e-6)

    def test_adam_is_as_sparse_adam(self):
        ours = ht.Embedding(1 << 12, 8, optimizer=ht.Adam(0.01, betas=(0.8, 0.95)))
        theirs = twin(ours, sparse=True)
        self.check_near(ours, theirs, torch.optim.SparseAdam(theirs.parameters(), lr=0.01, betas=(0.8, 0.95)))

    def test_adagrad_is_as_torch(self):
        ours = ht.Embedding(1 << 12, 8, optimizer=ht.Adagrad(0.01, initial_accumulator_value=0.1))
        theirs = twin(ours, sparse=True)
        self.check_near(ours, theirs,
                        torch.optim.Adagrad(theirs.parameters(), lr=0.01, initial_accumulator_value=0.1))  # fmt: skip

    def test_rowwise_adagrad(self):
        ours = ht.Embedding(1 << 12, 5, optimizer=ht.RowWiseAdagrad(0.5, eps=1e-3))
        before = rows_of(ours, [7])
        for _ in range(2):
            (ours(torch.tensor([7])) * torch.tensor([1.0, 2, 3, 4, 5])).sum().backward()
            ours.step()
        gradient, mean = torch.tensor([1.0, 2, 3, 4, 5]), 11.0
        wanted = before - 0.5 * gradient / (mean**0.5 + 1e-3) - 0.5 * gradient / ((2 * mean) ** 0.5 + 1e-3)
        torch.testing.assert_close(rows_of(ours, [7]), wanted)

    def test_bags(self):
        offsets = torch.tensor([0, 4, 4, 10])
        for mode in ("sum", "mean"):
            for last in (False, True):
                for weighted in (False, True) if mode == "sum" else (False,):
                    with self.subTest(mode=mode, last=last, weighted=weighted):
                        self.check_bags(mode, last, weighted, offsets if last else offsets[:3])

    def check_bags(self, mode, last, weighted, offsets):
        ours = ht.EmbeddingBag(1 << 12, 6, mode=mode, include_last_offset=last, optimizer=ht.SGD(0.1))
        theirs = torch.nn.EmbeddingBag(IDS, 6, mode=mode, include_last_offset=last)
        theirs.weight.data = rows_of(ours, torch.arange(IDS)).clone()
        optimizer, ids = torch.optim.SGD(theirs.parameters(), lr=0.1), random_ids(10)
        weights = [torch.linspace(0, 1, 10).requires_grad_() if weighted else None for _ in range(2)]
        outs = [m(ids, offsets, w) for m, w in zip((ours, theirs), weights, strict=True)]
        torch.testing.assert_close(*outs)
        for out in outs:
            out.square().sum().backward()
        if weighted:
            torch.testing.assert_close(weights[0].grad, weights[1].grad)
        ours.step(), optimizer.step()
        torch.testing.assert_close(rows_of(ours, torch.arange(IDS)), theirs.weight.data)
        ours.eval()
        torch.testing.assert_close(ours(ids, offsets, weights[0]), theirs(ids, offsets, weights[1]))

    def test_bags_of_equal_length(self):
        ours = ht.EmbeddingBag(1 << 12, 6, mode="mean")
        ids = random_ids(4, 5)
        torch.testing.assert_close(ours(ids), rows_of(ours, ids).mean(1))

    def test_halves(self):
        for dtype in (torch.float16, torch.bfloat16):
            for dim in (3, 8):
                with self.subTest(dtype=dtype, dim=dim):
                    ours = ht.Embedding(1 << 12, dim, optimizer=ht.Adam(0.01), dtype=dtype)
                    self.assertEqual(ours(torch.tensor([1])).dtype, dtype)
                    exact = ht.Embedding(1 << 12, dim, optimizer=ht.Adam(0.01))
                    exact.insert(torch.arange(IDS), rows_of(ours, torch.arange(IDS)).float())
                    train(ours, ours, scale=0.5)
                    train(exact, exact, scale=0.5)
                    near = {"rtol": 0, "atol": 0.02 if dtype == torch.bfloat16 else 0.003}
                    torch.testing.assert_close(rows_of(ours, torch.arange(IDS)).float(),
                                               rows_of(exact, torch.arange(IDS)), **near)  # fmt: skip

    def test_half_state_is_exact(self):
        """The state of a half embedding is that of a float32 one for equal gradients."""
        made = {}
        for dtype in (torch.float16, torch.float32):
            made[dtype] = e = ht.Embedding(100, 4, init="zeros", optimizer=ht.Adagrad(0.0), dtype=dtype)
            for i in range(5):
                (e(torch.tensor([1])) * (0.1 + 2**-9 * i)).sum().backward()
                e.gradients[0] = (e.gradients[0][0], torch.full((1, 4), 0.1 + 2**-20 * i))
                e.step()
        states = [next(e.parts()).state for e in made.values()]
        self.assertTrue(torch.equal(*states))

    def test_gradient_by_differences(self):
        e = ht.Embedding(100, 3, optimizer=ht.SGD(1.0))
        ids = torch.tensor([4, 9, 4])

        def loss(out):
            return (out.double() ** 3 * torch.arange(1, 10).view(3, 3)).sum()

        loss(e(ids)).backward()
        keys, gradient = e.gradients[0]
        for row, key in enumerate(keys.tolist()):
            for column in range(3):
                sides = []
                for delta in (1e-3, -1e-3):
                    out = rows_of(e, ids)
                    out[ids == key, column] += delta
                    sides.append(loss(out))
                slope = (sides[0] - sides[1]) / 2e-3
                self.assertAlmostEqual(float(slope), float(gradient[row, column]), delta=2e-2)

    def test_a_frozen_table_and_no_gradients(self):
        e = ht.Embedding(100, 3, optimizer=ht.SGD(1.0))
        with torch.no_grad():
            self.assertFalse(e(torch.tensor([1, 2])).requires_grad)
        self.assertEqual(len(e), 2)
        e.step()
        self.assertEqual(e.steps, 0)
        e(torch.tensor([1])).sum().backward()
        e.zero_grad()
        e.step()
        self.assertEqual(e.steps, 0)
        with torch.inference_mode():
            self.assertEqual(e(torch.tensor([1])).shape, (1, 3))

    def test_no_second_derivatives(self):
        e = ht.Embedding(100, 3)
        out = e(torch.tensor([1]))
        with self.assertRaises(heddle.Error):
            torch.autograd.grad(out.square().sum(), e._anchor, create_graph=True, allow_unused=True)


class Rows(unittest.TestCase):
    def test_initial_rows_depend_on_key_and_seed_alone(self):
        for init in ("uniform", "normal", ht.Uniform(1, 2), ht.Normal(3, 0.5)):
            one, other = (ht.Embedding(1 << 12, 5, init=init, seed=9) for _ in range(2))
            ids = torch.cat([torch.randperm(500), torch.tensor([-4, -(1 << 63), (1 << 63) - 1])])
            with torch.no_grad():
                all_at_once = one(ids)
                singly = torch.cat([other(part) for part in ids.flip(0).split(7)]).flip(0)
            self.assertTrue(torch.equal(all_at_once, singly))
            self.assertTrue(torch.equal(rows_of(ht.Embedding(10, 5, init=init, seed=9), ids), all_at_once))
            self.assertFalse(torch.equal(rows_of(ht.Embedding(10, 5, init=init, seed=8), ids), all_at_once))
            self.assertEqual(len(all_at_once.unique(dim=0)), len(ids))

    def test_initial_rows_are_the_same_in_every_version(self):
        """Integer arithmetic only: the bits are part of what a saved seed means."""
        x = ht.Uniform(-1, 1)(torch.tensor([0, 1, -5]), 2, 3)
        wanted = [[reference(key, 3, j) * 2.0**-23 - 1 for j in range(2)] for key in (0, 1, -5)]
        self.assertEqual(x.tolist(), wanted)

    def test_distributions(self):
        keys = torch.arange(20000)
        x = ht.Normal(1, 2)(keys, 7, 0)
        self.assertAlmostEqual(x.mean().item(), 1, delta=0.02)
        self.assertAlmostEqual(x.std().item(), 2, delta=0.02)
        correlation = torch.corrcoef(x.T) - torch.eye(7)
        self.assertLess(correlation.abs().max().item(), 0.03)
        y = ht.Uniform(-2, 4)(keys, 7, 0)
        self.assertTrue((y >= -2).all() and (y < 4).all())
        self.assertAlmostEqual(y.mean().item(), 1, delta=0.02)

    def test_layouts(self):
        """Weights and state of every optimizer are where they belong, for all types and odd widths."""
        optimizers = (ht.SGD(0.1), ht.Adam(0.1), ht.RowWiseAdagrad(0.1), ht.Adagrad(0.1, initial_accumulator_value=2.0))
        ids = torch.arange(20)
        for dim in (1, 2, 3, 4, 7, 8, 16):
            exact = rows_of(ht.Embedding(100, dim), ids)
            for dtype in (torch.float32, torch.float16, torch.bfloat16):
                for optimizer in optimizers:
                    with self.subTest(dim=dim, dtype=dtype, optimizer=optimizer.name):
                        e = ht.Embedding(100, dim, optimizer=optimizer, dtype=dtype)
                        self.assertTrue(torch.equal(e(ids), exact.to(dtype)))
                        self.assertTrue(torch.equal(e(ids), exact.to(dtype)))
                        part = next(e.parts())
                        self.assertTrue(torch.equal(part.weight, exact.to(dtype)[part.key]))
                        self.assertTrue((part.state == optimizer.state_initial()).all())
                        self.assertEqual(part.state.shape, (20, optimizer.state_floats(dim)))

    def test_functions_and_constants(self):
        given = ht.Embedding(100, 3, init=lambda keys: keys[:, None].float() * torch.ones(3))
        self.assertEqual(given(torch.tensor([4, 2]))[:, 0].tolist(), [4, 2])
        self.assertFalse(ht.Embedding(100, 3, init="zeros")(torch.tensor([4])).any())
        with self.assertRaises(ValueError):
            ht.Embedding(100, 3, init=lambda keys: torch.zeros(1))(torch.tensor([1, 2]))
        with self.assertRaises(ValueError):
            ht.Embedding(100, 3, init="xavier")

    def test_reserved_ids_have_their_initial_row(self):
        e = ht.Embedding(100, 4, optimizer=ht.SGD(1.0))
        ids = torch.tensor([-1, -2, -3, -4, -1])
        out = e(ids)
        self.assertTrue(out.any(1).all())
        self.assertTrue(torch.equal(out[0], out[4]))
        out.sum().backward()
        e.step()
        self.assertEqual((len(e), e.reserved, e.dropped), (1, 3, 3))
        self.assertEqual(e.unplaced().tolist(), [-3, -2, -1])
        self.assertEqual(e.unplaced().numel(), 0)
        self.assertTrue(torch.equal(rows_of(e, ids[:3]), out[:3]))

    def test_no_silent_zero_in_a_tiny_table(self):
        for policy in ("lru", "lfu", "epoch_lru", "epoch_lfu"):
            with self.subTest(policy):
                e = ht.Embedding(4, 5, policy=policy, optimizer=ht.SGD(0.1), table={"slots": 2})
                initial = rows_of(ht.Embedding(4, 5), torch.arange(200))
                out = e(torch.arange(200))
                self.assertTrue(torch.equal(out, initial))
                out.sum().backward()
                e.step()
                self.assertEqual(len(e), 4)
                self.assertEqual(e.dropped, 196)
                after = rows_of(e, torch.arange(200))
                changed = (after != initial).all(1)
                self.assertEqual(int(changed.sum()), 4)
                torch.testing.assert_close(after[changed], initial[changed] - 0.1)

    def test_refused_ids_are_counted_and_listed(self):
        e = ht.Embedding(2, 5, optimizer=ht.SGD(0.1), table={"slots": 2, "pins": 1})
        e(torch.tensor([1, 2])).sum().backward()
        e.step()
        e.table.lock_keys(torch.tensor([1, 2]), 7)
        out = e(torch.tensor([3, 4, 3, 1]))
        self.assertTrue(torch.equal(out[:2], rows_of(ht.Embedding(4, 5), [3, 4])))
        self.assertEqual((e.refused, e.unplaced().tolist()), (2, [3, 4]))
        self.assertEqual(e.counters()["refused"], 2)

    def test_gradient_of_an_evicted_row_is_dropped(self):
        e = ht.Embedding(2, 5, optimizer=ht.SGD(0.1), table={"slots": 2})
        out = e(torch.tensor([1, 2]))
        with torch.no_grad():
            e(torch.tensor([3, 4]))
        others = rows_of(e, [3, 4])
        out.sum().backward()
        e.step()
        self.assertEqual(e.dropped, 2)
        self.assertTrue(torch.equal(rows_of(e, [3, 4]), others))

    def test_a_row_is_read_before_its_batch_evicts_it(self):
        for policy in ("lru", "lfu"):
            check_read_before_evicted(self, policy, None)

    def test_a_batch_evicts_no_row_that_it_uses(self):
        for how in ("forward", "distinct", "prefetch", "bag"):
            check_hits_stay(self, how, None)

    def test_evaluation_changes_nothing(self):
        e = ht.Embedding(100, 4, optimizer=ht.SGD(0.1))
        e(torch.arange(10))
        before = e.state_dict()
        e.eval()
        out = e(torch.arange(20))
        self.assertTrue(torch.equal(out[10:], rows_of(ht.Embedding(10, 4), torch.arange(10, 20))))
        after = e.state_dict()
        self.assertTrue(all(torch.equal(before[k], after[k]) for k in ("key", "weight", "score")))
        e.absent = -2.0
        self.assertTrue((e(torch.arange(20))[10:] == -2).all())
        self.assertTrue(torch.equal(e(torch.arange(10)), out[:10]))

    def test_shapes_and_types_of_ids(self):
        e = ht.Embedding(100, 4)
        self.assertEqual(e(torch.zeros((2, 3, 0), dtype=torch.int64)).shape, (2, 3, 0, 4))
        self.assertEqual(e(torch.tensor(5)).shape, (4,))
        self.assertTrue(torch.equal(e(torch.tensor([5], dtype=torch.int32)), e(torch.tensor([5]))))
        out = e(torch.arange(12).view(3, 4).T)
        self.assertTrue(torch.equal(out, e(torch.arange(12)).view(3, 4, 4).transpose(0, 1)))
        for mode in (e.train(), e.eval()):
            with self.assertRaises(TypeError):
                mode(torch.tensor([1.0]))

    def test_distinct_ids(self):
        e = ht.Embedding(100, 4, optimizer=ht.SGD(0.1))
        out = e(torch.arange(6).view(2, 3), distinct=True)
        self.assertTrue(torch.equal(out, rows_of(e, torch.arange(6).view(2, 3))))
        (out * torch.arange(6).view(2, 3, 1)).sum().backward()
        e.step()
        torch.testing.assert_close(rows_of(e, torch.arange(6)), out.view(6, 4) - 0.1 * torch.arange(6)[:, None])

    def test_lfu_counts_every_id(self):
        e = ht.Embedding(100, 4, policy="lfu")
        e(torch.tensor([1, 1, 1, 2]))
        e(torch.tensor([1, 2]))
        part = next(e.parts())
        self.assertEqual(dict(zip(part.key.tolist(), part.score.tolist(), strict=True)), {1: 4, 2: 2})

    def test_prefetch(self):
        e = ht.Embedding(100, 4)
        e.prefetch(torch.tensor([1, 2, 1]))
        self.assertEqual(sorted(e.table), [1, 2])
        e(torch.tensor([1, 2]))
        self.assertEqual(e.counters()["inserted"], 2)

    def test_wrong_arguments(self):
        for error, arguments in ((heddle.Error, {"policy": "custom"}), (TypeError, {"dtype": torch.float64}),
                                 (TypeError, {"optimizer": torch.optim.SGD}), (ValueError, {"dim": 0})):  # fmt: skip
            with self.assertRaises(error):
                ht.Embedding(**{"capacity": 10, "dim": 4, **arguments})
        with self.assertRaises(heddle.Error):
            ht.Embedding(10, 4, backend="cuda").table  # noqa: B018
        with self.assertRaises(ValueError):
            ht.SGD(-1.0)


class Evictions(unittest.TestCase):
    def test_each_exactly_once_with_its_row(self):
        e = ht.Embedding(64, 3, optimizer=ht.SGD(0.1), evicted=4096, table={"slots": 8})
        rows, placed, left = {}, 0, []
        for i in range(30):
            ids = random_ids(50, seed=i, most=400)
            out = e(ids)
            out.square().sum().backward()
            before = len(e)
            e.step()
            self.assertEqual(before, len(e))
            for batch in e.evicted():
                for key, value in zip(batch.key.tolist(), batch.value.tolist(), strict=True):
                    left.append(key)
                    self.assertEqual(value, rows.pop(key, rows_of(ht.Embedding(9, 3), key).tolist()))
            for part in e.parts():
                rows.update(zip(part.key.tolist(), part.weight.tolist(), strict=True))
            counted = e.counters()
            placed = counted["inserted"]
        self.assertEqual(placed - len(left), len(e))
        self.assertEqual(counted["evicted"], len(left))
        self.assertGreater(len(left), 100)
        self.assertEqual(list(e.evicted()), [])

    def test_a_full_queue_fails_before_the_table_changes(self):
        e = ht.Embedding(8, 3, evicted=10, table={"slots": 8})
        e(torch.arange(8))
        e(torch.arange(8, 16))
        before = sorted(e.table)
        with self.assertRaises(heddle.Error):
            e(torch.arange(16, 24))
        self.assertEqual(sorted(e.table), before)
        self.assertEqual(sorted(k for b in e.evicted() for k in b.key.tolist()), list(range(8)))
        e(torch.arange(16, 24))

    def test_off_by_default(self):
        with self.assertRaises(heddle.Error):
            next(ht.Embedding(8, 3).evicted())


class State(unittest.TestCase):
    def made(self, capacity=1 << 12, **more):
        return ht.Embedding(capacity, 6, **{"optimizer": ht.Adam(0.01), "seed": 5, **more})

    def test_round_trip(self):
        for dtype in (torch.float32, torch.bfloat16):
            for policy in ("lru", "lfu", "epoch_lru", "epoch_lfu"):
                with self.subTest(dtype=dtype, policy=policy):
                    one = self.made(dtype=dtype, policy=policy)
                    train(one, one)
                    with tempfile.TemporaryFile() as file:
                        torch.save(one.state_dict(), file)
                        file.seek(0)
                        saved = torch.load(file, weights_only=True)
                    other = self.made(capacity=1 << 13, dtype=dtype, policy=policy, seed=0)
                    other.load_state_dict(saved)
                    self.assertEqual((other.load_dropped, other.steps, other.seed), (0, 6, 5))
                    for e in (one, other):
                        train(e, e, rounds=2)
                    self.assertTrue(torch.equal(rows_of(one, torch.arange(80)), rows_of(other, torch.arange(80))))

    def test_smaller_table_keeps_the_latest(self):
        one = self.made()
        for i in range(100):
            one(torch.tensor([i]))
        other = self.made(capacity=16, table={"slots": 16})
        other.load_state_dict(one.state_dict())
        self.assertEqual(sorted(other.table), list(range(84, 100)))
        self.assertEqual(other.load_dropped, 84)
        other(torch.tensor([84, 200]))
        self.assertEqual(sorted(other.table), [84, *range(86, 100), 200])

    def test_state_of_another_kind_is_refused(self):
        saved = self.made().state_dict()
        for other in (self.made(optimizer=ht.SGD(0.1)), self.made(policy="lfu"), ht.Embedding(10, 4)):
            with self.assertRaises(RuntimeError):
                other.load_state_dict(saved)
        del saved["weight"]
        with self.assertRaises(RuntimeError):
            self.made().load_state_dict(saved)

    def test_in_a_network(self):
        net = torch.nn.ModuleDict({"a": self.made(), "b": torch.nn.Linear(6, 1)})
        net["a"](torch.arange(5)).sum().backward()
        ht.step(net)
        other = torch.nn.ModuleDict({"a": self.made(), "b": torch.nn.Linear(6, 1)})
        self.assertEqual(str(other.load_state_dict(net.state_dict())), "<All keys matched successfully>")
        self.assertTrue(torch.equal(rows_of(other["a"], torch.arange(5)), rows_of(net["a"], torch.arange(5))))
        self.assertEqual(len(list(net.parameters())), 3)

    def test_copies(self):
        one = self.made()
        train(one, one)
        for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), self.moved(one)):
            self.assertTrue(torch.equal(rows_of(other, torch.arange(IDS)), rows_of(one, torch.arange(IDS))))
            self.assertNotEqual(other._number, one._number)
            train(other, other, rounds=1)
            self.assertFalse(torch.equal(rows_of(other, torch.arange(IDS)), rows_of(one, torch.arange(IDS))))

    def moved(self, one):
        """A copy whose table was moved to the simulator, as it would be to a GPU."""
        other = copy.deepcopy(one)
        other._backend, other._table_device = "host", torch.device("cuda", 0)
        other.to("cpu")
        self.assertEqual(other.table.info["backend"], "host")
        return other

    def test_parts(self):
        e = self.made()
        with torch.no_grad():
            e(torch.arange(1000))
        parts = list(e.parts(rows=300))
        self.assertGreater(len(parts), 3)
        self.assertEqual(sorted(k for p in parts for k in p.key.tolist()), list(range(1000)))
        other = self.made()
        self.assertEqual(sum(other.insert_part(p) for p in parts), 0)
        self.assertTrue(torch.equal(rows_of(other, torch.arange(1000)), rows_of(e, torch.arange(1000))))
        with self.assertRaises(heddle.Error):
            other.insert_part(parts[0]._replace(weight=parts[0].weight[:, :2]))

    def test_changed_since(self):
        for policy in ("lru", "epoch_lru", "epoch_lfu"):
            with self.subTest(policy):
                e = self.made(policy=policy)
                train(e, e)
                copy_of = self.made(policy=policy)
                copy_of.load_state_dict(e.state_dict())
                mark = e.mark()
                e(torch.tensor([3, 5, 1000])).sum().backward()
                with self.assertRaises(heddle.Error):
                    e.mark()
                e.step()
                changed = list(e.changed_since(mark))
                self.assertEqual(sorted(k for p in changed for k in p.key.tolist()), [3, 5, 1000])
                for part in changed:
                    copy_of.insert_part(part)
                ids = torch.tensor([*range(IDS), 1000])
                self.assertTrue(torch.equal(rows_of(copy_of, ids), rows_of(e, ids)))
        with self.assertRaises(heddle.Error):
            self.made(policy="lfu").mark()

    def test_erase_and_clear(self):
        e = self.made()
        e(torch.tensor([1, 2, 3]))
        e.erase(torch.tensor([2]))
        self.assertEqual(sorted(e.table), [1, 3])
        e.clear()
        self.assertEqual(len(e), 0)


POLICIES = ("lru", "lfu", "fifo", "epoch_lru", "epoch_lfu", "epoch_fifo", "expr:on_insert=now",
            "expr:on_insert=now;on_hit=(old>>1)+(now>>1)", "expr:on_insert=tick;on_hit=old",
            "expr:on_insert=given;on_hit=old+given")  # fmt: skip


class Clocks(unittest.TestCase):
    """After every kind of load, entries are as old as they were."""

    def made(self, policy, capacity=16, **more):
        return ht.Embedding(capacity, 2, policy=policy, optimizer=ht.SGD(0.1), table={"slots": 16, **more})

    def loaded(self, kind, e, **more):
        if kind in ("deepcopy", "pickle"):
            return copy.deepcopy(e) if kind == "deepcopy" else pickle.loads(pickle.dumps(e))
        other = self.made(e.policy, **more)
        if kind == "state_dict":
            other.load_state_dict(e.state_dict())
        for part in e.parts() if kind == "parts" else ():
            other.insert_part(part)
        return other

    def test_a_loaded_table_goes_on(self):
        for policy in POLICIES:
            e = self.made(policy)
            for i in range(12):
                e.epoch = i // 5
                e(torch.arange(500 + i * 8, 508 + i * 8))
            e(torch.arange(16))
            e(torch.arange(4))
            copies = {kind: self.loaded(kind, e) for kind in ("deepcopy", "pickle", "state_dict", "parts")}
            for kind, other in copies.items():
                self.assertEqual((other.epoch, other.load_dropped), (e.epoch, 0))
                if kind != "parts":
                    self.assertEqual(other.table.clock, e.table.clock, (policy, kind))
            for ids in (torch.arange(2000, 2012), torch.arange(2, 9), torch.arange(3000, 3005)):
                for one in (e, *copies.values()):
                    one(ids)
                for kind, other in copies.items():
                    self.assertEqual(sorted(other.table), sorted(e.table), (policy, kind))

    def test_a_module_that_loads_an_older_state(self):
        """Its clock goes back with the rows."""
        e = self.made("fifo")
        e(torch.arange(16))
        saved, now = e.state_dict(), e.table.clock
        for i in range(20):
            e(torch.arange(i * 16, i * 16 + 16))
        e.load_state_dict(saved)
        self.assertEqual((e.table.clock, sorted(e.table)), (now, list(range(16))))

    def test_a_state_without_a_clock(self):
        for policy in ("lru", "fifo", "epoch_lru"):
            e = self.made(policy)
            e(torch.arange(100, 116))
            saved = e.state_dict()
            for name in ("clock", "now"):
                del saved["_extra_state"][name]
            other = self.made(policy)
            other.load_state_dict(saved)
            other(torch.arange(4))
            self.assertEqual(sum(k < 100 for k in other.table), 4)

    def test_another_clock(self):
        for policy in POLICIES:
            for clocks in (("logical", "device"), ("device", "logical")):
                e = self.made(policy, clock=clocks[0])
                e(torch.arange(16))
                for kind in ("state_dict", "parts"):
                    with self.subTest(policy=policy, clocks=clocks, kind=kind):
                        if policy.startswith("expr:") and policy != POLICIES[6] and "given" not in policy:
                            with self.assertRaisesRegex((heddle.Error, RuntimeError), "mean nothing by the"):
                                self.loaded(kind, e, clock=clocks[1])
                            continue
                        other = self.loaded(kind, e, clock=clocks[1])
                        self.assertEqual(sorted(other.table), list(range(16)))
                        other(torch.arange(100, 104))
                        self.assertEqual(sum(k >= 100 for k in other.table), 1 if policy in COUNTING else 4)

    def test_scores_that_a_caller_sets(self):
        for policy in ("lru", "fifo"):
            e = self.made(policy)
            e.insert(torch.arange(16), torch.ones(16, 2), score=torch.arange(16) + 10**12)
            e(torch.arange(100, 103))
            self.assertEqual(sorted(e.table), [*range(3, 16), 100, 101, 102])

    def test_the_clock_of_an_embedding(self):
        e = self.made("lru")
        self.assertEqual([e._clock_on(torch.device(d)) for d in ("cpu", "cuda")], ["logical", "device"])
        e(torch.arange(3))
        self.assertEqual(e._clock, "logical")
        self.assertEqual(self.made("lru", clock="logical")._clock_on(torch.device("cuda")), "logical")
        e = self.made("lru", clock="device")
        e(torch.arange(3))
        mark = e.mark()
        time.sleep(0.01)
        e(torch.tensor([1, 7]))
        self.assertEqual([sorted(p.key.tolist()) for p in e.changed_since(mark)], [[1, 7]])


COUNTING = ("lfu", "epoch_lfu", "expr:on_insert=given;on_hit=old+given")


class Seen(unittest.TestCase):
    """What PyTorch does to parameters, and rows are no parameters: it is done, or refused."""

    def setUp(self):
        self.e = ht.Embedding(1000, 8, optimizer=ht.SGD(0.1))
        self.ids, self.net = torch.arange(50), torch.nn.Sequential(self.e)
        self.before = rows_of(self.e, self.ids)

    def back(self, factor=1.0, e=None):
        ((e or self.e)(self.ids).sum() * factor).backward()

    def moved(self):
        return float((rows_of(self.e, self.ids) - self.before).abs().max())

    def refused(self, text, **options):
        with self.assertRaisesRegex(heddle.Error, text):
            self.e.step(**options)
        self.assertEqual((self.e.steps, self.moved()), (0, 0.0))

    def test_without_an_optimizer(self):
        e = ht.Embedding(100, 4)
        e.step()
        e(torch.arange(3)).sum().backward()
        with self.assertRaisesRegex(heddle.Error, "optimizer: there is none"):
            e.step()
        e.optimizer = ht.SGD(0.1)
        e.step()
        self.assertEqual(e.steps, 1)

    def test_a_forgotten_step(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            (self.e(self.ids).sum() + self.e(self.ids[:3]).sum()).backward()
            self.e.step()
            self.assertEqual(told, [])
            for _ in range(3):
                self.back()
        self.assertEqual(len(told), 1)
        self.assertIn("wait for step()", str(told[0].message))

    def test_freezing(self):
        for module in (self.e, self.net):
            module.requires_grad_(False)
            size = len(self.e)
            out = self.e(torch.arange(1000, 1005))
            self.assertEqual((out.requires_grad, len(self.e)), (False, size))
            self.e.prefetch(torch.arange(1000, 1005))
            self.e.step()
            self.assertEqual((self.moved(), len(self.e)), (0.0, size))
            module.requires_grad_(True)
            self.assertTrue(self.e(self.ids).requires_grad)
        compiled = torch.compile(self.net, backend="eager", fullgraph=True)
        self.net.requires_grad_(False)
        self.assertFalse(compiled(self.ids).requires_grad)

    def test_zero_grad_of_a_parent(self):
        sgd = torch.optim.SGD(self.net.parameters(), lr=1.0)
        for k, (zero_grad, to_none) in enumerate(itertools.product((self.net.zero_grad, sgd.zero_grad), (True, False))):
            self.back()
            zero_grad(to_none)
            self.back()  # without a warning: the earlier gradients are gone
            self.assertEqual(len(self.e.gradients), 1)
            self.net.zero_grad(to_none)
            with self.assertWarnsRegex(UserWarning, "zero_grad") if k == 0 else contextlib.nullcontext():
                self.e.step()
            self.assertEqual((self.e.gradients, self.moved()), ([], 0.0))

    def test_gradients_that_the_caller_keeps(self):
        self.back()
        kept = self.e.gradients
        self.back()
        self.assertEqual((len(kept), len(self.e.gradients)), (1, 2))
        self.e.step()
        self.assertEqual(len(kept), 1)

    def test_optimizers_of_pytorch(self):
        for optimizer in (torch.optim.Adam(self.net.parameters()), torch.optim.Adam(self.net.parameters(), fused=True),
                          torch.optim.SGD(self.net.parameters(), lr=0.5, momentum=0.9)):  # fmt: skip
            before = rows_of(self.e, self.ids)
            self.back()
            optimizer.step()
            self.e.step()
            torch.testing.assert_close(rows_of(self.e, self.ids), before - 0.1)

    def test_clipping(self):
        for clip in (lambda: torch.nn.utils.clip_grad_norm_(self.dense.parameters(), 1e-3),
                     lambda: torch.nn.utils.clip_grad_norm_(self.dense.parameters(), 1e-3, norm_type=float("inf"))):  # fmt: skip
            self.dense = torch.nn.ModuleList([self.net, torch.nn.Linear(8, 1)])
            (self.dense[1](self.e(self.ids)).sum() * 1000).backward()
            clip()
            self.refused("clip_grad_norm_")
            self.e.zero_grad()
        linear = torch.nn.Linear(8, 1)
        net, norms = torch.nn.ModuleList([self.e, linear]), []
        for parameters in (net.parameters(), linear.parameters()):
            net.zero_grad()
            linear(self.e(self.ids)).sum().backward()
            norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, 1e9)))
        self.assertEqual(*norms)

    def test_max_norm(self):
        theirs = twin(self.e, 50)
        optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
        for most in (1.0, 1e9):
            for module in (self.e, theirs):
                (module(self.ids).square().sum() * 100).backward()
            torch.nn.utils.clip_grad_norm_(theirs.parameters(), most)
            ht.step(self.net, max_norm=most), optimizer.step(), optimizer.zero_grad()
            torch.testing.assert_close(rows_of(self.e, self.ids), theirs.weight.data)

    def scaled(self, scaler, factor=1.0):
        scaler.scale(self.e(self.ids).sum() * factor).backward()
        scaler.step(self.optimizer)
        scaler.update()

    def test_a_scaled_loss(self):
        linear = torch.nn.Linear(2, 2)
        self.optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
        linear(torch.ones(1, 2)).sum().backward()
        scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
        scaler.scale(self.e(self.ids).sum()).backward()
        self.refused("call step\\(scale=scaler\\)")
        scaler.step(self.optimizer)
        scaler.update(1.0)
        self.e.step(scale=scaler)  # that of the loss, not the scaler's of now
        torch.testing.assert_close(rows_of(self.e, self.ids), self.before - 0.1)
        self.back()
        self.e.step()
        off = torch.amp.GradScaler("cpu", enabled=False)
        off.scale(self.e(self.ids).sum()).backward()
        self.e.step()
        self.assertEqual(self.e.steps, 3)

    def test_a_loss_that_overflows(self):
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
        scaler.scale(self.e(self.ids).sum() * 1e30).backward()
        self.e.step(scale=scaler)
        self.assertEqual((self.e.steps, self.e.skipped, self.moved(), self.e.gradients), (0, 1, 0.0, []))
        self.back(float("nan"))
        self.e.step(skip_nonfinite=True)
        self.assertEqual((self.e.counters()["skipped"], self.moved()), (2, 0.0))
        for scale in (0, -1.0, float("inf"), float("nan")):
            self.back()
            with self.assertRaisesRegex(ValueError, "scale"):
                self.e.step(scale=scale)
            self.e.zero_grad()

    def test_an_unscaled_gradient(self):
        """The parameter is in the scaler's optimizer."""
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        scaler.scale(self.e(self.ids).sum()).backward()
        scaler.unscale_(optimizer)
        self.refused("scale")
        self.e.step(scale=scaler)
        torch.testing.assert_close(rows_of(self.e, self.ids), self.before - 0.1)

    def test_averages(self):
        self.back()
        self.e.step()
        for average in (None, torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)):
            averaged = torch.optim.swa_utils.AveragedModel(self.net, multi_avg_fn=average)
            self.assertTrue(torch.equal(averaged.module[0].look_up(self.ids), rows_of(self.e, self.ids)))
            averaged.update_parameters(self.net)
            for use in (lambda: averaged.module(self.ids), lambda: averaged.module.eval()(self.ids), averaged.state_dict):  # noqa: B023
                with self.assertRaisesRegex(heddle.Error, "AveragedModel"):
                    use()
            averaged.module[0] = self.e  # one module in both
            averaged.update_parameters(self.net)
            self.assertTrue(torch.equal(averaged.module(self.ids), self.net(self.ids)))

    def test_evaluation_collects_no_gradients(self):
        self.net.eval()
        self.assertFalse(self.e(self.ids).requires_grad)
        with self.assertWarnsRegex(UserWarning, "in evaluation"):
            ht.step(self.net)

    def test_a_replaced_parameter(self):
        del self.e._anchor
        self.e._anchor = torch.zeros(1)  # as FSDP does
        with self.assertRaisesRegex(heddle.Error, "FSDP"):
            self.e(self.ids)

    def test_ranks(self):
        code = """
import sys, os, torch, heddle, heddle.torch as ht, torch.distributed as dist
rank = int(sys.argv[1])
dist.init_process_group("gloo", rank=rank, world_size=int(sys.argv[2]), init_method="file://" + sys.argv[3])
for group in (None, "apart"):
    net = torch.nn.Sequential(ht.Embedding(1000, 8, optimizer=ht.SGD(0.1), group=group), torch.nn.Linear(8, 1))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    for i in range(3):
        ddp(torch.arange(10 * rank, 10 * rank + 10)).square().mean().backward()
        try:
            ht.step(net)
            print(net[0].steps)
        except heddle.Error as error:
            print(str(error)[:52])
            net[0].zero_grad()
dist.destroy_process_group()
"""
        for ranks in (2, 1):
            with tempfile.TemporaryDirectory() as folder:
                words = [sys.executable, "-W", "ignore", "-c", code]
                started = [subprocess.Popen([*words, str(r), str(ranks), os.path.join(folder, "store")], stdout=subprocess.PIPE,
                                            text=True) for r in range(ranks)]  # fmt: skip
                said = [p.communicate()[0].splitlines() for p in started]
            refused = ["group: there is a process group of 2 ranks, and rows"] * 3
            for lines in said:
                self.assertEqual(lines, [*(refused if ranks == 2 else "123"), *"123"])

    def test_checkpoints(self):
        import torch.distributed.checkpoint as dcp
        from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict

        self.back()
        self.e.step()
        others = [torch.nn.Sequential(ht.Embedding(1000, 8, optimizer=ht.SGD(0.1))) for _ in range(2)]
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dcp.save({"model": self.net.state_dict()}, checkpoint_id=folder, no_dist=True)
            state = {"model": others[0].state_dict()}
            dcp.load(state, checkpoint_id=folder, no_dist=True, planner=ht.LoadPlanner())
        others[0].load_state_dict(state["model"])
        set_model_state_dict(others[1], get_model_state_dict(self.net))
        for other in others:
            self.assertTrue(torch.equal(rows_of(other[0], self.ids), rows_of(self.e, self.ids)))
            self.assertEqual((len(other[0]), other[0].steps), (50, 1))


class Faults(unittest.TestCase):
    """Wrong use is refused before something has changed, and sums are exact."""

    def test_offsets_are_checked_before_ids_enter(self):
        ids, wrong = torch.tensor([1, 5, 9]), [[0, 4], [1, 2], [0, 2, 1], [-1, 1], []]
        for last in (False, True):
            for training in (True, False):
                bag = ht.EmbeddingBag(100, 2, optimizer=ht.SGD(0.1), include_last_offset=last).train(training)
                for offsets in [*wrong, [0, 2], [0, 3, 4]] if last else wrong:
                    with self.subTest(offsets=offsets, last=last, training=training):
                        for call in (bag, torch.compile(bag, backend="eager")) if training else (bag,):
                            with self.assertRaises((ValueError, RuntimeError)):
                                call(ids, torch.tensor(offsets, dtype=torch.int64))
                        self.assertEqual(len(bag), 0)
                for wrong_call in (lambda: bag(ids), lambda: bag(ids.view(1, 3), torch.tensor([0])), lambda: bag(ids[0]),  # noqa: B023
                                   lambda: bag(ids, torch.tensor([0.0])), lambda: bag(ids, torch.tensor([[0]])),  # noqa: B023
                                   lambda: bag(ids, torch.tensor([0, 3]), torch.ones(3)),  # noqa: B023
                                   lambda: bag(ids.float(), torch.tensor([0, 3]))):  # noqa: B023  # fmt: skip
                    with self.assertRaises((ValueError, TypeError)):
                        wrong_call()
                self.assertEqual(len(bag), 0)
        bag = ht.EmbeddingBag(100, 2, mode="sum")
        for weights in (torch.ones(2), torch.ones(3).double()):
            with self.assertRaises(ValueError):
                bag(ids, torch.tensor([0]), weights)
        self.assertEqual(len(bag), 0)

    def test_halves_are_summed_in_float32(self):
        ids = torch.ones(5000, dtype=torch.int64)
        for dtype in (torch.float16, torch.bfloat16):
            for make in (ht.Embedding, ht.EmbeddingBag):
                for passes in (1, 2):
                    e = make(100, 2, dtype=dtype, optimizer=ht.SGD(1.0), init="zeros")
                    for _ in range(passes):
                        (e(ids) if make is ht.Embedding else e(ids.view(-1, 1))).sum().backward()
                    self.assertTrue((e._gathered()[1] == 5000.0 * passes).all(), (dtype, make))
                    e.zero_grad()

    def test_gradients_are_aligned(self):
        e = ht.Embedding(100, 4, optimizer=ht.SGD(1.0))
        for at in range(4):
            gradient = torch.randn(40 + at)[at:].view(10, 4)
            e(torch.arange(10), distinct=True).backward(gradient)
            self.assertEqual(e._gathered()[1].data_ptr() % 16, 0)
            e(torch.arange(3)).sum().backward()
            e.gradients[:] = [(torch.arange(10), gradient)]
            keys, gathered = e._gathered()
            self.assertTrue(gathered.data_ptr() % 16 == 0 and torch.equal(gathered, gradient))
            e.zero_grad()

    def test_gradients_go_with_a_copy(self):
        """zero_grad() of a parent reaches them there, before and after, and so does what scales them."""

        def zeroed(e):
            torch.nn.Sequential(e).zero_grad()

        ids, copies = torch.arange(3), {"deepcopy": copy.deepcopy, "pickle": lambda e: pickle.loads(pickle.dumps(e)),
                                        "half": lambda e: e.half(), "double": lambda e: e.double()}  # fmt: skip
        for name, made in copies.items():
            for before, after, moves in ((None, None, 2.0), (zeroed, None, 0.0), (None, zeroed, 0.0),
                                         (lambda e: e._anchor.grad.mul_(0.3), None, None)):  # fmt: skip
                with self.subTest(name, before=before, after=after):
                    e = ht.Embedding(100, 4, optimizer=ht.SGD(1.0))
                    for _ in range(2):
                        e(ids).sum().backward()
                    if before:
                        before(e)
                    e = made(e)
                    if after:
                        after(e)
                    rows = rows_of(e, ids)
                    if moves is None:
                        self.assertRaisesRegex(heddle.Error, "multiplied", e.step)
                        continue
                    self.assertEqual(len(e.gradients), moves)
                    e.step()
                    torch.testing.assert_close(rows_of(e, ids), rows - moves)

    def test_inference_mode_breaks_no_training(self):
        for use in (lambda e: e(torch.arange(3)), lambda e: e.prefetch(torch.arange(3)), lambda e: e.to("cpu"),
                    lambda e: e.look_up(torch.arange(3)), lambda e: e.unplaced()):  # fmt: skip
            e = ht.Embedding(100, 4, optimizer=ht.Adam(0.1))
            with torch.inference_mode():
                use(e)
                others = [copy.deepcopy(e), ht.Embedding(100, 4, optimizer=ht.Adam(0.1)), pickle.loads(pickle.dumps(e))]
            for one in (e, *others):
                one(torch.tensor([5, -1])).sum().backward()
                one.step()
                self.assertEqual((one.steps, one.reserved), (1, 1))

    def test_a_step_that_fails_is_not_counted(self):
        e = ht.Embedding(100, 4, optimizer=ht.SGD(0.1))
        e(torch.arange(3)).sum().backward()
        with unittest.mock.patch.object(e.optimizer, "update", side_effect=KeyError), self.assertRaises(KeyError):
            e.step()
        self.assertEqual((e.steps, len(e.gradients)), (0, 1))
        e.step()
        self.assertEqual(e.steps, 1)

    def test_evicted_rows_do_not_stay(self):
        e = ht.Embedding(64, 256, evicted=1 << 12, table={"slots": 16})
        with torch.no_grad():
            for i in range(40):
                e(torch.arange(i * 64, i * 64 + 64))
                list(e.evicted())
        kept = sum(outcome.untyped_storage().nbytes() for _, outcome in e._unplaced)
        self.assertLess(kept, 40 * 64 * 8)

    def test_hits(self):
        e = ht.Embedding(1000, 4, optimizer=ht.SGD(0.1))
        self.assertIsNone(e.hit_rate)
        e(torch.tensor([1, 1, 2, -1])).sum().backward()
        e.step()
        e.prefetch(torch.tensor([7, 8]))
        e(torch.tensor([2, 3, 3, 7]))
        counted = e.counters()
        self.assertEqual((counted["hits"], counted["misses"], e.hit_rate), (2, 3, 0.4))

    def test_memory_of_a_state_dict(self):
        e = ht.Embedding(1 << 15, 64, optimizer=ht.Adam(0.1))
        with torch.no_grad():
            e(torch.arange(20_000))
        before, most = resident_bytes(), 0
        copied = ht._rows.parts

        def watched(*arguments):
            nonlocal most
            for part in copied(*arguments):
                most = max(most, resident_bytes() - before)
                yield part

        with unittest.mock.patch.object(ht._rows, "parts", watched):
            state = e.state_dict()
        size = sum(t.nbytes for t in state.values() if torch.is_tensor(t))
        self.assertLess(most, 2.5 * size)  # rows, and one part twice
        self.assertEqual(len(state["key"]), 20_000)

    def test_threads(self):
        """Each row is its own id's, while other threads train and evict; no gradient is lost or another's."""
        e, errors, done = ht.Embedding(256, 4, optimizer=ht.SGD(1.0), init="zeros", table={"slots": 32}), [], threading.Event()

        def train(k):
            try:
                for i in range(60):
                    ids = random_ids(100, seed=1000 * k + i, most=2000) * 2 + k
                    e(ids).backward(ids[:, None].expand(-1, 4).float())
                    if k == 0:
                        e.step()
            except BaseException as error:  # noqa: BLE001
                errors.append(error)
            done.set()

        def look():
            while not done.is_set():
                ids = random_ids(50, seed=len(errors), most=4000)
                rows = e.look_up(ids)
                whole = rows[:, 0] / ids.clamp(min=1)
                if not bool(((whole - whole.round()).abs() < 1e-3).all()):
                    errors.append("a row of another id")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            threads = [threading.Thread(target=train, args=(k,)) for k in (0, 1)] + [threading.Thread(target=look)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            e.step()
        self.assertEqual(errors, [])
        for part in e.parts():
            times = -part.weight[:, 0] / part.key
            self.assertTrue(((times - times.round()).abs() < 1e-3).all())
            self.assertTrue((part.weight == part.weight[:, :1]).all())


class Net(Module):
    def __init__(self, **more):
        super().__init__()
        self.one = ht.Embedding(1 << 10, 8, optimizer=ht.SGD(0.1), **more)
        self.bag = ht.EmbeddingBag(1 << 10, 8, optimizer=ht.SGD(0.1), mode="sum", **more)
        self.last = torch.nn.Linear(16, 1)

    def forward(self, ids, offsets):
        both = torch.cat([self.one(ids).sum(1), self.bag(ids.reshape(-1), offsets)], 1)
        return self.last(both.float()).sum() + self.one(ids).float().square().sum()


class Compilers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()
        self.ids, self.offsets = random_ids(4, 6), torch.tensor([0, 6, 12, 20])

    def test_training(self):
        net = Net()
        other = copy.deepcopy(net)
        compiled = torch.compile(other, fullgraph=True, backend=COMPILER)
        for _ in range(3):
            losses = []
            for module, holder in ((net, net), (compiled, other)):
                loss = module(self.ids, self.offsets)
                loss.backward()
                ht.step(holder)
                losses.append(loss.detach())
            torch.testing.assert_close(*losses)
        torch.testing.assert_close(net.last.weight.grad, other.last.weight.grad)
        for a, b in ((net.one, other.one), (net.bag, other.bag)):
            torch.testing.assert_close(rows_of(a, torch.arange(IDS)), rows_of(b, torch.arange(IDS)))

    def test_other_sizes(self):
        e = ht.Embedding(1 << 10, 4, optimizer=ht.SGD(0.1))
        compiled = torch.compile(lambda ids: e(ids).sum(), fullgraph=True, backend=COMPILER, dynamic=True)
        for n in (3, 8, 21):
            compiled(torch.arange(n)).backward()
        self.assertEqual([len(keys) for keys, _ in e.gradients], [3, 8, 21])

    def test_evaluation(self):
        net = Net(dtype=torch.bfloat16)
        net(self.ids, self.offsets)
        net.eval()
        wanted = net(self.ids, self.offsets)
        torch.testing.assert_close(torch.compile(net, fullgraph=True, backend=COMPILER)(self.ids, self.offsets), wanted)
        program = torch.export.export(net, (self.ids, self.offsets))
        torch.testing.assert_close(program.module()(self.ids, self.offsets), wanted)

    def test_fake_tensors(self):
        net = Net()
        for module in (net.train(), net.eval()):
            with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
                out = module(mode.from_tensor(self.ids), mode.from_tensor(self.offsets))
                self.assertEqual(out.shape, ())
        self.assertEqual((len(net.one), len(net.bag), net.one.gradients), (0, 0, []))

    def test_export_in_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            e = ht.Embedding(1 << 10, 4)
            e.number = 4711
            wanted = e(torch.arange(5)).detach()
            program = torch.export.export(e.eval(), (torch.arange(5),))
            torch.export.save(program, os.path.join(folder, "net.pt2"))
            torch.save((e.state_dict(), wanted), os.path.join(folder, "state.pt"))
            text = (
                "import os, torch, heddle.torch as ht\n"
                f"folder = {folder!r}\n"
                "e = ht.Embedding(1 << 10, 4, init='zeros')\n"
                "e.number = 4711\n"
                "state, wanted = torch.load(os.path.join(folder, 'state.pt'))\n"
                "e.load_state_dict(state)\n"
                "net = torch.export.load(os.path.join(folder, 'net.pt2')).module()\n"
                "assert torch.equal(net(torch.arange(5)), wanted)\n"
            )
            subprocess.run([sys.executable, "-c", text], check=True)


@unittest.skipIf(importlib.util.find_spec("triton") is None, "Triton is not installed")
class Kernels(unittest.TestCase):
    """The kernels of a GPU, in Triton's interpreter, beside the operations of the table."""

    def test_in_the_interpreter(self):
        if os.environ.get("TRITON_INTERPRET") != "1":
            environment = {**os.environ, "TRITON_INTERPRET": "1"}
            words = [sys.executable, __file__, "Kernels"]
            done = subprocess.run(words, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            return
        adagrad = ht.Adagrad(0.1, initial_accumulator_value=0.5)
        optimizers = (ht.SGD(0.1), ht.Adam(0.01), ht.RowWiseAdagrad(0.1), adagrad)
        cases = [(torch.float32, 8, o, "uniform") for o in optimizers]
        cases += [(torch.float32, 33, optimizers[1], i) for i in ("normal", ht.Constant(2.0), ht.Uniform(1, 3))]
        cases += [(t, d, o, "uniform") for t, d in ((torch.float16, 8), (torch.bfloat16, 5)) for o in optimizers[1:3]]
        for dtype, dim, optimizer, init in cases:
            with self.subTest(dtype=dtype, dim=dim, optimizer=optimizer.name, init=init):
                self.check(dtype, dim, optimizer, init)
        self.check_often()
        self.check_bags()
        self.check_refused()
        self.check_groups()
        self.check_steps_in_graphs()
        self.check_launches()
        for policy in ("lru", "lfu"):
            check_read_before_evicted(self, policy, True)
        for how in ("forward", "distinct", "prefetch", "bag"):
            check_hits_stay(self, how, True)
        self.check_hits_are_counted()

    def pair(self, dim, optimizer, make=None, **more):
        made = [(make or ht.Embedding)(1 << 10, dim, optimizer=optimizer, kernels=k, **more) for k in (True, None)]
        self.assertIsNotNone(made[0]._fast())
        self.assertIsNone(made[1]._fast())
        return made

    def check(self, dtype, dim, optimizer, init):
        pair = self.pair(dim, optimizer, dtype=dtype, init=init)
        near = {torch.float32: {}, torch.float16: {"rtol": 0.01, "atol": 0.01},
                torch.bfloat16: {"rtol": 0.03, "atol": 0.05}}[dtype]  # fmt: skip
        ids = random_ids(4, 10, most=30)
        ids[0, 3] = -1
        for i in range(3):
            outs = [e(ids + 3 * i) for e in pair]
            torch.testing.assert_close(*outs, **near)
            if i == 0 and init != "normal" and dtype == torch.float32:
                self.assertTrue(torch.equal(*outs))
            weight = torch.randn(outs[0].shape).to(dtype)
            for e, out in zip(pair, outs, strict=True):
                (out * weight).sum().backward()
                e.step()
        torch.testing.assert_close(*[rows_of(e, torch.arange(-2, 50)) for e in pair], **near)
        self.assertEqual(pair[0].counters(), pair[1].counters())
        torch.testing.assert_close(pair[0].unplaced(), pair[1].unplaced())
        torch.testing.assert_close(next(pair[0].parts()).state, next(pair[1].parts()).state, **near)
        for e in pair:
            e.absent = 7.0
        self.assertTrue((rows_of(pair[0], torch.tensor([999])) == 7).all())

    def check_often(self):
        """Ids that occur more than 256 times are summed by chunks; several passes before a step."""
        pair = self.pair(4, ht.SGD(0.01))
        ids = torch.cat([torch.full((700,), 5), torch.arange(50), torch.full((257,), 6), torch.full((300,), 2)])
        ids = ids[torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))]
        weight = torch.randn(len(ids), 4)
        for passes in (1, 2):
            for e in pair:
                for _ in range(passes):
                    (e(ids) * weight).sum().backward()
                if passes == 1:
                    keys, gradient = e.gradients[0]
                    torch.testing.assert_close(gradient[keys == 5][0], weight[ids == 5].sum(0), rtol=1e-4, atol=1e-4)
                    (e(ids[:1]) * 0).sum().backward()
                e.step()
            for e in pair:
                (e(ids) * weight).sum().backward()
                e.step()
        torch.testing.assert_close(*[rows_of(e, torch.arange(50)) for e in pair], rtol=1e-4, atol=1e-4)
        self.check_sums_do_not_depend_on_other_ids(pair[0]._fast())

    def check_sums_do_not_depend_on_other_ids(self, kernels):
        gradient = torch.randn(701, 4)
        sums = []
        for others in (0, 1, 63, 64, 100, 300):
            ids = torch.cat([torch.full((others,), 1), torch.full((701,), 7), torch.full((others,), 9)])
            g = kernels.groups(ids)
            around = torch.randn(others, 4)
            of_all = kernels.sums(g, torch.cat([around, gradient, around]))
            sums.append(of_all[g.keys() == 7])
            torch.testing.assert_close(of_all[g.keys() == 9].sum(0), around.sum(0), rtol=1e-4, atol=1e-4)
        self.assertTrue(all(torch.equal(s, sums[0]) for s in sums))
        torch.testing.assert_close(sums[0][0], gradient.sum(0), rtol=1e-4, atol=1e-4)

    def check_bags(self):
        pair = self.pair(4, ht.Adam(0.1), make=ht.EmbeddingBag, policy="lfu")
        for e in pair:
            for i in range(2):
                e(random_ids(5, 6, seed=i)).square().sum().backward()
                e.step()
        torch.testing.assert_close(*[rows_of(e, torch.arange(IDS)) for e in pair])
        scores = [dict(zip(*(c.tolist() for c in (p.key, p.score)), strict=True)) for e in pair for p in e.parts()]
        self.assertEqual(scores[0], scores[1])

    def check_groups(self):
        """Distinct ids, where they begin, and the padding, beside torch.unique; also over many blocks."""
        from heddle.torch import _kernels

        kernels = ht.Embedding(1 << 10, 4, optimizer=ht.SGD(0.1), kernels=True)._fast()
        whole = _kernels.BLOCK_IDS
        for block in (8, whole):
            _kernels.BLOCK_IDS, _kernels.NAMED_FROM = block, 1 if block == 8 else 1000
            kernels._make_launches()
            for n in (1, 7, 64, 65, 200, 1025):
                for ids in (random_ids(n, most=n // 2 + 1) - 3, random_ids(n).int(), torch.arange(n), torch.ones(n)):
                    self.check_group(kernels, ids if ids.dtype == torch.int32 else ids.long())
            self.check_names(kernels)
        _kernels.BLOCK_IDS, _kernels.NAMED_FROM = whole, 1 << 16
        self.assertEqual(kernels.groups(torch.empty(0, dtype=torch.int64)).keys().tolist(), [])

    def check_group(self, kernels, ids):
        g = kernels.groups(ids)
        keys, occur = torch.unique(ids.long(), return_counts=True)
        self.assertEqual((g.size, g.key.dtype), (len(keys), torch.int64))
        ascending = torch.argsort(g.keys())
        self.assertTrue(torch.equal(g.keys()[ascending], keys))
        self.assertTrue(torch.equal(g.occurrences()[: g.size][ascending], occur))
        self.assertTrue((g.key[g.size :] == -1).all())
        self.assertTrue(torch.equal(g.keys()[g.inverse()], ids.long()))
        self.assertTrue(torch.equal(ids.long()[g.order], g.keys()[g.number.long()]))
        self.assertEqual((int(g.start[0]), int(g.start[g.size])), (0, len(ids)))
        same = g.number[1:] == g.number[:-1]
        self.assertTrue((g.order.diff()[same] > 0).all())

    def check_names(self, kernels):
        """Ids whose first slots are equal, too: 300 ids in a hash table of 1024 slots."""
        ids = torch.cat([random_ids(300, most=1 << 40, seed=1), torch.tensor([0, -1, -(1 << 63)])]).repeat(2)
        names = kernels.names(ids[:400], None)
        self.assertTrue(torch.equal(ids[names.long()], ids[:400]))
        self.assertEqual(len(names.unique()), len(ids[:400].unique()))
        self.assertTrue((kernels.names(torch.full((100,), 7), None) == kernels.names(torch.full((1,), 7), None)).all())

    def check_steps_in_graphs(self):
        """Steps that are counted on the device, as in a CUDA graph, are the same, and later ones go on from there."""
        for optimizer in (ht.Adam(0.01), ht.Adam(0.01, betas=(0, 0.5)), ht.SGD(0.1)):
            pair = self.pair(8, optimizer)
            for i in range(6):
                for e in pair:
                    e(random_ids(50, seed=i).int()).square().sum().backward()
                    if e is pair[0] and i in (2, 3):
                        e._capturing = lambda: True
                    e.step()
                    vars(e).pop("_capturing", None)
                self.assertEqual((pair[0].steps, pair[1].steps), (i + 1, i + 1))
            rows = [rows_of(e, torch.arange(IDS)) for e in pair]
            torch.testing.assert_close(*rows, rtol=1e-5, atol=1e-6)
            other = copy.deepcopy(pair[0])
            self.assertEqual(other.steps, 6)
            other.load_state_dict({**pair[0].state_dict()})
            pair[0].steps = 40
            self.assertEqual((other.steps, pair[0].steps), (6, 40))

    def check_launches(self):
        """Later calls hand the compiled kernel all parameters, constants included, in the order of the function."""
        from heddle.torch import _kernels

        calls = []

        class Compiled:
            function, packed_metadata, run = "function", "metadata", lambda self, *words: calls.append(words)

        class Kernel:
            fn = staticmethod(lambda a, b, C, D: None)

            def __getitem__(self, programs):
                return lambda *words, **named: calls.append((programs, words, named)) or Compiled()

        direct, _kernels.DIRECT = _kernels.DIRECT, True
        launch = _kernels.Launch(Kernel(), {"D": 4, "C": 3}, num_warps=2)
        for variant in ("x", "x", "y"):
            launch(7, 1, 2, variant=variant, stream=5)
        _kernels.DIRECT = direct
        first = ((7,), (1, 2), {"D": 4, "C": 3, "num_warps": 2})
        self.assertEqual(calls, [first, (7, 1, 1, 5, "function", "metadata", None, None, None, 1, 2, 3, 4), first])

    def check_hits_are_counted(self):
        for e in self.pair(4, ht.SGD(0.1), table={"slots": 8}):
            e(torch.tensor([1, 1, 2, -1])).sum().backward()
            e.step()
            e.prefetch(torch.tensor([7, 8]))
            e(torch.tensor([2, 3, 3, 7, -2]), distinct=False)
            e(torch.tensor([8, 9]), distinct=True)
            self.assertEqual([e.counters()[name] for name in ("hits", "misses", "reserved")], [3, 4, 2])

    def check_refused(self):
        initial = rows_of(ht.Embedding(4, 4), torch.arange(200))
        e = ht.Embedding(4, 4, optimizer=ht.SGD(0.1), kernels=True, table={"slots": 2, "pins": 1})
        out = e(torch.arange(200))
        self.assertTrue(torch.equal(out, initial))
        out.sum().backward()
        e.step()
        self.assertEqual((len(e), e.dropped), (4, 196))
        self.assertEqual(int((rows_of(e, torch.arange(200)) != initial).all(1).sum()), 4)
        e.table.lock_keys(torch.tensor(list(e.table)), 7)
        self.assertTrue(torch.equal(e(torch.arange(300, 303)), rows_of(ht.Embedding(4, 4), torch.arange(300, 303))))
        other = ht.Embedding(4, 4, optimizer=ht.SGD(0.1), seed=9)
        e.load_state_dict(other.state_dict())
        self.assertTrue(torch.equal(rows_of(e, torch.arange(5)), rows_of(other, torch.arange(5))))
        self.assertEqual((e.refused, sorted(e.unplaced().tolist())[-3:]), (3, [300, 301, 302]))


class Dataset:
    """Holds an embedding, so a worker process gets a copy of it."""

    def __init__(self, embedding):
        self.embedding = embedding

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.embedding.look_up(torch.tensor([i]))[0]


class Processes(unittest.TestCase):
    def test_workers(self):
        e = ht.Embedding(1 << 10, 4)
        with torch.no_grad():
            e.insert(torch.arange(6), torch.arange(24.0).view(6, 4))
        for context in ("fork", "spawn"):
            loader = torch.utils.data.DataLoader(Dataset(e), batch_size=3, num_workers=2,
                                                 multiprocessing_context=context)  # fmt: skip
            self.assertTrue(torch.equal(torch.cat(list(loader)), torch.arange(24.0).view(6, 4)))

    def test_import_needs_nothing_early(self):
        text = ("import sys, heddle; assert 'torch' not in sys.modules; "
                "import heddle.torch; assert 'torch._dynamo' not in sys.modules")  # fmt: skip
        subprocess.run([sys.executable, "-c", text], check=True)

    def test_version_that_is_too_old(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "torch.py"), "w") as file:
                file.write("__version__ = '1.13.1'\n")
            text = f"import sys; sys.path.insert(0, {folder!r}); import heddle.torch"
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
            self.assertIn("ImportError: heddle.torch needs PyTorch 2.4", done.stderr)


class Page(unittest.TestCase):
    def test_examples_run(self):
        path = pathlib.Path(__file__).parents[2] / "doc" / "python-torch.md"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        names = {}
        for example in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S):
            exec(compile(example, str(path), "exec"), names)
        self.assertIn("renew", names)


def check_read_before_evicted(test, policy, kernels):
    """The ids 1 and 2 have trained rows, and are evicted by later ids of their own batch."""
    e = ht.Embedding(2, 4, optimizer=ht.SGD(0.1), policy=policy, kernels=kernels, table={"slots": 2})
    e(torch.tensor([1, 2])).sum().backward()
    e.step()
    trained = rows_of(e, [1, 2])
    out = e(torch.tensor([1, 2, 3, 4, 5]))
    test.assertFalse({1, 2} <= set(e.table))
    test.assertTrue(torch.equal(out[:2], trained))
    test.assertTrue(torch.equal(out[2:], rows_of(ht.Embedding(4, 4), [3, 4, 5])))


def check_hits_stay(test, how, kernels):
    """New ids of a batch, which come before its hits, evict other rows than these."""
    make = ht.EmbeddingBag if how == "bag" else ht.Embedding
    e = make(8, 4, optimizer=ht.SGD(1.0), init="zeros", kernels=kernels, table={"slots": 8})
    for key in range(100, 108):
        e(torch.tensor([[key]])).sum().backward()
        e.step()
    ids = torch.tensor([1, 2, 3, 100, 101, 102])
    if how == "prefetch":
        e.prefetch(ids)
    else:
        (e(ids.view(-1, 1)) if how == "bag" else e(ids, distinct=how == "distinct")).sum().backward()
        e.step()
    test.assertEqual(sorted(e.table), [1, 2, 3, 100, 101, 102, 106, 107])
    trained = -1.0 if how == "prefetch" else -2.0
    test.assertTrue((rows_of(e, ids[3:]) == trained).all(), how)


def reference(key, seed, column):
    """24 random bits in Python's arithmetic, as doc/python-torch.md describes them."""
    full, half = (1 << 64) - 1, (1 << 32) - 1
    h = (key ^ (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03)) & full
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & full
    h = (h ^ h >> 27) * 0x94D049BB133111EB & full
    h ^= h >> 31
    x = (h + column * 0x9E3779B9) & half
    x = (x ^ x >> 16) * 0x21F0AAAD & half
    x = (x ^ x >> 15 ^ h >> 32) * 0x735A2D97 & half
    return (x ^ x >> 15) >> 8


if __name__ == "__main__":
    unittest.main()
