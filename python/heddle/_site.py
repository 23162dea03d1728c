# SPDX-License-Identifier: Apache-2.0
"""The site: "A GPU hash table, step by step" and all pages, as files of the package."""

from __future__ import annotations

import pathlib

from heddle._core import Error


def site(page: str = "index.html", *, open: bool = True) -> pathlib.Path:
    """Opens a page of the site in the browser, and returns its path.

    page: relative to the start page, for example "doc/python.html". open=False only returns the path. The site needs
    no network. heddle.Error if the package was built without the site, or has no such page.
    """
    folder = pathlib.Path(__file__).parent / "_site"
    path = folder / page
    if not (folder / "index.html").exists():
        raise Error("this package was built without the site: install cmark-gfm and build it again")
    if not path.is_file() or folder.resolve() not in path.resolve().parents:
        raise Error(f"the site has no page {page}")
    if open:
        import webbrowser

        webbrowser.open(path.as_uri())
    return path
