# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch as arguments of tables and operators: what memory does not tell, and what autograd has to know."""

import unittest

from reading import heddle, optional

torch = optional("torch")
if not torch:
    raise unittest.SkipTest("torch is missing")

import heddle.torch as ht  # noqa: E402


def lazy(kind):
    """A contiguous tensor whose memory has other numbers than its elements, with PyTorch's public functions."""
    z = torch.tensor([1 + 2j, 3 + 4j], dtype=torch.complex64).conj()
    return z if kind == "conj" else torch.tensor([1 + 2j], dtype=torch.complex64).conj().imag


class Case(unittest.TestCase):
    def setUp(self):
        self.t = heddle.Table(256, "float32")
        self.addCleanup(self.t.close)
        self.keys = torch.tensor([1, 2])
        self.t.insert(self.keys, torch.tensor([10.0, 20.0]))
        self.handle = ht.Handle(self.t)

    def refuses(self, pattern, call, *arguments, **options):
        with self.assertRaisesRegex(heddle.Error, f"^{pattern}"):
            call(*arguments, **options)


class LazyBits(Case):
    """A tensor is refused if its elements are not what its memory has."""

    def test_every_argument(self):
        one, key = torch.tensor([1]), torch._neg_view(torch.tensor([-1]))
        value = lazy("neg")
        self.assertTrue(value.is_neg() and value.is_contiguous())
        for call, name, arguments, options in (
            *((name, "keys", (key,), {}) for name in ("find", "contains", "touch", "erase", "find_ptr", "find_missed")),
            *((name, "values", (one, value), {}) for name in
              ("insert", "upsert", "assign", "assign_values", "find_or_insert", "accum_or_assign", "insert_and_evict")),
            ("touch", "scores", (one, key), {}),
            ("find", "out", (one,), {"out": value}),
            ("find", "out", (one,), {"out": {"value": value}}),
            ("find", r"out\['score'\]", (one,), {"out": {"score": key}}),
        ):  # fmt: skip
            said = rf"{name}: a tensor with PyTorch's lazy negative bit; pass {name}.resolve_neg\(\)"
            self.refuses(said, getattr(self.t, call), *arguments, **options)
        self.assertEqual(self.t.find(self.keys).value.tolist(), [10.0, 20.0])
        self.t.insert(one, value.resolve_neg())
        self.assertEqual(self.t.find(one).value.tolist(), [-2.0])

    def test_conjugates(self):
        with heddle.Table(64, 8) as t:
            self.refuses("values: a tensor with PyTorch's lazy conjugate bit", t.insert, self.keys, lazy("conj"))
            t.insert(self.keys, lazy("conj").resolve_conj())
            self.assertEqual(t.find(self.keys).value.view(torch.complex64).flatten().tolist(), [1 - 2j, 3 - 4j])

    def test_operators(self):
        h, neg = self.handle, torch._neg_view
        self.refuses("out: a tensor with PyTorch's lazy negative bit", h.find_out, self.keys, neg(torch.zeros(2)))
        self.assertEqual(h.find_out(neg(-self.keys), torch.zeros(2)).tolist(), [10.0, 20.0])
        h.insert_or_assign(self.keys, neg(torch.tensor([-7.0, 8.0])))
        self.assertEqual(h.find(neg(-self.keys))[0].tolist(), [7.0, -8.0])

    def test_tensors_without_memory(self):
        freed = torch.ones(2)
        freed.untyped_storage().resize_(0)
        for tensor in (freed, torch._efficientzerotensor(2), torch._to_functional_tensor(torch.ones(2))):
            self.refuses("values: its library gives no memory of it", self.t.insert, self.keys, tensor)
        self.refuses("out: its library gives no memory of it", self.t.find, self.keys, out=freed)
        self.refuses("keys: its library gives no memory of it", self.t.find, torch._efficientzerotensor(2, dtype=torch.int64))

    def test_errors_are_one_line(self):
        for tensor in (torch.ones(2).to_sparse(), torch.ones(2, device="meta")):
            with self.assertRaises(heddle.Error) as caught:
                self.t.insert(self.keys, tensor)
            self.assertNotIn("\n", str(caught.exception))


class Versions(Case):
    """Autograd is told what a call writes, as by PyTorch's own functions with `out`."""

    def writers(self):
        """Calls that write a tensor of two values."""
        t, k, h = self.t, self.keys, self.handle
        yield "find", lambda out: t.find(k, out=out)
        yield "find, by name", lambda out: t.find(k, out={"value": out})
        yield "touch", lambda out: t.touch(k, out=out)
        yield "find_or_insert", lambda out: t.find_or_insert(k, torch.zeros(2), out=out)
        yield "find_or_insert, in place", lambda out: t.find_or_insert(k, out, out=out)
        yield "find_out", lambda out: h.find_out(k, out)
        yield "torch.ops", lambda out: torch.ops.heddle.find_out(h.number, h.state, k, out=out)
        yield "in Python", lambda out: ht._ops.find_out(h.number, h.state, k, out=out)

    def test_a_saved_tensor_is_missed(self):
        for name, write in self.writers():
            with self.subTest(name):
                w, saved = torch.tensor(3.0, requires_grad=True), torch.ones(2)
                y = (w * saved).sum()
                write(saved)
                self.assertEqual(saved.tolist(), [10.0, 20.0])
                with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                    y.backward()

    def test_what_requires_grad_is_refused(self):
        for name, write in self.writers():
            with self.subTest(name):
                leaf = torch.zeros(2, requires_grad=True)
                for out in (leaf, leaf * 1):
                    self.refuses("out(\\['value'\\])?: the tensor requires grad", write, out)
                self.assertEqual(leaf.tolist(), [0.0, 0.0])
                with torch.no_grad():
                    write(leaf)
                self.assertEqual(leaf.tolist(), [10.0, 20.0])

    def test_operators_have_no_gradients(self):
        """What find_or_insert gives is the table's: no gradient flows to the values that it was given."""
        values = torch.ones(2, requires_grad=True)
        h = self.handle
        rows, _ = h.find_or_insert(self.keys, values)
        self.assertEqual(rows.tolist(), [10.0, 20.0])
        with self.assertWarnsRegex(UserWarning, "autograd kernel was not registered"):
            (rows * torch.ones(2, requires_grad=True)).sum().backward()
        self.assertIsNone(values.grad)
        self.assertFalse(ht._ops.find_or_insert(h.number, h.state, self.keys, values)[0].requires_grad)

    def test_numbers_too(self):
        outs = {"score": torch.zeros(2, dtype=torch.int64), "outcome": torch.zeros(2, dtype=torch.uint8),
                "found": torch.zeros(2, dtype=torch.bool)}  # fmt: skip
        self.t.find(self.keys, out=outs)
        self.assertEqual({name: out._version for name, out in outs.items()}, dict.fromkeys(outs, 1))

    def test_a_result_that_is_written_again(self):
        w, r = torch.tensor(3.0, requires_grad=True), self.t.find(self.keys)
        y = (w * r.value).sum()
        self.t.find(self.keys + 1, out=r)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()
        m = self.t.find_missed(self.keys + 7)
        missed = m.missed.key
        self.t.find_missed(self.keys + 8, out=m)
        self.assertEqual(missed._version, 1)

    def test_inference(self):
        out = torch.zeros(2)
        with torch.inference_mode():
            made = torch.zeros(2)
            for name, write in self.writers():
                with self.subTest(name):
                    write(made)
                    write(out)
        self.assertEqual((made.tolist(), out.tolist()), ([10.0, 20.0], [10.0, 20.0]))


if __name__ == "__main__":
    unittest.main()
