# SPDX-License-Identifier: Apache-2.0
"""site_check.py FOLDER - checks the pages of the site as files, and prints a line for each mistake.

A page has a title, one h1, a language and a policy that forbids the network; elements are nested as HTML wants them;
ids are unique; every link, anchor, image, script and style sheet is there; nothing comes from elsewhere; every control
has a label, and every image a text. The index of the search has sections that exist, and words that the pages have.
A story has steps, whose places exist. A plot has the figures of its table.
"""

import base64
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# What may stand directly in what. Other pairs are free.
PARENT = {
    "li": {"ul", "ol"}, "tr": {"thead", "tbody"}, "td": {"tr"}, "th": {"tr"}, "thead": {"table"}, "tbody": {"table"},
    "summary": {"details"}, "figcaption": {"figure"}, "dt": {"dl", "div"}, "dd": {"dl", "div"},
}  # fmt: skip
PHRASING = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "summary"}
BLOCK = {"p", "div", "ul", "ol", "table", "pre", "figure", "details", "h1", "h2", "h3", "h4", "section", "blockquote"}
KNOWN_WORDS = {  # a word, and a page that a search for it must find
    "belady": "doc/chapters/4-policies.html",
    "linearization": "doc/glossary.html",
    "hd_run_growing": "doc/contract-hive.html",
    "libfuzzer": "fuzz/README.html",
    "displacement": "doc/chapters/9-hive.html",
}


class Page(html.parser.HTMLParser):
    def __init__(self, path, say):
        super().__init__()
        self.path, self.say = path, say
        self.stack, self.ids, self.links, self.resources = [], [], [], []
        self.title, self.h1, self.lang, self.policy = "", 0, None, ""
        self.labelled, self.controls, self.references = set(), [], []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if len(a) != len(attrs):
            self.say(f"<{tag}> has an attribute twice")
        parent = self.stack[-1] if self.stack else None
        if tag in PARENT and parent not in PARENT[tag]:
            self.say(f"<{tag}> in <{parent}>")
        if tag in BLOCK and any(p in PHRASING for p in self.stack):
            self.say(f"<{tag}> inside <{' '.join(p for p in self.stack if p in PHRASING)}>")
        if tag in ("a", "button") and any(p in ("a", "button") for p in self.stack):
            self.say(f"<{tag}> inside a control")
        for name in a:
            if name.startswith("on") or name == "style":
                self.say(f"<{tag}> has the attribute {name}, which the policy forbids")
        self.note(tag, a)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def note(self, tag, a):
        if "id" in a:
            self.ids.append(a["id"])
        if tag == "html":
            self.lang = a.get("lang")
        elif tag == "h1":
            self.h1 += 1
        elif tag == "meta" and a.get("http-equiv") == "Content-Security-Policy":
            self.policy = a.get("content", "")
        elif tag == "a" and "href" in a:
            self.links.append(a["href"])
        elif tag == "img" and "alt" not in a:
            self.say(f"an image without a text: {a.get('src')}")
        elif tag == "label":
            self.labelled.add(a.get("for"))
        elif tag in ("input", "select", "textarea") and "aria-label" not in a:
            self.controls.append(a.get("id"))
        elif tag == "svg" and a.get("aria-hidden") != "true" and not a.get("aria-label"):
            self.say("a drawing without a text")
        for name in ("src", "data"):
            if name in a and tag != "data":
                self.resources.append(a[name])
        if tag == "link":
            self.resources.append(a.get("href", ""))
        self.references += [a[n] for n in ("aria-controls", "for", "aria-labelledby", "data-story") if n in a]

    def handle_endtag(self, tag):
        if tag in VOID:
            self.say(f"</{tag}>")
        elif not self.stack or self.stack[-1] != tag:
            self.say(f"</{tag}> closes <{self.stack[-1] if self.stack else ''}>")
        else:
            self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "title" and "svg" not in self.stack:
            self.title += data

    def finish(self):
        self.close()
        if self.stack:
            self.say(f"never closed: {' '.join(self.stack)}")
        if not self.title.strip() or self.title.strip() == "- Heddle":
            self.say("no title")
        if self.h1 != 1:
            self.say(f"{self.h1} headings h1")
        if self.lang != "en":
            self.say("no language")
        if "default-src 'none'" not in self.policy or "http" in self.policy or "unsafe" in self.policy:
            self.say(f"the policy is {self.policy!r}")
        for name in sorted({i for i in self.ids if self.ids.count(i) > 1}):
            self.say(f"the id {name} is there twice")
        for name in self.controls:
            if name not in self.labelled:
                self.say(f"the control {name} has no label")
        for name in self.references:
            if name not in self.ids and name != "nav-suggest":
                self.say(f"nothing has the id {name}")


def resolve(folder, page, address):
    """The file that a link leads to, and the anchor; None for other sites."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme or parts.netloc:
        return None, None
    path = urllib.parse.unquote(parts.path)
    file = (page.path.parent / path).resolve() if path else page.path
    return file, urllib.parse.unquote(parts.fragment)


def check_links(folder, pages, say):
    for page in pages.values():
        name = page.path.relative_to(folder)
        for address in page.links:
            file, anchor = resolve(folder, page, address)
            if file is None:
                continue
            if not file.is_file():
                say(f"{name}: {address} leads to nothing")
            elif anchor and file in pages and anchor not in pages[file].ids:
                say(f"{name}: {address} has no such anchor")
        for address in page.resources:
            if address.startswith("data:image/svg+xml;base64,"):
                continue  # a plot: check_plots reads it
            file, _ = resolve(folder, page, address)
            if file is None:
                say(f"{name}: {address} is not part of the site")
            elif not file.is_file():
                say(f"{name}: {address} is not there")


def check_styles(folder, say):
    for path in [*folder.rglob("*.css"), *folder.rglob("*.js")]:
        text = re.sub(r"http://www\.w3\.org/\S*", "", path.read_text(encoding="utf-8"))
        if path.name != "search-index.js" and re.search(r"https?://|@import|\bfetch\(|XMLHttpRequest|\beval\(", text):
            say(f"{path.relative_to(folder)}: it reaches for the network, or evaluates text")


def check_stories(page, text, say):
    """Every figure has its story, and steps name cells and sectors that are there."""
    told = dict(re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', text, re.S))
    wanted = re.findall(r'<figure class="story" data-story="([^"]+)"', text)
    if sorted(told) != sorted(wanted):
        say(f"{page}: stories {sorted(told)}, figures {sorted(wanted)}")
    if page.match("doc/chapters/*") and not told:
        say(f"{page}: a chapter without a story")
    for name in told:
        story = json.loads(told[name])
        panels, memory = story["panels"], story["memory"]
        if story["schema"] != "heddle.story/1" or not story["steps"]:
            say(f"{page}: {name} has no steps")
        for step in story["steps"]:
            for panel, row, column, *_ in step["sets"] + step["looks"]:
                if panel >= len(panels) or row >= len(panels[panel]["rows"]) or column >= len(panels[panel]["columns"]):
                    say(f"{page}: step {step['step']} of {name} names a cell that is not there")
            for region, sector in step["sectors"]:
                if region >= len(memory) or sector >= memory[region]["sectors"]:
                    say(f"{page}: step {step['step']} of {name} names a sector that is not there")


def check_plots(page, text, say):
    """The pictures of a plot, for wide and for narrow windows, have the figures of its table."""
    for plot in re.findall(r'<figure class="plot">(.*?)</figure>', text, re.S):
        title = html.unescape(re.search(r"<figcaption[^>]*>(.*?)</figcaption>", plot).group(1))
        rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", plot)]
        told = sorted(number(cell) for row in rows for cell in row[1:] if cell)
        pictures = re.findall(r'(?:src|srcset)="data:image/svg\+xml;base64,([^"]*)"', plot)
        if len(pictures) != 2 or not told:
            say(f"{page}: {title}: {len(pictures)} pictures, {len(told)} figures")
        for picture in pictures:
            try:
                root = tree.fromstring(base64.b64decode(picture))
            except (ValueError, tree.ParseError):
                say(f"{page}: {title}: a picture is none")
                continue
            names = [e.text or "" for e in root.iter(SVG + "title")]
            marks = [re.fullmatch(r".*: (\S+) at \S+", name) for name in names[1:]]
            bars = [re.fullmatch(r".*: (\S+)", name) for name in names[1:]]
            seen = sorted(number(m.group(1)) for m in ([m for m in marks if m] or [m for m in bars if m]))
            if names[0] != title:
                say(f"{page}: {title}: the picture is called {names[0]}")
            if len(seen) != len(told) or any(abs(a - b) > 0.006 * max(abs(a), 1e-9) for a, b in zip(seen, told)):
                say(f"{page}: {title}: the picture and the table have other figures")


def number(text):
    return float(text.rstrip("%").replace(",", ""))


def check_index(folder, pages, say):
    text = (folder / "search-index.js").read_text(encoding="utf-8")
    rows = json.loads(text[text.index("[") : text.rindex("]") + 1])
    for address, *_ in rows:
        path, _, anchor = address.partition("#")
        page = pages.get((folder / path).resolve())
        if not page or (anchor and anchor not in page.ids):
            say(f"search-index.js: {address} is not there")
    for word, where in KNOWN_WORDS.items():
        if not any(row[0].startswith(where) and word in " ".join(row[1:]).lower() for row in rows):
            say(f"search-index.js: {word} is not found in {where}")
    indexed = {(folder / row[0].partition("#")[0]).resolve() for row in rows}
    for path in set(pages) - indexed:
        if path.name != "search.html":
            say(f"search-index.js: nothing of {path.relative_to(folder)}")


def check(folder):
    folder = pathlib.Path(folder).resolve()
    mistakes, pages = [], {}
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder)
        page = Page(path, lambda what, name=name: mistakes.append(f"{name}: {what}"))
        text = path.read_text(encoding="utf-8")
        page.feed(text)
        page.finish()
        if re.search(
            r"\|\s*-{3,}\s*\|", re.sub(r"<pre.*?</pre>|<code.*?</code>|<script.*?</script>", "", text, flags=re.S)
        ):
            mistakes.append(f"{name}: a table that is none")
        check_stories(name, text, mistakes.append)
        check_plots(name, text, mistakes.append)
        pages[path] = page
    check_links(folder, pages, mistakes.append)
    check_styles(folder, mistakes.append)
    check_index(folder, pages, mistakes.append)
    return len(pages), mistakes


if __name__ == "__main__":
    count, found = check(sys.argv[1])
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{count} pages, {len(found)} mistakes", file=sys.stderr)
    sys.exit(1 if found else 0)
