# SPDX-License-Identifier: Apache-2.0
"""One page of Markdown as HTML: cmark-gfm converts it, and Rewriter changes what the site shows in its own way.

links            to a page become links to its .html file; to a source, its path as text
headings         get the anchors that GitHub gives them, so that links to sections hold
tables           scroll in a box of their own; columns of figures are aligned to the right
code             is highlighted
<!-- story -->   the commands of the next code block run, and the block becomes the stories that they tell
<!-- slider -->  the same; a slider chooses one of the stories
<!-- plot: NAME -->  becomes the plot of that name
"""

import html
import html.parser
import os
import posixpath
import re
import subprocess

from site_code import highlight

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
UNIT = r"(?:%|x|×|pp|us|ms|ns|s|GB|MB|KiB|MiB|GiB|[kMGKT]i?)?"
NUMERIC = re.compile(r"^[-+−±~<>≤≥]?\s*[\d.,]+(?:e[-+]?\d+)?\s*" + UNIT + "$")


class Failed(RuntimeError):
    """The site cannot be made; the message says why."""


def convert(text):
    """Markdown to HTML, by cmark-gfm."""
    words = [os.environ.get("CMARK") or "cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-t", "html"]
    try:
        done = subprocess.run(words, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    except FileNotFoundError:
        raise Failed(f"{words[0]} is missing; on Debian and Ubuntu: apt-get install cmark-gfm") from None
    except subprocess.CalledProcessError as e:
        raise Failed(f"{words[0]}: {e.stderr.strip()}") from None
    return done.stdout


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def attributes(attrs):
    return "".join(f" {k}" if v is None else f' {k}="{html.escape(v)}"' for k, v in attrs)


class Section:
    """What the search knows of a page: a heading, its anchor, and the words below it."""

    def __init__(self, anchor, heading=""):
        self.anchor, self.heading, self.words = anchor, heading, []

    def text(self):
        return " ".join("".join(self.words).split())


class Rewriter(html.parser.HTMLParser):
    """Writes the page again. `site` answers where links lead, and draws stories and plots:

    site.link(page, target)           ("page", href), ("text", path) or ("away", href)
    site.image(page, target)          the address of an image, or None: it is only named
    site.stories(commands, kind)      HTML
    site.plot(name)                   HTML
    """

    def __init__(self, page, site):
        super().__init__(convert_charrefs=True)
        self.page, self.site = page, site
        self.out = []
        self.sections = [Section("")]
        self.title = ""
        self.toc = []  # (level, anchor, heading as text)
        self.anchors = {}
        self.ends = []  # what closes an <a> that is not written as one
        self.heading = None  # (tag, place in `out`, words)
        self.pre = None  # [language, words] of a code block
        self.mark = None  # "story" or "slider": what the next code block is
        self.table = None  # rows of cells: [tag, html, text]
        self.cell = None

    # ---- Output, into the page or a cell ----

    def write(self, text):
        (self.out if self.cell is None else self.cell[1]).append(text)

    def handle_data(self, data):
        if self.pre is not None:
            self.pre[1].append(data)
            return
        if self.cell is not None:
            self.cell[2].append(data)
        if self.heading:
            self.heading[2].append(data)
        else:
            self.sections[-1].words.append(data)
        if self.table is None or self.cell is not None:
            self.write(html.escape(data, quote=False))

    def handle_comment(self, data):
        data = data.strip()
        if data in ("story", "slider"):
            self.mark = data
        elif data.startswith("plot:"):
            self.out.append(self.site.plot(data.split(":", 1)[1].strip()))

    # ---- Elements ----

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "pre":
            self.pre = ["", []]
        elif self.pre is not None:
            self.pre[0] = (a.get("class") or "").removeprefix("language-")
        elif re.fullmatch("h[1-6]", tag):
            self.heading = (tag, len(self.out), [])
        elif tag == "table":
            self.table = []
        elif tag in ("thead", "tbody"):
            pass
        elif tag == "tr":
            self.table.append([])
        elif tag in ("th", "td"):
            self.cell = [tag, [], []]
            self.table[-1].append(self.cell)
        elif tag == "a":
            self.start_link(a)
        elif tag == "img":
            self.image(a.get("src", ""), a.get("alt", ""))
        else:
            self.write(f"<{tag}{attributes(attrs)}>")

    def handle_startendtag(self, tag, attrs):
        if tag in VOID:
            self.handle_starttag(tag, attrs)
        else:
            self.write(f"<{tag}{attributes(attrs)}></{tag}>")

    def image(self, path, text):
        address = self.site.image(self.page, path)
        if address:
            self.write(f'<img src="{html.escape(address)}" alt="{html.escape(text)}" loading="lazy">')
        else:
            name = posixpath.basename(path)
            self.write(
                f'<span class="path">Picture, in the source tree: {html.escape(text)} (<code>{name}</code>)</span>'
            )

    def start_link(self, a):
        kind, where = self.site.link(self.page, a.get("href", ""))
        if kind == "text":
            self.write('<span class="path">')
            self.ends.append(("</span>", where, len((self.out if self.cell is None else self.cell[1]))))
        else:
            self.write(f'<a href="{html.escape(where)}"' + (' rel="external">' if kind == "away" else ">"))
            self.ends.append(("</a>", None, 0))

    def end_link(self):
        end, path, start = self.ends.pop()
        self.write(end)
        shown = "".join((self.out if self.cell is None else self.cell[1])[start:])
        if path and posixpath.basename(path) not in shown:
            self.write(f' <span class="path">(<code>{html.escape(path)}</code>)</span>')

    def handle_endtag(self, tag):
        if tag == "pre":
            self.end_code()
        elif self.pre is not None or tag in ("thead", "tbody", "tr"):
            pass
        elif self.heading and tag == self.heading[0]:
            self.end_heading()
        elif tag == "table":
            self.end_table()
        elif tag in ("th", "td"):
            self.cell = None
        elif tag == "a":
            self.end_link()
        elif tag not in VOID:
            self.write(f"</{tag}>")

    def end_heading(self):
        tag, place, words = self.heading
        self.heading = None
        inner, text = "".join(self.out[place:]), " ".join("".join(words).split())
        del self.out[place:]
        base = slug(text)
        n = self.anchors.get(base, -1) + 1
        self.anchors[base] = n
        anchor = f"{base}-{n}" if n else base
        if tag == "h1" and not self.title:
            self.title = text
            self.out.append(f'<h1 id="{anchor}">{inner}</h1>')
        else:
            self.toc.append((int(tag[1]), anchor, text))
            link = f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a>'
            self.out.append(f'<{tag} id="{anchor}">{inner} {link}</{tag}>')
        self.sections.append(Section(anchor, text))

    def end_code(self):
        (language, words), self.pre = self.pre, None
        text, mark, self.mark = "".join(words), self.mark, None
        if mark:
            self.write(self.site.stories(text, mark))
            return
        self.sections[-1].words.append(" " + text + " ")
        kind = f' class="language-{html.escape(language)}"' if language else ""
        self.write(f'<pre tabindex="0"><code{kind}>{highlight(text, language)}</code></pre>')

    def end_table(self):
        rows, self.table = self.table, None
        self.sections[-1].words.append(" ")
        columns = len(rows[0])
        right = set()
        for i in range(columns):
            texts = ["".join(r[i][2]).strip() for r in rows[1:] if i < len(r)]
            full = [t for t in texts if t]
            if full and all(NUMERIC.match(t) for t in full):
                right.add(i)
        label = "Table: " + ", ".join(filter(None, ("".join(c[2]).strip() for c in rows[0])))
        self.out.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label[:120])}"><table>'
        )
        for number, row in enumerate(rows):
            self.out.append(("<thead>" if number == 0 else "<tbody>" if number == 1 else "") + "<tr>")
            for i, (tag, inner, _) in enumerate(row):
                number_class = ' class="number"' if i in right else ""
                scope = ' scope="col"' if tag == "th" else ""
                self.out.append(f"<{tag}{scope}{number_class}>{''.join(inner)}</{tag}>")
            self.out.append("</tr>" + ("</thead>" if number == 0 else ""))
        self.out.append(("</tbody>" if len(rows) > 1 else "") + "</table></div>")


class Page:
    """A page: `path` in the source tree, `to` in the site. After render(): title, body, toc, sections."""

    def __init__(self, path, to=None):
        self.path, self.to = path, to or path.removesuffix(".md") + ".html"
        self.title = self.body = ""
        self.toc, self.sections = [], []

    def render(self, text, site):
        # A comment of ours ends its paragraph: a block that follows is a block of its own.
        rewriter = Rewriter(self, site)
        rewriter.feed(convert(text))
        rewriter.close()
        if not rewriter.title:
            raise Failed(f"{self.path}: no heading of level 1")
        self.title, self.body = rewriter.title, "".join(rewriter.out)
        self.toc, self.sections = rewriter.toc, rewriter.sections

    def up(self):
        """From the page to the top of the site: "" or "../../"."""
        return "../" * self.to.count("/")
