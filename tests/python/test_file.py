# SPDX-License-Identifier: Apache-2.0
"""Tables that live in a file: modes, closing, a second process, a kill, copies, and what their calls refuse."""

import copy
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

from reading import entries_of, heddle, u64

# A process that has the file open, says so, and waits to be killed.
HOLDER = """
import sys, heddle
t = heddle.Table(64, "uint64", design="gphash", file=sys.argv[1], durable=sys.argv[2])
t.insert([1, 2, 3], [10, 20, 30])
print("open", flush=True)
sys.stdin.read()
"""
MODES = [("gphash", "process"), ("gphash", "disk"), ("ovs", "disk"), ("hive", "disk")]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a table")

    def test_lives_of_tables(self):
        for design, durable in MODES:
            path = f"{self.path} {design} {durable}"
            value = "uint64" if design == "gphash" else "uint32"
            with self.subTest(design=design, durable=durable):
                options = {"design": design, "durable": durable, "commit": "call"}
                with heddle.Table(64, value, file=path, **options) as t:
                    self.assertTrue(t.info["image"]["recovered"]["was_clean"])
                    t.insert(u64(range(20)), list(range(20)))
                    self.assertIsNone(t.persist())
                    self.assertEqual(t.info["image"]["durable_batch"], 1)
                    t.erase(u64([3]))
                with heddle.Table(value=value, file=pathlib.Path(path), **options) as t:
                    self.assertEqual(sorted(key for key in t), [k for k in range(20) if k != 3])
                    self.assertEqual(t.info["image"]["durable_batch"], 2)
                    self.assertTrue(t.info["image"]["recovered"]["was_clean"])
                with heddle.Table(value=value, file=os.fsencode(path), **options) as t:
                    self.assertEqual(len(t), 19)

    def test_a_table_without_a_file(self):
        t = heddle.Table(64, "uint64")
        self.assertIsNone(t.persist())
        self.assertNotIn("image", t.info)
        t.close()
        self.assertRaises(heddle.Error, t.persist)

    def holder(self, durable):
        done = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HOLDER), self.path, durable], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.assertEqual(done.stdout.readline(), "open\n")
        return done

    def test_one_process_has_a_file(self):
        for durable in "process", "disk":
            with self.subTest(durable=durable), self.holder(durable) as other:
                for mode in "process", "disk":
                    with self.assertRaisesRegex(heddle.Error, f"file: {self.path} is open as another table"):
                        heddle.Table(64, "uint64", design="gphash", file=self.path, durable=mode)
                other.send_signal(signal.SIGKILL)
                other.wait()
                with heddle.Table(64, "uint64", design="gphash", file=self.path, durable=durable) as t:
                    self.assertFalse(t.info["image"]["recovered"]["was_clean"])
                    self.assertEqual(t.find([1, 2, 3]).value.tolist(), [10, 20, 30])

    def test_copies_are_in_memory(self):
        with heddle.Table(64, "uint64", design="gphash", file=self.path, durable="process") as t:
            t.insert([1, 2], [10, 20])
            with copy.copy(t) as u:
                u.insert([3], [30])
                self.assertNotIn("image", u.info)
            self.assertEqual(len(entries_of(t)), 2)

    def test_refusals(self):
        for options, word in [
            ({"design": "ovs", "value": "uint32", "durable": "process"}, "durable: process is not for design ovs"),
            ({"design": "hive", "value": "uint32", "durable": "process"}, "durable: process is not for design hive"),
            ({"design": "gphash", "durable": "line"}, "durable: line"),
            ({"design": "gphash", "durable": "none"}, "durable: none"),
            ({"design": "gphash", "durable": "always"}, "durable"),
            ({"design": "hkv"}, "file: tables of design hkv have none"),
        ]:
            with self.subTest(**options), self.assertRaisesRegex(heddle.Error, word):
                heddle.Table(64, file=self.path, **options)
            self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
