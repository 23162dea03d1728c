#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the site of the pages: `make html` runs  site.py SOURCE BUILD FOLDER.

SOURCE is the tree, BUILD has the command `heddle`, FOLDER is made anew. The site needs no network and no server: every
page opens from the disk. It needs cmark-gfm, Python's own library and the command, which tells the stories in the
chapters (doc/chapters) and computes what plots show.
"""

import glob
import html
import json
import pathlib
import posixpath
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import site_plots
from site_page import Failed, Page

# The navigation: groups of pages, in order. Pages that no group has come last, under MORE.
CHAPTERS = "A GPU hash table, step by step"
MORE = "More"
GROUPS = (
    (CHAPTERS, ("doc/chapters/[0-9]*.md",)),
    ("First look", ("README.md", "doc/glossary.md", "doc/roadmap.md", "CHANGELOG.md")),
    (
        "Use it",
        (
            "doc/api.md",
            "doc/python.md",
            "doc/python-torch.md",
            "doc/contract.md",
            "doc/contract-hkv.md",
            "doc/contract-hive.md",
            "doc/contract-ovs.md",
            "doc/contract-sl.md",
            "doc/contract-gphash.md",
            "doc/concurrency.md",
            "doc/merlin.md",
        ),
    ),
    ("Run it", ("doc/output.md", "doc/snapshot.md", "doc/security.md", "bench/README.md")),
    ("Learn and teach", ("doc/explain.md", "doc/puzzles.md", "doc/teaching.md", "doc/course/*.md")),
    ("Understand it", ("doc/architecture.md", "doc/dialect.md", "doc/hive.md", "doc/sl.md", "doc/gfsl.md")),
    ("Trust it", ("doc/testing.md", "fuzz/README.md", "examples/foreign/README.md")),
    ("Change it", ("CONTRIBUTING.md", "doc/extending.md", "examples/*/README.md")),
    ("Results", ("papers/hkv/README.md", "papers/hive/README.md", "papers/ovs/README.md", "papers/gphash/README.md", "bench/*.md", "bench/lab/*.md")),
)
START = "doc/chapters/README.md"
EVERYTHING = (
    "*.md",
    "doc/*.md",
    "doc/*/*.md",
    "bench/*.md",
    "fuzz/*.md",
    "bench/lab/*.md",
    "papers/*/*.md",
    "examples/*/*.md",
)

POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; "
    "form-action 'self' file:; base-uri 'none'"
)
ASSETS = ("site.css", "site.js", "story.css", "story.js")
LIMIT = 1_500_000  # bytes of a page
IMAGE_LIMIT = 200_000  # a larger picture is only named: the package would become too large


class Site:
    """The pages, and what they ask while they are rendered."""

    def __init__(self, source, build, folder):
        self.source, self.build, self.folder = source, build, folder
        self.pages = {}  # by path
        self.images = set()
        self.asked = 0
        self.plots = site_plots.Plots(source, self.command, build / "heddle")

    # ---- What a page asks ----

    def link(self, page, target):
        """Where a link of the page leads: ("page", address), ("text", path) or ("away", address)."""
        if re.match(r"[a-z]+:", target):
            return "away", target
        path, _, anchor = target.partition("#")
        anchor = "#" + anchor if anchor else ""
        if not path:
            return "page", anchor
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), path))
        if path in self.pages:
            return "page", posixpath.relpath(self.pages[path].to, posixpath.dirname(page.to) or ".") + anchor
        if not (self.source / path).exists():
            raise Failed(f"{page.path}: {target} leads to nothing")
        return "text", path

    def image(self, page, target):
        """The address of an image in the site; None if it is too large."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), target))
        if not (self.source / path).exists():
            raise Failed(f"{page.path}: there is no image {target}")
        if (self.source / path).stat().st_size > IMAGE_LIMIT:
            return None
        self.images.add(path)
        return posixpath.relpath(path, posixpath.dirname(page.to) or ".")

    def run(self, words):
        """Runs heddle; what it printed. Exit code 1 says that a check objected."""
        if words[0] != "heddle":
            raise Failed(f"a story is told by heddle, not by {words[0]}")
        done = subprocess.run(
            [str(self.build / "heddle"), *words[1:]], capture_output=True, text=True, encoding="utf-8", cwd=self.build
        )
        if done.returncode not in (0, 1):
            raise Failed(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def command(self, words):
        """The report of a command."""
        return json.loads(self.run([*words, "--json"]))

    def told(self, words):
        """The stories of the page that a command writes."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "story.html"
            self.run([*words, "--html", str(path)])
            page = path.read_text(encoding="utf-8") if path.exists() else ""
        found = re.findall(r'<script type="application/json" id="story-\d+">(.*?)</script>', page, re.S)
        if not found:
            raise Failed(f"{shlex.join(words)}: tells no story")
        return [json.loads(text) for text in found]

    def stories(self, text, kind):
        """The stories that the lines of a code block tell, beside each other, or one at a time with a slider."""
        figures, note = [], ""
        for line in text.replace("\\\n", " ").splitlines():
            if line.startswith("# "):
                note = line[2:].strip()
                continue
            if not line.strip():
                continue
            told = self.told(shlex.split(line))
            figures += [(story, note) for story in (told[:1] if kind == "slider" else told)]
            note = ""
        return slider(self, figures) if kind == "slider" else beside(self, figures)

    def plot(self, name):
        return self.plots.draw(name)

    def number(self):
        self.asked += 1
        return self.asked

    # ---- The pages ----

    def find(self):
        found = []
        for pattern in EVERYTHING:
            for path in sorted(glob.glob(pattern, root_dir=self.source)):
                found.append(path)
        if START not in found:
            raise Failed(f"{START} is missing")
        self.pages = {path: Page(path, "index.html" if path == START else None) for path in found}

    def render(self):
        for path, page in self.pages.items():
            self.asked = 0
            page.render((self.source / path).read_text(encoding="utf-8"), self)

    def groups(self):
        """(name, pages) in the order of the navigation."""
        seen, groups = {START}, []
        for name, patterns in (*GROUPS, (MORE, EVERYTHING)):
            pages = []
            for pattern in patterns:
                for path in sorted(glob.glob(pattern, root_dir=self.source), key=in_order):
                    if path in self.pages and path not in seen:
                        seen.add(path)
                        pages.append(self.pages[path])
            if pages:
                groups.append((name, pages))
        return groups

    def write(self):
        groups = self.groups()
        order = [self.pages[START], *(page for _, pages in groups for page in pages)]
        for at, page in enumerate(order):
            before, after = order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None
            self.save(page.to, document(page, groups, before, after))
        search = Page("search.md", "search.html")
        search.title, search.body = "Search", SEARCH
        self.save(search.to, document(search, groups, None, None))
        self.save("search-index.js", index(order))
        for path in sorted(self.images):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source / path, self.folder / path)
        for name in ASSETS:
            if (self.source / "tools" / "pages" / name).exists():
                shutil.copyfile(self.source / "tools" / "pages" / name, self.folder / name)

    def save(self, to, text):
        path = self.folder / to
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8")
        if len(data) > LIMIT:
            raise Failed(f"{to}: {len(data):,} bytes; at most {LIMIT:,} are allowed")
        path.write_bytes(data)


def in_order(path):
    """2-... before 10-...."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


# ---- Stories --------------------------------------------------------------------------------------------------------


def figure(site, story, plays):
    """One story: the player (tools/pages/story.js) finds the figure and reads the data beside it.

    plays: as soon as it is seen.
    """
    name = f"told-{site.number()}"
    data = json.dumps(story, ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return (
        f'<figure class="story" data-story="{name}"{" data-autoplay" if plays else ""} '
        f'aria-label="{html.escape(story["title"])}">'
        f"<noscript><p>{html.escape(story['title'])}: this story needs JavaScript.</p></noscript></figure>"
        f'<script type="application/json" id="{name}">{data}</script>'
    )


def beside(site, figures):
    """One story, or several with common controls."""
    plays = not site.asked
    parts = []
    for story, note in figures:
        caption = f'<p class="note">{html.escape(note)}</p>' if note else ""
        parts.append(f"<div>{caption}{figure(site, story, plays)}</div>")
    kind = "stories" if len(figures) > 1 else "one"
    return f'<div class="{kind}">{"".join(parts)}</div>'


def slider(site, figures):
    """A range input that shows one of the stories at a time (tools/pages/site.js)."""
    name = f"chosen-{site.number()}"
    parts = []
    for at, (story, note) in enumerate(figures):
        finding = story.get("finding")
        verdict = f"A check objects: {finding['by']}." if finding else "No check objects."
        kind = "bad" if finding else "good"
        parts.append(
            f'<div class="choice" data-label="{html.escape(note)}"{"" if at == 0 else " hidden"}>'
            f'<p class="verdict {kind}">{html.escape(verdict)}</p>{figure(site, story, True)}</div>'
        )
    return (
        f'<div class="slider" role="group" aria-label="Recorded schedules"><p><label for="{name}">Schedule</label> '
        f'<input type="range" id="{name}" min="1" max="{len(parts)}" value="1" step="1"> '
        f'<output for="{name}">1 of {len(parts)}: {html.escape(figures[0][1])}</output></p>{"".join(parts)}</div>'
    )


# ---- A page as a document -------------------------------------------------------------------------------------------

SEARCH = (
    '<h1 id="search">Search</h1><form class="find" role="search" action="search.html">'
    '<label for="nav-words">Words</label> '
    '<input type="search" id="nav-words" name="q" autocomplete="off" spellcheck="false">'
    '</form><p id="nav-count" role="status">Type one or more words. A section is found if it has all of them.</p>'
    '<ol id="nav-found" class="results"></ol><noscript><p>The search needs JavaScript.</p></noscript>'
)


def navigation(page, groups):
    parts = []
    for name, pages in groups:
        here = page in pages or (page.to == "index.html" and name == CHAPTERS)
        parts.append(f"<details{' open' if here else ''}><summary>{html.escape(name)}</summary><ul>")
        for p in pages:
            current = ' aria-current="page"' if p is page else ""
            parts.append(f'<li><a href="{page.up()}{p.to}"{current}>{html.escape(p.title)}</a></li>')
        parts.append("</ul></details>")
    return "".join(parts)


def contents(page):
    entries = [(level, anchor, text) for level, anchor, text in page.toc if level <= 3]
    if len(entries) < 2:
        return ""
    links = "".join(f'<li class="level-{level}"><a href="#{a}">{html.escape(t)}</a></li>' for level, a, t in entries)
    return f'<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>{links}</ul></nav>'


def turn(page, other, kind, words):
    if not other:
        return ""
    title = html.escape(other.title)
    return f'<a class="{kind}" rel="{kind}" href="{page.up()}{other.to}"><span>{words}</span> {title}</a>'


def document(page, groups, before, after):
    up = page.up()
    title = "Heddle" if page.to == "index.html" else f"{page.title} - Heddle"
    scripts = f'<script src="{up}site.js" defer></script>'
    style = f'<link rel="stylesheet" href="{up}site.css">'
    if 'class="story"' in page.body:
        style += f'<link rel="stylesheet" href="{up}story.css">'
        scripts = f'<script src="{up}story.js" defer></script>' + scripts
    source = (
        f'<p class="source">Source: <code>{html.escape(page.path)}</code></p>' if page.path != "search.md" else ""
    )
    turns = turn(page, before, "prev", "Previous") + turn(page, after, "next", "Next")
    kind = "chapter" if page.path.startswith("doc/chapters/") else "reference"
    return f"""<!DOCTYPE html>
<html lang="en" data-up="{up}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
{style}
{scripts}
</head>
<body class="{kind}">
<a class="skip" href="#nav-main">Skip to the text</a>
<header class="top">
<a class="brand" href="{up}index.html">Heddle</a>
<button type="button" id="nav-menu" aria-expanded="false" aria-controls="nav-pages">Pages</button>
<form class="quick" role="search" action="{up}search.html"><label class="unseen" for="nav-q">Search all pages</label>
<input type="search" id="nav-q" name="q" placeholder="Search ( / )" autocomplete="off" spellcheck="false"></form>
</header>
<div class="frame">
<nav id="nav-pages" aria-label="All pages">{navigation(page, groups)}</nav>
<main id="nav-main" tabindex="-1">
<article>
{page.body}
</article>
<nav class="turn" aria-label="Previous and next page">{turns}</nav>
{source}
</main>
{contents(page) if kind == "reference" else ""}
</div>
</body>
</html>
"""


def index(pages):
    """search-index.js: a row per section: address, title of the page, heading, text."""
    rows = []
    for page in pages:
        for section in page.sections:
            text = section.text()
            if text or section.heading:
                anchor = "#" + section.anchor if section.anchor else ""
                rows.append([page.to + anchor, page.title, section.heading, text])
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("\u2028", " ").replace("\u2029", " ")
    return f"// SPDX-License-Identifier: Apache-2.0\nglobalThis.heddleIndex = {data};\n"


def make(source, build, folder):
    source, build, folder = (pathlib.Path(p).resolve() for p in (source, build, folder))
    if not (build / "heddle").exists():
        raise Failed(f"{build / 'heddle'} is missing: build the command first (make heddle)")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    site = Site(source, build, part)
    site.find()
    site.render()
    site.write()
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return len(site.pages)


if __name__ == "__main__":
    if sys.version_info < (3, 10):
        sys.exit("site.py: Python 3.10 or later is needed")
    if len(sys.argv) != 4:
        sys.exit("usage: site.py SOURCE BUILD FOLDER")
    try:
        print(f"{sys.argv[3]}/index.html: {make(*sys.argv[1:])} pages")
    except Failed as failure:
        sys.exit(f"site.py: {failure}")
