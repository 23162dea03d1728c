# SPDX-License-Identifier: Apache-2.0
"""heddle.load of a file of kernels, policies and predicates: in a process of its own, since rows stay until it ends."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from heddle import _command

COMPILER = shutil.which(os.environ.get("CC", "cc").split()[0])


@unittest.skipUnless(COMPILER, "there is no C compiler")
class TestFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = os.environ | {"XDG_CACHE_HOME": self.folder.name}
        for kind, name in ("kernel", "mine"), ("policy", "twice"), ("predicate", "odd"):
            self.heddle("new", kind, name + ".h")

    def heddle(self, *words):
        subprocess.run([_command.program(), *words], cwd=self.folder.name, check=True, capture_output=True)

    def python(self, text):
        """What a process prints that has loaded `heddle`."""
        done = subprocess.run([sys.executable, "-c", "import heddle\n" + text], cwd=self.folder.name, text=True,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.strip()

    def test_rows(self):
        said = self.python("""
print(heddle.load("mine.h"), heddle.load("twice.h"), heddle.load("odd.h"))
t = heddle.Table(capacity=64, slots=8, value="uint64", backend="host", policy="twice", admit="always")
keys = list(range(40))
t.insert(keys, [key + 100 for key in keys], kernel="mine")
found = t.find(keys, kernel="mine")
print(t.info["policy"], all(v == k + 100 for k, v, f in zip(keys, found.value, found.found) if f))
before = len(t)
print(int(t.size_if("odd", 2, 1)) == sum(1 for k, f in zip(keys, found.found) if f and k % 2), before == sum(map(int, found.found)))
""")
        first, second, third = said.splitlines()
        self.assertEqual(first, "['kernel hkv.mine'] ['policy twice'] ['predicate odd']")
        self.assertEqual(second, "twice True")
        self.assertEqual(third, "True True")

    def test_the_command_has_them(self):
        said = self.python("""
heddle.load("mine.h")
report = heddle.run("hkv.mix.mine buckets=8 slots=16 batch=64x20 keys=uniform:200", judge=True)
print(report.ok, repr(report.said))
""")
        self.assertEqual(said, "True ''")

    def test_mistakes(self):
        folder = pathlib.Path(self.folder.name)
        text = (folder / "mine.h").read_text()
        (folder / "typo.h").write_text(text.replace("hkv_begin(a", "hkv_begn(a", 1))
        line = 1 + text[: text.index("hkv_begin(a")].count("\n")
        (folder / "norow.h").write_text(text.replace("HKV_LISTED(mine_variant)", ""))
        said = self.python("""
heddle.load("mine.h")
for name in "typo.h", "norow.h", "mine.h", "absent.h":
    try:
        heddle.load(name)
    except heddle.Error as error:
        print("@", error.status, error)
print("kernels", sum(row[0] == "mine" for row in heddle.rows("kernels")))
""")
        typo, norow, again, absent = said.split("@ ")[1:]
        self.assertRegex(typo, rf"^HD_ECORRUPT (?s:.*)typo\.h:{line}:\d+: .*hkv_begn")
        self.assertRegex(norow, r"^HD_ECORRUPT .*norow\.h: it has no row")
        self.assertRegex(again, r"^HD_ECORRUPT .*there is a kernel hkv\.mine already")
        self.assertRegex(absent, r"^HD_EINVAL .*absent\.h")
        self.assertEqual(said.splitlines()[-1], "kernels 4")  # two rows, on the host machine and for CUDA


if __name__ == "__main__":
    unittest.main()
