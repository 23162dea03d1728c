# SPDX-License-Identifier: Apache-2.0
"""Tables on a GPU with arrays of PyTorch, CuPy and JAX: in and out without a copy, in the order of streams.

Skipped without a GPU, or without the wheel's CUDA part.
"""

import concurrent.futures
import importlib.util
import os
import tempfile
import time
import unittest
import unittest.mock

import heddle

try:
    import torch

    GPU = torch.cuda.is_available() and "cuda" in [name for name, _, _ in heddle.rows("backends")]
except ImportError:
    GPU = False


def module(name):
    """A module, or a skipped test."""
    try:
        return __import__(name)
    except ImportError as error:
        raise unittest.SkipTest(f"{name} is missing") from error


def table(**more):
    return heddle.Table(capacity=1 << 16, value=("float32", 4), backend="cuda", **more)


@unittest.skipUnless(GPU, "a GPU, PyTorch with CUDA and a wheel with CUDA are needed")
class Torch(unittest.TestCase):
    def arrays(self, n=1000, first=0):
        keys = torch.arange(first, first + n, dtype=torch.int64, device="cuda")
        return keys, keys[:, None].float().expand(n, 4).contiguous()

    def test_in_and_out_on_the_device(self):
        with table() as t:
            keys, rows = self.arrays()
            fate = t.insert(keys, rows)
            self.assertTrue(fate.is_cuda)
            self.assertTrue((fate == int(heddle.Outcome.INSERTED)).all())
            r = t.find(torch.cat([keys, keys + 10**6]))
            self.assertEqual((r.value.device, r.value.dtype, tuple(r.value.shape)), (keys.device, torch.float32, (2000, 4)))
            self.assertTrue(torch.equal(r.value[:1000], rows))
            self.assertEqual(int(r.value[1000:].abs().sum()), 0)
            self.assertTrue(torch.equal(r.found, torch.arange(2000, device="cuda") < 1000))
            self.assertEqual(r.score.dtype, torch.uint64)

    def test_inputs_and_outputs_are_used_in_place(self):
        with table() as t:
            keys, rows = self.arrays(4096)
            t.insert(keys, rows)
            out = torch.empty_like(rows)
            t.find(keys, out=out)
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            t.insert(keys, rows, distinct=True)
            r = t.find(keys, out=out)
            self.assertEqual(r.value.data_ptr(), out.data_ptr())
            self.assertLess(torch.cuda.max_memory_allocated() - before, rows.nbytes)
            self.assertTrue(torch.equal(out, rows))

    def test_a_delayed_producer_on_a_side_stream(self):
        side = torch.cuda.Stream()
        with table() as t:
            keys, rows = self.arrays(1 << 14)
            late = torch.zeros_like(keys)
            torch.cuda.synchronize()
            with torch.cuda.stream(side):
                torch.cuda._sleep(400_000_000)  # about a fifth of a second
                late.copy_(keys)
                began = time.perf_counter()
                t.insert(late, rows)
                r = t.find(late)
                waited = time.perf_counter() - began
                value = r.value.clone()
            self.assertFalse(side.query(), "the calls waited for the stream")
            self.assertLess(waited, 0.1)
            side.synchronize()
            self.assertTrue(torch.equal(value, rows))
            self.assertEqual(len(t), 1 << 14)

    def test_streams_of_a_table_take_effect_in_the_order_of_calls(self):
        a, b = torch.cuda.Stream(), torch.cuda.Stream()
        with table() as t:
            keys, rows = self.arrays(1 << 12)
            torch.cuda.synchronize()
            with torch.cuda.stream(a):
                torch.cuda._sleep(200_000_000)
                t.insert(keys, rows)
            r = t.find(keys, stream=b)
            torch.cuda.synchronize()
            self.assertTrue(bool(r.found.all()))

    def test_evicted_rows_are_listed_once(self):
        with heddle.Table(capacity=1024, value=("float32", 4), backend="cuda") as t:
            keys, rows = self.arrays(5000)
            gone = t.insert(keys, rows, evicted=True, distinct=True).evicted
            left = [int(key) for part in t.items() for key in part.key]
            self.assertEqual(sorted(gone.key.cpu().to(torch.int64).tolist() + left), list(range(5000)))
            self.assertTrue(torch.equal(gone.value[:, 0].cpu(), gone.key.cpu().to(torch.float32)))

    def test_a_captured_lookup_replays(self):
        with table() as t:
            keys, rows = self.arrays(1024)
            t.insert(keys, rows)
            out = torch.zeros_like(rows)
            r = t.find(keys, out=out)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                t.find(keys, out=out)
            keys.copy_(keys.flip(0))
            out.zero_()
            graph.replay()
            torch.cuda.synchronize()
            self.assertTrue(torch.equal(out, rows.flip(0)))
            self.assertIs(r.value, out)

    def test_tables_open_and_close_beside_a_capture(self):
        """By this thread and by another, in each mode of captures: the graph is whole, and so is its table."""
        kinds = {
            "hkv": {},
            "hkv, tiers": {"device_value_bytes": 1 << 17},
            "hkv, that grows in place": {"capacity": 1 << 22},
            "hive": {},
            "ovs": {"near": 1 << 24},
            "sl": {"near": 1 << 24},
        }
        for mode in "global", "thread_local", "relaxed":
            for name, more in kinds.items():
                for beside in False, True:
                    with self.subTest(mode=mode, table=name, beside=beside):
                        self.check_beside_a_capture(mode, beside, dict(more, design=name.split(",")[0]))

    def check_beside_a_capture(self, mode, beside, kind):
        def make():
            value = {"value": ("float32", 4)} if kind["design"] == "hkv" else {}
            return heddle.Table(backend="cuda", **{"capacity": 1 << 14, **kind, **value})

        def change():
            with torch.cuda.stream(side):
                old.pop().close()
                with make() as t:
                    t.reserve(2 * kind.get("capacity", 1 << 14))

        keys, rows = self.arrays(1024)
        old, side, graph = [make()], torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with table() as t:
            t.insert(keys, rows)
            out = torch.zeros_like(rows)
            t.find(keys, out=out)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph, capture_error_mode=mode):
                t.find(keys, out=out)
                if beside:
                    with concurrent.futures.ThreadPoolExecutor(1) as pool:
                        pool.submit(change).result()
                else:
                    change()
            out.zero_()
            graph.replay()
            torch.cuda.synchronize()
            self.assertTrue(torch.equal(out, rows))

    def test_memory_that_no_array_had_is_used_again(self):
        """A second batch on the stream, while the first one waits; no allocation, and not in a capture."""
        with table() as t:
            keys, rows = self.arrays(1024)
            t.insert(keys, rows)
            out, side = torch.empty_like(rows), torch.cuda.Stream()

            def allocations(call, times=5):
                before = torch.cuda.memory_stats()["allocation.all.allocated"]
                for _ in range(times):
                    call()
                return torch.cuda.memory_stats()["allocation.all.allocated"] - before

            t.find(keys), t.find(keys, out=out)
            self.assertEqual(allocations(lambda: (t.find(keys), t.find(keys, out=out))), 0)
            self.assertEqual(allocations(lambda: t.find(keys).value), 4)  # the first gets the memory that is kept
            torch.cuda.synchronize()
            torch.cuda._sleep(100_000_000)
            t.find(keys + 10**6)
            r = t.find(keys)
            self.assertTrue(torch.equal(r.value, rows) and bool(r.found.all()))
            with torch.cuda.stream(side):
                t.find(keys, out=out)
                graph = torch.cuda.CUDAGraph()
            side.synchronize()
            with torch.cuda.graph(graph, stream=side):
                captured = t.find(keys)
            del captured  # its memory is the graph's
            with torch.cuda.stream(side):
                r = t.find(keys + 10**6)
                found = r.found
                graph.replay()
                self.assertFalse(bool(found.any()))

    def test_arrays_of_the_caller(self):
        with table() as t:
            keys, rows = self.arrays(1024)
            t.insert(keys, rows)
            own = {"value": torch.full((2048, 4), 7.0, device="cuda"), "found": torch.zeros(2048, dtype=torch.bool, device="cuda")}
            both = torch.cat([keys, keys + 10**6])
            before = torch.cuda.memory_stats()["allocation.all.allocated"]
            self.assertIs(t.find(both, out=own), own)
            self.assertEqual(torch.cuda.memory_stats()["allocation.all.allocated"], before)
            self.assertTrue(torch.equal(own["value"][:1024], rows) and bool((own["value"][1024:] == 7).all()))
            t.find(both, out=own, zero=True)
            self.assertEqual((int(own["found"].sum()), float(own["value"][1024:].abs().sum())), (1024, 0.0))
            for pinned in (torch.full((2048, 4), 7.0).pin_memory(), torch.full((2048, 4), 7.0)):
                t.find(both, out=pinned, zero=True)
                torch.cuda.synchronize()
                self.assertTrue(torch.equal(pinned[:1024], rows.cpu()) and not pinned[1024:].any())

    def test_outputs_of_operators_honour_record_stream(self):
        import heddle.torch as ht

        with table() as t:
            keys, rows = self.arrays(1 << 14)
            t.insert(keys, rows)
            h, side = ht.Handle(t), torch.cuda.Stream()
            torch.cuda.synchronize()
            value, found = h.find(keys)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(200_000_000)
                late = value.clone(), found.clone()
            value.record_stream(side), found.record_stream(side)
            del value, found
            soiled = [h.find(keys + 10**6) for _ in range(20)]
            torch.cuda.synchronize()
            self.assertTrue(torch.equal(late[0], rows) and bool(late[1].all()))
            self.assertFalse(any(bool(f.any()) for _, f in soiled))

    def test_kernels_of_operators_in_c(self):
        """Beside the functions in Python: the same results, on the device, and without Python."""
        import heddle.torch as ht

        if not ht.operators_in_c["CUDA"]:
            raise unittest.SkipTest("this PyTorch has no kernels in C")
        keys, rows = self.arrays(1000)
        some = torch.cat([keys[::2], keys[::2] + 10**6, torch.tensor([-1, -2], device="cuda")])
        new = torch.randn(len(some), 4, device="cuda")
        steps = ("find", "contains", "touch", "find_out", "assign", "find", "find_or_insert", "accum_or_assign", "find",
                 "insert_or_assign", "erase", "find")  # fmt: skip

        def results(function_of):
            with table() as t:
                t.insert(keys, rows)
                h, got = ht.Handle(t), []
                for name in steps:
                    values = [] if name in ("find", "contains", "touch", "find_out", "erase") else [new]
                    options = {"out": torch.zeros_like(new)} if name == "find_out" else {}
                    result = function_of(name)(h.number, h.state, some, *values, **options)
                    got += [*options.values(), *(result if isinstance(result, tuple) else [result])]
                return got

        in_python = results(lambda name: ht._ops._ON_GPU.get(name, getattr(ht._ops, name)))
        with unittest.mock.patch.object(ht._ops, "find_object", side_effect=AssertionError("Python was asked")):
            in_c = results(lambda name: getattr(torch.ops.heddle, name).default)
        for a, b in zip(in_c, in_python, strict=True):
            if a is not None or b is not None:
                self.assertEqual((a.device, a.dtype, a.shape), (b.device, b.dtype, b.shape))
                self.assertTrue(torch.equal(a, b))

    def test_kernels_of_operators_are_on_the_current_stream(self):
        import heddle.torch as ht

        side = torch.cuda.Stream()
        with table() as t:
            h = ht.Handle(t)
            keys, rows = self.arrays(1 << 14)
            h.find(keys), h.insert_or_assign(keys[:1], rows[:1])
            late = torch.zeros_like(keys)
            torch.cuda.synchronize()
            with torch.cuda.stream(side):
                torch.cuda._sleep(400_000_000)
                late.copy_(keys)
                h.insert_or_assign(late, rows)
                value, found = h.find(late)
            self.assertFalse(side.query(), "the calls waited for the stream, or ran on another")
            side.synchronize()
            self.assertTrue(torch.equal(value, rows) and bool(found.all()))

    def test_operators_in_a_graph(self):
        import heddle.torch as ht

        with table(clock="device") as t:
            h = ht.Handle(t)
            keys, rows = self.arrays(1024)
            h.insert_or_assign(keys, rows)
            out = torch.zeros_like(rows)
            side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                h.find(keys), h.find_out(keys, out), h.contains(keys), h.insert_or_assign(keys, rows)
            side.synchronize()
            with torch.cuda.graph(graph, stream=side):
                value, found = h.find(keys)
                h.find_out(keys, out)
                h.insert_or_assign(keys, value + 1)
                again = h.contains(keys)
            keys.copy_(keys.flip(0))
            graph.replay()
            torch.cuda.synchronize()
            self.assertTrue(torch.equal(value, rows.flip(0)) and torch.equal(out, value))
            self.assertTrue(bool(found.all()) and bool(again.all()))
            self.assertTrue(torch.equal(t.find(keys).value, value + 1))

    def test_operators_with_tensors_of_this_machine(self):
        """Beside a state on the device they are up to Python, and errors have the same sentences."""
        import heddle.torch as ht

        keys, rows = self.arrays(10)
        with table() as t, heddle.Table(capacity=1024, value=("float32", 4)) as host:
            h, apart = ht.Handle(t), ht.Handle(host)
            self.assertTrue((h.insert_or_assign(keys.cpu(), rows.cpu()) == int(heddle.Outcome.INSERTED)).all())
            self.assertTrue(torch.equal(h.find(keys)[0], rows))
            for call in (lambda: apart.find(keys), lambda: apart.insert_or_assign(keys, rows)):
                with self.assertRaisesRegex(heddle.Error, "keys: on device cuda:0, but the table is in host memory"):
                    call()
            with self.assertRaisesRegex(heddle.Error, "values: 5 rows, but there are 10 keys"):
                h.insert_or_assign(keys, rows[:5])

    def test_half_and_bfloat_rows(self):
        for name in ("float16", "bfloat16"):
            with heddle.Table(capacity=4096, value=(name, 8), backend="cuda") as t:
                keys = torch.arange(100, device="cuda")
                rows = torch.randn(100, 8, device="cuda").to(getattr(torch, name))
                t.insert(keys, rows)
                self.assertTrue(torch.equal(t.find(keys).value, rows))

    def test_copies_of_arrays_of_this_machine_are_awaited(self):
        with heddle.Table(capacity=1 << 20, value="int64", backend="cuda") as t:
            keys = torch.arange(1, 1 << 18)
            for there, here in ((keys.cuda(), keys.clone()), (keys.clone(), keys.cuda())):
                t.clear()
                t.insert(there, here)
                there.zero_(), here.zero_()
                for again in (keys, keys.cuda()):
                    out = torch.zeros(len(keys), dtype=torch.int64)
                    t.find(again, out=out)
                    self.assertTrue(torch.equal(out, keys))

    def test_places_that_do_not_fit(self):
        keys, rows = self.arrays(10)
        with heddle.Table(capacity=1024, value=("float32", 4)) as host:
            with self.assertRaisesRegex(heddle.Error, "host memory"):
                host.insert(keys, rows)
        with table() as t:
            self.assertEqual(len(t.insert(keys.cpu(), rows.cpu())), 10)
            self.assertFalse(t.find(keys.cpu()).value.is_cuda)

    def test_addresses_are_read_by_a_triton_kernel(self):
        module("triton")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "read_rows.py")  # Triton reads a kernel's text from its file
            with open(path, "w", encoding="utf-8") as file:
                file.write(READ_ROWS)
            spec = importlib.util.spec_from_file_location("read_rows", path)
            read = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(read)
            with table() as t:
                keys, rows = self.arrays(512)
                t.insert(keys, rows)
                pointers = t.find_ptr(keys).ptr.view(torch.int64)
                out = torch.zeros(512, 4, device="cuda")
                read.read_rows[(512,)](pointers, out)
                self.assertTrue(torch.equal(out, rows))


READ_ROWS = """import triton
import triton.language as tl


@triton.jit
def read_rows(pointers, out):
    i = tl.program_id(0)
    row = tl.load(pointers + i).to(tl.pointer_type(tl.float32))
    lanes = tl.arange(0, 4)
    tl.store(out + i * 4 + lanes, tl.load(row + lanes))
"""


@unittest.skipUnless(GPU, "a GPU, PyTorch with CUDA and a wheel with CUDA are needed")
class Others(unittest.TestCase):
    def test_cupy(self):
        cupy = module("cupy")
        with table() as t:
            keys = cupy.arange(1000, dtype=cupy.int64)
            rows = cupy.repeat(keys.astype(cupy.float32)[:, None], 4, axis=1)
            fate = t.insert(keys, rows)
            self.assertIsInstance(fate, cupy.ndarray)
            r = t.find(keys)
            self.assertTrue(bool((r.value == rows).all()))
            out = cupy.zeros_like(rows)
            t.find(keys, out=out)
            self.assertTrue(bool((out == rows).all()))

    def test_a_delayed_producer_of_cupy(self):
        cupy = module("cupy")
        spin = cupy.RawKernel(
            'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }', "spin"
        )
        with table() as t:
            keys = cupy.arange(1000, dtype=cupy.int64)
            rows = cupy.repeat(keys.astype(cupy.float32)[:, None], 4, axis=1)
            t.insert(keys, rows)
            side = cupy.cuda.Stream(non_blocking=True)
            for cycles in (1, 300_000_000):  # first to compile what follows
                late = cupy.full(1000, 5 * 10**6, dtype=cupy.int64)
                cupy.cuda.Device().synchronize()
                with side:
                    spin((1,), (1,), (cycles,))
                    late[...] = keys
                    r = t.find(late)
                    value = r.value.copy()
            self.assertFalse(side.done)
            side.synchronize()
            self.assertTrue(bool((value == rows).all()))

    def test_jax(self):
        jax = module("jax")
        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        with table() as t:
            keys = jnp.arange(1000, dtype=jnp.int64)
            rows = jnp.repeat(keys.astype(jnp.float32)[:, None], 4, axis=1)
            t.insert(keys, rows)
            r = t.find(keys)
            self.assertTrue(bool((r.value == rows).all()))
            self.assertEqual(r.value.devices(), keys.devices())
            apart = [a.unsafe_buffer_pointer() - r.value.unsafe_buffer_pointer() for a in (r.score, r.found)]
            self.assertTrue(all(0 < abs(bytes_) < 1 << 16 for bytes_ in apart), apart)  # of one block: no copies

    def test_a_delayed_producer_of_jax(self):
        jax = module("jax")
        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        @jax.jit
        def slow(x):
            a = jax.lax.fori_loop(0, 60, lambda i, a: jnp.tanh(a @ a), jnp.full((6144, 6144), 1e-4, jnp.float32))
            return x + (a[0, 0] * 0).astype(x.dtype)

        with table() as t:
            keys = jnp.arange(1000, dtype=jnp.int64)
            rows = jnp.repeat(keys.astype(jnp.float32)[:, None], 4, axis=1)
            slow(keys).block_until_ready()
            t.insert(slow(keys), rows)
            self.assertTrue(bool((t.find(keys).value == rows).all()))


if __name__ == "__main__":
    unittest.main()
