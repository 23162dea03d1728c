# SPDX-License-Identifier: Apache-2.0
"""The examples of the pages: every block ```python of a page runs, in order, in one namespace.

The block ```text after a block ```python is what that prints. A page whose first lines say `<!-- needs: torch -->` is
skipped without this module.
"""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import tempfile
import unittest

TOP = pathlib.Path(os.environ.get("top_srcdir", pathlib.Path(__file__).parents[2])).resolve()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks_of(page):
    """Pairs (code, what it prints or None)."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    for i, (kind, text) in enumerate(found):
        if kind == "python":
            follows = found[i + 1] if i + 1 < len(found) else ("", "")
            yield text, follows[1] if follows[0] == "text" else None


class Pages(unittest.TestCase):
    def run_page(self, page):
        needs = re.search(r"<!-- needs: (.*?) -->", page.read_text(encoding="utf-8"))
        for module in needs.group(1).split() if needs else []:
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"{module} is missing")
        space = {"__name__": "__main__"}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for code, printed in blocks_of(page):
                    out = io.StringIO()
                    with contextlib.redirect_stdout(out):
                        exec(compile(code, f"{page.name}", "exec"), space)
                    if printed is not None:
                        self.assertEqual(out.getvalue(), printed, f"{page.name}: the block printed something else:\n{code}")
            finally:
                os.chdir(before)
                for thing in list(space.values()):
                    close = getattr(thing, "close", None)
                    if type(thing).__name__ == "Table" and close:
                        close()

    def test_readme(self):
        self.run_page(TOP / "README.md")

    def test_first_example(self):
        readme = (TOP / "README.md").read_text(encoding="utf-8")
        code = (TOP / "examples" / "first.py").read_text(encoding="utf-8").split("\n", 1)[1]
        self.assertIn(code.strip(), readme)


def page_test(page):
    return lambda self: self.run_page(page)


for _page in sorted((TOP / "doc").glob("python*.md")):
    setattr(Pages, "test_" + _page.stem.replace("-", "_"), page_test(_page))


if __name__ == "__main__":
    unittest.main()
