# SPDX-License-Identifier: Apache-2.0
"""Stories (doc/output.md, heddle.story/1) as a page that needs no network, with the player of the folder _pages."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import pathlib

from heddle import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any


def _policy(text: str) -> str:
    """How a Content-Security-Policy names a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(story: dict[str, Any]) -> str:
    """JSON in which nothing ends the script element."""
    text = json.dumps(story, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page(title: str, stories: Sequence[dict[str, Any]]) -> str:
    """The text of a page that plays stories, side by side."""
    folder = pathlib.Path(__file__).parent / "_pages"
    names = "story.js", "story.css", "page.html"
    script, style, text = ((folder / name).read_text(encoding="utf-8") for name in names)
    figures = "\n".join(
        f'<figure class="story" data-story="story-{i}" data-autoplay></figure>\n'
        f'<script type="application/json" id="story-{i}">{_data(story)}</script>'
        for i, story in enumerate(stories, 1)
    )
    parts = {
        "TITLE": html.escape(title), "STORIES": figures, "SCRIPT": script, "STYLE": style, "VERSION": _core.version,
        "SCRIPT_HASH": _policy(script), "STYLE_HASH": _policy(style),
    }  # fmt: skip
    pieces = text.split("@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def frame(text: str) -> str:
    """A page as an element of a notebook, where it can reach nothing."""
    return (
        f'<iframe sandbox="allow-scripts" title="A story" style="width:100%;height:46rem;border:0" '
        f'srcdoc="{html.escape(text)}"></iframe>'
    )


def write(path: str | PathLike[str], title: str, stories: Sequence[dict[str, Any]]) -> None:
    pathlib.Path(path).write_text(page(title, stories), encoding="utf-8")
