# SPDX-License-Identifier: Apache-2.0
"""heddle.site: the site of the package, if the package was built with it."""

import contextlib
import unittest
import unittest.mock
import webbrowser

import heddle


def path_or_none():
    with contextlib.suppress(heddle.Error):
        return heddle.site(open=False)
    return None


@unittest.skipUnless(path_or_none(), "this package was built without cmark-gfm, so without the site")
class Site(unittest.TestCase):
    def test_path(self):
        with unittest.mock.patch.object(webbrowser, "open") as opened:
            path = heddle.site(open=False)
        opened.assert_not_called()
        self.assertEqual(path.name, "index.html")
        self.assertIn("step by step", path.read_text(encoding="utf-8"))

    def test_opens(self):
        with unittest.mock.patch.object(webbrowser, "open") as opened:
            path = heddle.site("doc/python.html")
        opened.assert_called_once_with(path.as_uri())
        self.assertTrue(path.as_uri().startswith("file:///"))

    def test_complete(self):
        """The start page and what it needs are files of the package."""
        folder = heddle.site(open=False).parent
        for name in ("site.css", "site.js", "story.css", "story.js", "search-index.js", "search.html"):
            self.assertTrue((folder / name).is_file(), name)
        self.assertGreaterEqual(len(list(folder.rglob("*.html"))), 40)

    def test_no_such_page(self):
        for page in ("no-such.html", "", "../__init__.py", "doc"):
            with self.assertRaises(heddle.Error, msg=page):
                heddle.site(page, open=False)


class Without(unittest.TestCase):
    def test_package_without_site(self):
        with unittest.mock.patch("pathlib.Path.exists", return_value=False):
            with self.assertRaisesRegex(heddle.Error, "cmark-gfm"):
                heddle.site(open=False)


if __name__ == "__main__":
    unittest.main()
