# SPDX-License-Identifier: Apache-2.0
"""The wheel HEDDLE_WHEEL, installed into an empty environment as a user would."""

import ast
import base64
import csv
import hashlib
import io
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

import heddle

TOP = pathlib.Path(os.environ.get("top_srcdir", pathlib.Path(__file__).parents[2])).resolve()
sys.path.append(str(TOP / "python"))
import backend  # noqa: E402

WHEEL = os.environ.get("HEDDLE_WHEEL", "")
MOST_BYTES, MOST_BYTES_CUDA = 5 << 20, 36 << 20
IMPORT_MS = 30

FIRST = """
import heddle
t = heddle.Table(capacity=1 << 20, value=("float32", 16), policy="lru")
fate = t.insert(range(3), [[float(k)] * 16 for k in range(3)])
found = t.find([2, 7])
assert found.found.tolist() == [True, False] and found.value.tolist()[0] == [2.0] * 16
t.save("t.heddle")
with heddle.load("t.heddle", value=("float32", 16)) as u:
    assert sorted(u) == [0, 1, 2], list(u)
print(heddle.__version__, heddle.__file__)
"""


@unittest.skipUnless(WHEEL, "HEDDLE_WHEEL is not set")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = pathlib.Path(cls.folder.name) / "venv"
        venv.create(cls.home, with_pip=True)
        cls.python = cls.home / "bin" / "python"
        # no variable of the caller, and no folder with the package
        cls.environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON") and n != "HEDDLE"}
        cls.environment["PATH"] = f"{cls.home / 'bin'}:/usr/bin:/bin"
        cls.run_(cls.python, "-m", "pip", "install", "--no-index", "--quiet", "--disable-pip-version-check", WHEEL)

    @classmethod
    def run_(cls, *words):
        done = subprocess.run(list(map(str, words)), cwd=cls.folder.name, env=cls.environment, text=True,
                              capture_output=True, timeout=1200)  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_first_example(self):
        self.assertIn(str(self.home), self.run_(self.python, "-c", FIRST))

    def test_command(self):
        self.assertIn("lru", self.run_("heddle", "list", "policies"))
        self.assertEqual(shutil.which("heddle", path=self.environment["PATH"]), str(self.home / "bin" / "heddle"))
        version = self.run_(self.python, "-c", "import heddle; print(heddle.__version__)").strip()
        self.assertIn(version, self.run_("heddle", "--version"))
        wrong = subprocess.run(["heddle", "no-such"], env=self.environment, capture_output=True, timeout=600)
        self.assertEqual(wrong.returncode, 2)

    def test_size(self):
        most = MOST_BYTES_CUDA if "cuda" in [name for name, _, _ in heddle.rows("backends")] else MOST_BYTES
        self.assertLess(os.path.getsize(WHEEL), most)

    def test_record(self):
        """Each file has its hash and size in RECORD, and no file is missing there."""
        with zipfile.ZipFile(WHEEL) as zip_:
            (record,) = [n for n in zip_.namelist() if n.endswith(".dist-info/RECORD")]
            rows = list(csv.reader(io.StringIO(zip_.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(zip_.namelist()))
            for name, digest, size in rows:
                if name == record:
                    self.assertEqual((digest, size), ("", ""))
                    continue
                data = zip_.read(name)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={want}", len(data)), name)
            metadata = zip_.read(record.replace("RECORD", "METADATA")).decode()
            tags = zip_.read(record.replace("RECORD", "WHEEL")).decode()
        version = os.path.basename(WHEEL).split("-")[1]
        self.assertIn(f"\nVersion: {version}\n", metadata)
        self.assertIn("\nTag: " + os.path.basename(WHEEL).removesuffix(".whl").split("-", 2)[2], tags)
        self.assertNotIn("Requires-Dist: numpy", metadata)

    def test_installed_files(self):
        self.assertEqual(self.run_(self.python, "-m", "pip", "check").strip(), "No broken requirements found.")
        self.run_(self.python, "-m", "pip", "uninstall", "--yes", "--quiet", "heddle")
        self.addCleanup(self.run_, self.python, "-m", "pip", "install", "--no-index", "--quiet", WHEEL)
        left = [p for p in self.home.rglob("*") if "heddle" in p.name]
        self.assertEqual(left, [])

    def test_import(self):
        """Importing takes a short time, imports no library of arrays, and loads no driver."""
        code = """
import sys, time
begin = time.process_time()  # other work on the machine does not count
import heddle
print(1000 * (time.process_time() - begin))
print([m for m in ("numpy", "torch", "cupy", "jax", "json", "subprocess") if m in sys.modules])
print([line for line in open("/proc/self/maps") if "cuda" in line.lower() or "nvidia" in line.lower()])
"""
        self.run_(self.python, "-c", code)  # compiles
        times = []
        for _ in range(9):
            took, modules, maps = self.run_(self.python, "-c", code).splitlines()
            times.append(float(took))
            self.assertEqual(eval(maps), [])  # noqa: S307
            self.assertEqual(set(eval(modules)) & {"numpy", "torch", "cupy", "jax"}, set())  # noqa: S307
        self.assertLess(statistics.median(times), IMPORT_MS, times)

    def test_stubs(self):
        """The file .pyi has every method that the module has, with the same parameters."""
        with zipfile.ZipFile(WHEEL) as zip_:
            tree = ast.parse(zip_.read("heddle/_core.pyi").decode())
            self.assertIn("heddle/py.typed", zip_.namelist())
        classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        methods = [n for n in classes["Table"].body if isinstance(n, ast.FunctionDef)]  # one for each overload
        attributes = {n.target.id for n in classes["Table"].body if isinstance(n, ast.AnnAssign)}
        code = """
import heddle
print([(r["name"], [(p["name"], bool(p["placed"])) for p in r["parameters"]]) for r in heddle._core.call_rows()])
print([n for n in dir(heddle._core.Table) if not n.startswith("_")])
print([n for n in dir(heddle._core) if not n.startswith("_")])
print([n for n in dir(heddle._core.Result) if not n.startswith("_")])
"""
        rows, members, names, results = map(eval, self.run_(self.python, "-c", code).splitlines())
        for name, parameters in rows:
            stubs = [n.args for n in methods if n.name == name]
            self.assertTrue(stubs, name)
            for arguments in stubs:
                self.assertEqual([a.arg for a in arguments.args][1:], [p for p, placed in parameters if placed], name)
                self.assertEqual([a.arg for a in arguments.kwonlyargs], [p for p, placed in parameters if not placed], name)
        public = attributes | {n.name for n in methods if not n.name.startswith("_")}
        self.assertEqual(set(members), public)
        declared = set(classes) | {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
        declared |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)} - {"ArrayLike"}
        others = {"Listed", "ListedOf", "Outcome", "Op", "SupportsArray", "SupportsDLPack"}  # of other modules, or of none
        others |= {n for n in classes if n.endswith(("Result", "ResultOf")) and n != "Result"}
        self.assertEqual(set(names), {n for n in declared if not n.startswith("_")} - others)
        told = {n.name for n in classes["Result"].body if isinstance(n, ast.FunctionDef)} - {"__len__"}
        self.assertEqual(set(results), told)

    def test_a_wheel_appears_whole(self):
        path = pathlib.Path(self.folder.name) / "x.whl"
        wheel = backend.Wheel(path)
        wheel.add("a", b"1")
        self.assertFalse(path.exists())
        wheel.close("x.dist-info")
        self.assertEqual(zipfile.ZipFile(path).testzip(), None)
        self.assertEqual([p.name for p in path.parent.glob("x.whl*")], ["x.whl"])

    def test_all_that_a_build_lacks_is_named_at_once(self):
        code = f"import sys; sys.path.insert(0, {os.path.dirname(backend.__file__)!r}); import backend\n"
        code += "with backend.named_if_missing(): raise backend.Failed('a step')"
        done = subprocess.run([sys.executable, "-c", code], env={"PATH": "/nowhere"}, text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        for word in ("make", "a C compiler", "xxhash.h", "zstd.h", "apt-get install", "libxxhash-dev"):
            self.assertIn(word, done.stderr)
        if not backend.missing():  # else the machine lacks something
            with self.assertRaisesRegex(backend.Failed, "^a step$"), backend.named_if_missing():
                raise backend.Failed("a step")

    def test_the_museum_is_said_to_be_missing(self):
        done = subprocess.run([self.home / "bin" / "heddle", "museum"], env=self.environment, text=True, capture_output=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("a Python package has none", done.stderr)

    def checker(self, *words):
        """A program of the environment that runs the tests, on the wheel."""
        path = shutil.which(words[0], path=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
        if not path:
            self.skipTest(f"{words[0]} is missing")
        done = subprocess.run([path, *words[1:], WHEEL], capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_auditwheel(self):
        text = " ".join(self.checker("auditwheel", "show").split())
        tag = os.path.basename(WHEEL).removesuffix(".whl").rsplit("-", 1)[1]
        if tag.startswith("manylinux"):
            self.assertRegex(text, f'consistent with the following platform tag: "{tag}"|"{tag}"')

    def test_abi3audit(self):
        self.checker("abi3audit", "--strict", "--summary")


if __name__ == "__main__":
    unittest.main()
