# SPDX-License-Identifier: Apache-2.0
"""The notebooks of doc/notebooks run, and print what is stored in them; the runner of notebooks finds differences."""

import copy
import importlib.util
import os
import pathlib
import re
import tempfile
import unittest

import notebook

TOP = pathlib.Path(os.environ.get("top_srcdir", pathlib.Path(__file__).parents[2])).resolve()
FOLDER = TOP / "doc" / "notebooks"
NEEDED = ("table", "curves", "recommender", "teaching")


def code(source, *tags, outputs=()):
    return {
        "cell_type": "code",
        "id": "a",
        "execution_count": 1,
        "metadata": {"tags": list(tags)},
        "outputs": list(outputs),
        "source": source.splitlines(keepends=True),
    }


def stream(text):
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


class Runner(unittest.TestCase):
    def outputs_of(self, *cells):
        book = {"cells": copy.deepcopy(list(cells))}
        self.assertEqual(notebook.run(book, "book", write=True), [])
        return [cell["outputs"] for cell in book["cells"]]

    def differs(self, cell):
        try:
            notebook.run({"cells": [cell]}, "book")
        except notebook.Different as error:
            return str(error)
        return None

    def test_cells_share_names_and_the_last_expression_is_an_output(self):
        first, second, third = self.outputs_of(code("x = 2\nprint(x)"), code("print(x)\nx + 1"), code("x;"))
        self.assertEqual(first, [stream("2\n")])
        self.assertEqual(second[0], stream("2\n"))
        self.assertEqual(second[1]["data"], {"text/plain": ["3"]})
        self.assertEqual(third, [])

    def test_html_is_an_output(self):
        shown = "class H:\n    def _repr_html_(self): return '<b>1</b>'\n    def __repr__(self): return 'one'\nH()"
        self.assertEqual(self.outputs_of(code(shown))[0][0]["data"], {"text/plain": ["one"], "text/html": ["<b>1</b>"]})

    def test_a_difference_is_shown_as_a_diff(self):
        self.assertIsNone(self.differs(code("print(1)", outputs=[stream("1\n")])))
        said = self.differs(code("print(1)\nprint(2)", outputs=[stream("1\n3\n")]))
        self.assertIn("-3\n+2", said)
        self.assertIn("book:a", said)
        self.assertIsNotNone(self.differs(code("print(1)")))
        self.assertIsNotNone(self.differs(code("", outputs=[stream("1\n")])))

    def test_a_cell_of_time_runs_and_is_not_compared(self):
        self.assertIsNone(self.differs(code("print(1)", "time", outputs=[stream("2\n")])))
        with self.assertRaises(ZeroDivisionError):
            notebook.run({"cells": [code("1 / 0", "time")]}, "book")

    def test_floats_may_differ_in_the_last_digit(self):
        for printed, stored, same in [
            ("a 0.51 7", "a 0.52 7", True),
            ("-0.510", "-0.511", True),
            ("0.999", "1.000", True),
            ("0.51", "0.53", False),
            ("0.51", "0.510", False),
            ("8", "7", False),
            ("a 0.5", "b 0.5", False),
            ("0.5 0.5", "0.5", False),
        ]:
            for tags in [("float",), ()]:
                said = self.differs(code(f"print({printed!r})", *tags, outputs=[stream(stored + "\n")]))
                self.assertEqual(said is None, same and bool(tags), (printed, stored, tags))

    def test_what_is_missing_skips_a_cell(self):
        book = {"cells": [code("1 / 0", "needs:no_such_module"), code("1 / 0", "data:no_such_file")]}
        self.assertEqual([why for _, why in notebook.run(book, "book")],
                         ["the module no_such_module", "no_such_file in HEDDLE_DATA"])  # fmt: skip
        with self.assertRaises(notebook.Different):
            notebook.run(book, "book", write=True)

    def test_the_command_stores_what_it_then_accepts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "book.ipynb"
            notebook.store(path, {"cells": [code("print('é')\n1 + 1")]})
            self.assertEqual(notebook.main(["--write", str(path)]), 0)
            self.assertEqual(notebook.main([str(path)]), 0)
            self.assertIn("é", path.read_text(encoding="utf-8"))
            notebook.store(path, {"cells": [code("print(1)")]})
            with notebook.contextlib.redirect_stdout(notebook.io.StringIO()) as said:
                self.assertEqual(notebook.main([str(path)]), 1)
            self.assertIn("+1", said.getvalue())

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "matplotlib is missing")
    def test_figures_are_outputs_but_not_compared(self):
        drawing = code("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
        (output,) = self.outputs_of(drawing)[0]
        self.assertTrue(notebook.base64.b64decode(output["data"]["image/png"]).startswith(b"\x89PNG"))
        self.assertIsNone(self.differs(drawing))


class Notebooks(unittest.TestCase):
    def test_there_are_all(self):
        self.assertEqual(sorted(path.stem for path in FOLDER.glob("*.ipynb")), sorted(NEEDED))

    def run_notebook(self, path):
        book = notebook.read(path)
        self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
        self.assertLessEqual(path.stat().st_size, 200 * 1024)
        ids = [cell["id"] for cell in book["cells"]]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertTrue(all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in ids), ids)
        counts = [cell["execution_count"] for cell in book["cells"] if cell["cell_type"] == "code"]
        one_run = list(range(1, len(counts) + 1))
        self.assertEqual(counts, one_run, "the outputs are not those of one run: notebook.py --write")
        for cell in book["cells"]:
            self.assertTrue(all(len(line.rstrip("\n")) <= 120 for line in cell["source"]), f"{cell['id']}: 120 columns")
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            for to in re.findall(r"\]\((?!https?:)([^)#]+)", text):
                self.assertTrue((path.parent / to).exists(), f"{cell['id']}: no {to}")
        notebook.run(book, path.name)


def notebook_test(path):
    return lambda self: self.run_notebook(path)


for _path in sorted(FOLDER.glob("*.ipynb")):
    _test = notebook_test(_path)
    if importlib.util.find_spec("numpy") is None:
        _test = unittest.skip("NumPy is missing")(_test)
    setattr(Notebooks, f"test_{_path.stem}", _test)


if __name__ == "__main__":
    unittest.main()
