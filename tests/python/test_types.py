# SPDX-License-Identifier: Apache-2.0
"""Types: `mypy --strict` accepts the package and the Python of the pages; results are what the stub says, and repr shows
their first rows. mypy reads the libraries of the Python that runs this."""

import ast
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from reading import heddle, numpy, u64
from test_docs import TOP, blocks_of

PACKAGE = pathlib.Path(heddle.__file__).parent
MYPY = next(filter(None, (shutil.which("mypy", path=os.path.dirname(sys.executable)), shutil.which("mypy"))), None)
PAGES = [TOP / "README.md", *sorted((TOP / "doc").glob("python*.md"))]

# What a program uses of heddle.torch has types, and its inside few. Two of its files are parts of a class, whose other
# attributes they do not declare.
CONFIG = """[mypy]
strict = True
[mypy-cupy.*,jax.*,matplotlib.*,ml_dtypes.*,torch.*,triton.*]
ignore_missing_imports = True
[mypy-heddle.torch.*]
disallow_untyped_defs = False
disallow_incomplete_defs = False
disallow_untyped_calls = False
disallow_untyped_decorators = False
disallow_subclassing_any = False
check_untyped_defs = False
warn_return_any = False
warn_unused_ignores = False
[mypy-heddle.torch._evictions,heddle.torch._state]
disable_error_code = attr-defined
"""

# Types that a program sees. A line with "# wrong" is refused, and no other.
SEEN = """
import array
from collections.abc import Iterator
from typing import Any, assert_type

import heddle
import numpy as np
from heddle._core import FindResult
from numpy.typing import NDArray


class Tensor:  # as that of a library with DLPack
    def __dlpack__(self, *, stream: int | None = None) -> object:
        return stream


t = heddle.Table(64, "uint64")
keys = np.arange(3)
r = t.find(keys)
assert_type(r.value, NDArray[Any])
assert_type(r.found, NDArray[np.bool_])
assert_type(r.outcome, NDArray[np.uint8])
assert_type(r.score, NDArray[np.uint64])
r.ptr.tolist()  # wrong
assert_type(t.find(range(3)).found, NDArray[np.bool_])
assert_type(t.find(array.array("Q", [1])).found, NDArray[np.bool_])
assert_type(t.find(k for k in (1, 2)).found, NDArray[np.bool_])
assert_type(t.find(Tensor()).found, Tensor)
assert_type(t.erase(Tensor()), Tensor)
assert_type(t.find(keys, out=r), FindResult)
assert_type(t.find(keys, out=np.zeros(3)), heddle.Result)
own = {"value": keys}
assert t.find(keys, out=own)["value"] is own["value"]
assert_type(t.insert(keys, keys), NDArray[np.uint8])
assert_type(t.upsert(keys, keys), NDArray[np.uint8])
gone = t.insert(keys, keys, evicted=True)
assert_type(gone.evicted.value, NDArray[Any])
assert_type(gone.evicted.item, NDArray[np.uint64])
gone.found.tolist()  # wrong
missed = t.find_missed(keys).missed
assert_type(missed.key, NDArray[np.uint64])
assert_type(missed.value, None)
key, value, score, item = t.export(0, 5)
assert_type(score, NDArray[np.uint64])
assert_type(t.items(), Iterator[heddle.Listed])
assert_type([k for k in t], list[int])
assert_type(t.range(keys, keys, 2).rows, NDArray[np.uint32])
assert_type(t.min(), tuple[int, Any] | None)
assert_type(t.size(), int)
t.find(1.5)  # wrong
t.find(keys, nix=1)  # wrong
t.range(keys, keys)  # wrong
t.info = {}  # wrong
assert_type(heddle.Outcome(1).name, str)
assert_type(heddle.Outcome.HIT + 1, int)
heddle.Op.NIX  # wrong
report = heddle.sim(keys, policies="lru", sizes=64)
assert_type(report["policy"], list[Any])
assert_type(report[0], dict[str, Any])
assert_type(heddle.sim(keys, outcomes=True).outcomes, NDArray[np.uint8])
with heddle.explain(t) as story:
    assert_type(story, heddle.Story)
assert_type(heddle.explain("hkv.find.tlpv1"), heddle.Report)
assert_type(heddle.load("t.heddle"), heddle.Table)
"""
SEEN_TORCH = """
from collections.abc import Iterator
from typing import assert_type

import heddle
import heddle.torch as ht
import torch
from torch import Tensor

t = heddle.Table(64, "uint64")
keys = torch.arange(3)
assert_type(t.find(keys).value, Tensor)
assert_type(t.find_missed(keys).missed.key, Tensor)
assert_type(t.insert(keys, keys), Tensor)
assert_type(t.insert(keys, keys, evicted=True).evicted.value, Tensor)
emb = ht.Embedding(capacity=100, dim=4, optimizer=ht.Adam(lr=1e-3), nix=1)  # wrong
emb = ht.Embedding("100", dim=4)  # wrong
assert_type(emb.look_up(keys), Tensor)
assert_type(emb.gradients, list[tuple[Tensor, Tensor]])
assert_type(emb.table, heddle.Table)
assert_type(emb.evicted(), Iterator[ht.Evicted])
assert_type(emb.parts(), Iterator[ht.Part])
assert_type(emb.hit_rate, float | None)
assert_type(ht.Handle(t).find(keys), tuple[Tensor, Tensor])
ht.EmbeddingBag(100, 4, mode=1)  # wrong
"""


def missing(page):
    """The first module that a page needs and that is not there."""
    needs = re.search(r"<!-- needs: (.*?) -->", page.read_text(encoding="utf-8"))
    return next((m for m in needs.group(1).split() if not importlib.util.find_spec(m)), None) if needs else None


def module_of(page):
    return page.stem.replace("-", "_").lower()


def names_bound(tree):
    """The names that a block binds, outside of functions and classes."""
    bound, rest = set(), list(tree.body)
    while rest:
        node = rest.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        rest += ast.iter_child_nodes(node)
    return bound


def write_page(page, folder):
    """Writes the blocks of a page as modules. The first line of each imports what it uses of the blocks before it."""
    imports, defined, stem = [], {}, module_of(page)
    for i, (code, _) in enumerate(blocks_of(page)):
        tree = ast.parse(code)
        bound = names_bound(tree)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
        head = imports + [f"from {defined[name]} import {name}" for name in sorted(used & set(defined))]
        (folder / f"{stem}_{i}.py").write_text("; ".join(head) + "\n" + code, encoding="utf-8")
        imports += [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
        defined |= dict.fromkeys(bound, f"{stem}_{i}")


@unittest.skipUnless(MYPY, "mypy is missing (Debian: mypy)")
@unittest.skipUnless(numpy, "NumPy is missing")
class Mypy(unittest.TestCase):
    """One run; each test reads what it printed about some files."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "mypy.ini").write_text(CONFIG)
            (folder / "seen.py").write_text(SEEN)
            if importlib.util.find_spec("torch"):
                (folder / "seen_torch.py").write_text(SEEN_TORCH)
            for page in filter(lambda page: not missing(page), PAGES):
                write_page(page, folder)
            files = [path.name for path in sorted(folder.glob("*.py"))]
            words = [MYPY, "--python-executable", sys.executable, "--config-file", "mypy.ini", "--no-error-summary",
                     "--hide-error-context", "--cache-dir", "cache", *files, *cls.package()]  # fmt: skip
            done = subprocess.run(words, cwd=folder, text=True, capture_output=True, timeout=3000,
                                  env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})  # fmt: skip
        if done.returncode not in (0, 1) or done.stderr:
            raise AssertionError(f"mypy ended with {done.returncode}\n{done.stdout}{done.stderr}")
        cls.said = [line for line in done.stdout.splitlines() if ": note:" not in line]

    @staticmethod
    def package():
        """The files of the package; those of heddle.torch if PyTorch is there."""
        torch = importlib.util.find_spec("torch")
        return [str(p) for p in sorted(PACKAGE.rglob("*.py*")) if p.suffix in (".py", ".pyi") and
                (torch or p.parent == PACKAGE)]  # fmt: skip

    def about(self, files):
        """What mypy said of the files whose names match."""
        return "\n".join(line for line in self.said if re.search(files, line.split(":")[0]))

    def test_package(self):
        self.assertEqual(self.about(r"\bheddle/"), "")

    def check_seen(self, text, name):
        version = subprocess.run([MYPY, "--version"], capture_output=True, text=True, check=True).stdout
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < (1, 11):
            self.skipTest(f"{version.split('(')[0].strip()} sees Any in place of the types of some arrays")
        wrong = [i for i, line in enumerate(text.split("\n"), 1) if line.endswith("# wrong")]
        said = self.about(rf"^{name}\.py$")
        self.assertEqual(sorted({int(line.split(":")[1]) for line in said.splitlines()}), wrong, said)

    def test_what_a_program_sees(self):
        self.check_seen(SEEN, "seen")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is missing")
    def test_what_a_program_with_torch_sees(self):
        self.check_seen(SEEN_TORCH, "seen_torch")


def page_test(page):
    def test(self):
        if missing(page):
            self.skipTest(f"{missing(page)} is missing")
        self.assertTrue(list(blocks_of(page)))
        self.assertEqual(self.about(rf"^{module_of(page)}_\d+\.py$"), "")

    return test


for _page in PAGES:
    setattr(Mypy, "test_" + module_of(_page), page_test(_page))


@unittest.skipUnless(numpy, "NumPy is missing")
class Declared(unittest.TestCase):
    """The results of every operation have the types that the stub says of NumPy's arrays."""

    ARGUMENTS = {"upper": [9, 9], "limit": 2, "values": [1, 2], "holder": 0, "ops": numpy and numpy.array([0, 0], "u1")}

    @classmethod
    def setUpClass(cls):
        cls.stub = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
        cls.classes = {node.name: node for node in cls.stub.body if isinstance(node, ast.ClassDef)}

    def types_of(self, name):
        """Attributes and their types, of the class for any library and that for NumPy."""
        both = self.classes[name + "Of"].body + self.classes[name].body
        return {node.name: ast.unparse(node.returns) for node in both if isinstance(node, ast.FunctionDef)}

    def check_array(self, thing, declared):
        if declared in ("_A", "NDArray[Any]"):
            self.assertIsInstance(thing, numpy.ndarray)
        elif declared == "None":
            self.assertIsNone(thing)
        else:
            self.assertEqual(f"NDArray[np.{thing.dtype.name.replace('bool', 'bool_')}]", declared)

    def check_list(self, listed, declared):
        self.assertIs(type(listed), heddle.Listed)
        parts = ["NDArray[np.uint64]", "NDArray[Any]", "NDArray[np.uint64]", "NDArray[np.uint64]"]
        if declared != "Listed":
            self.assertEqual(declared, "ListedOf[NDArray[np.uint64], None, None]")
            parts[1:3] = "None", "None"
        for part, type_ in zip(listed, parts, strict=True):
            self.check_array(part, type_)

    def check_result(self, thing, declared):
        if declared == "Listed":
            self.check_list(thing, declared)
        elif not declared.endswith("Result"):
            self.assertIn(declared, ("None", "int", "tuple[int, Any] | None", "NDArray[np.uint8]"))
            {"N": self.check_array, "i": lambda n, _: self.assertIs(type(n), int),
             "t": lambda pair, _: self.assertIs(type(pair[0]), int)}[declared[0]](thing, declared)  # fmt: skip
        else:
            for name, type_ in self.types_of(declared).items():
                check = self.check_list if type_.startswith("Listed") else self.check_array
                check(getattr(thing, name), type_)

    def test_every_operation(self):
        first = {}  # of the overloads
        for node in self.classes["Table"].body:
            if isinstance(node, ast.FunctionDef):
                first.setdefault(node.name, ast.unparse(node.returns))
        designs = {"mixed": "hive"} | dict.fromkeys(("predecessor", "successor", "range", "min", "max"), "sl")
        for row in heddle._core.call_rows():
            needed = [p["name"] for p in row["parameters"] if not p["default"] or p["name"] == "values"]
            arguments = {**self.ARGUMENTS, "keys": numpy.arange(1, 3), "predicate": "all"}
            design = designs.get(row["name"], "hkv")
            with self.subTest(row["name"]), heddle.Table(64, "uint32" if design == "hive" else "uint64", design=design) as t:
                t.insert([1, 2], [3, 4])
                if row["name"].endswith("lock_keys"):
                    arguments["holder"] = 1
                self.check_result(getattr(t, row["name"])(**{name: arguments[name] for name in needed}), first[row["name"]])


class Shown(unittest.TestCase):
    """What repr says of results: what they are, how many rows there are, and the first ones."""

    def shows(self, thing, *lines):
        self.assertEqual(repr(thing).splitlines(), list(lines))

    def test_results(self):
        with heddle.Table(16, ("uint8", (2, 4)), slots=8, threads=1) as t:
            t.insert(u64(range(3)), memoryview(bytes(range(24))).cast("B", (3, 2, 4)))
            self.shows(t.find(u64([0, 2, 9])), "<heddle.Result of find: 3 items>",
                       "value                          found  outcome  score",
                       "[[0 1 2 3] [4 5 6 7]]          True   HIT      0",
                       "[[16 17 18 19] [20 21 22 23]]  True   HIT      2",
                       "[[0 0 0 0] [0 0 0 0]]          False  MISS     0")  # fmt: skip
            self.shows(t.find(u64([])), "<heddle.Result of find: 0 items>")
            missed = t.find_missed(u64([0, 77, 1, 78]))
            self.assertEqual(repr(missed).splitlines()[-1], "listed: 2 rows")
            self.shows(missed.missed, "<heddle.Listed: 2 rows>", "key  item", "77   1", "78   3")

    def test_lists(self):
        with heddle.Table(8, ("float32", 8), slots=8, threads=1) as t:
            t.insert(u64(range(8)), memoryview(bytes(256)).cast("f", (8, 8)))
            gone = t.insert(u64([100, 101]), memoryview(bytes(64)).cast("f", (2, 8)), evicted=True)
            self.shows(gone, "<heddle.Result of insert_and_evict: 2 items>", "outcome", "EVICTED", "EVICTED", "listed: 2 rows")
            rows = gone.evicted
            self.shows(rows, "<heddle.Listed: 2 rows>", "key  value              score  item",
                       "0    [0 0 0 0 0 0 ...]  0      0", "1    [0 0 0 0 0 0 ...]  1      1")  # fmt: skip
            key, value, score, item = rows
            self.assertEqual((rows[0] is key, len(rows), len(key)), (True, 2, 2))
            self.assertEqual(rows._replace(item=None)[:3], rows[:3])
            many = repr(t.export()).splitlines()
            self.assertEqual((many[0], len(many), many[-1]), ("<heddle.Listed: 8 rows>", 8, "..."))
            self.assertEqual(repr(next(t.items())).splitlines(), many)

    def test_ranges(self):
        with heddle.Table(1000, "uint64", design="sl", threads=1) as t:
            t.insert(u64([10, 20, 30]), u64([1, 2, 3]))
            self.shows(t.successor(u64([10, 30])), "<heddle.Result of successor: 2 items>",
                       "key  value  found  outcome", "20   2      True   HIT", "0    0      False  MISS")  # fmt: skip
            self.shows(t.range(u64([0]), u64([99]), 2), "<heddle.Result of range: 1 items>",
                       "key      value  found  outcome  rows  more", "[10 20]  [1 2]  True   HIT      2     True")  # fmt: skip

    def test_lists_on_a_device_are_not_read(self):
        class Column:
            def __len__(self):
                return 3

            def __dlpack_device__(self):
                return 2, 0

        self.shows(heddle.Listed(Column(), None, None, Column()), "<heddle.Listed: 3 rows>")

    def test_reports(self):
        rows = [{"policy": "lru", "size": 1000 * i, "miss_ratio": 0.5, "of": [1]} for i in range(1, 8)]
        report = heddle.Report({"schema": "heddle.sim/1", "trace": "a", "rows": rows})
        shown = [f"lru     {i},000  0.5" for i in range(1, 6)]
        self.shows(report, "<heddle.Report heddle.sim/1: 7 rows>", "policy  size   miss_ratio", *shown, "...")
        self.shows(heddle.Report({"schema": "heddle.x/1", "n": 1}), "<heddle.Report heddle.x/1: 0 rows>")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is missing")
    def test_parts(self):
        import heddle.torch as ht
        import torch

        emb = ht.Embedding(8, 2, table={"slots": 8, "threads": 1}, init="zeros", optimizer=ht.RowWiseAdagrad(), evicted=9)
        emb(torch.tensor([7]))
        part, columns = next(emb.parts()), "key  weight  state  score"
        self.shows(part, "<heddle.torch.Part: 1 rows>", columns, "7    [0 0]   [0]    1")
        self.assertEqual(part[4], part.times)
        emb(torch.arange(10, 18))
        self.shows(next(emb.evicted()), "<heddle.torch.Evicted: 1 rows>", columns.replace("weight", "value"),
                   "7    [0 0]  [0]    1")  # fmt: skip

    def test_stories(self):
        with heddle.Table(16, "uint64", slots=8, backend="host") as t:
            with heddle.explain(t) as story:
                self.shows(story, "<heddle.Story: 0 batches>")
                t.insert(u64([1]), u64([10]))
        steps = len(story[0]["steps"])
        self.shows(story, "<heddle.Story: 1 batches>", "op                kernel                      n  steps",
                   f"insert_or_assign  hkv.insert_or_assign.tlpv1  1  {steps}")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
