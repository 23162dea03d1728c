# SPDX-License-Identifier: Apache-2.0
"""check_site.py - the site in a browser without a network (run.py FOLDER site).

Every page, in light and dark: nothing in the console, no wider than the window at 360 to 1,920 pixels, text that is
readable on its ground (WCAG AA), controls with names. Then the keyboard, the search, and the sliders.
"""

import pathlib
import re

WIDTHS = (360, 768, 1280, 1920)
PAGES = (
    "index.html",
    "search.html",
    "README.html",
    "doc/contract-hkv.html",
    "bench/RESULTS.html",
    "papers/hkv/README.html",
)  # in both schemes; of the others one, in turn
SEARCHES = {
    "belady": "doc/chapters/4-policies.html",
    "linearization point": "doc/",
    "hd_run_growing": "doc/",
    "libfuzzer": "fuzz/README.html",
    "displacement": "doc/chapters/9-hive.html",
}

# The text of least contrast for its size: what is seen, and what is seen through.
CONTRAST = """(() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (top, under) => {
    const a = top[3] ?? 1;
    return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a));
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), dark ? [18, 18, 18] : [255, 255, 255]);
  };
  const bad = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim().slice(0, 30);
    if (!text || e.closest("script, noscript, style, [disabled], [aria-hidden=true]")) continue;
    const style = getComputedStyle(e);
    if (!e.getClientRects().length || style.visibility === "hidden" || style.opacity === "0") continue;
    const under = ground(e);
    const ink = over(parse(e instanceof SVGElement ? style.fill : style.color), under);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const contrast = ratio(ink, under), name = e.tagName.toLowerCase() + "." + (e.getAttribute("class") || "");
    if (contrast < (large ? 3 : 4.5)) bad.add(`${name} "${text}" ${contrast.toFixed(2)}`);
  }
  return [...bad].slice(0, 3);
})()"""

# The controls that a keyboard cannot reach, or that have no name.
UNNAMED = """[...document.querySelectorAll("a[href], button, input, select, summary")].filter((e) =>
  e.getClientRects().length && !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))
).map((e) => e.outerHTML.slice(0, 60)).slice(0, 3)"""


def check_page(browser, folder, path, dark):
    page = browser.open(folder / path, dark=dark, still=True)
    scheme = "dark" if dark else "light"
    mistakes = [f"{path}: {text}" for text in page.value(CONTRAST)]
    mistakes += [f"{path}: a control without a name: {text}" for text in page.value(UNNAMED)]
    for width in WIDTHS:
        page.resize(width)
        wide = page.value("document.documentElement.scrollWidth")
        if wide > width:
            mistakes.append(f"{path}: {wide} pixels wide in a window of {width}")
    mistakes += [f"{path}: {problem}" for problem in page.problems]
    mistakes += [f"{path}: it asks for {url}" for url in page.requests if not url.startswith(("file:", "data:"))]
    page.close()
    return [f"{text} ({scheme})" for text in mistakes]


def check_keyboard(browser, folder):
    page = browser.open(folder / "doc/api.html", still=True)
    focused = "document.activeElement.className || document.activeElement.id"
    page.key("Tab")
    if page.value(focused) != "skip":
        yield f"the first Tab reaches {page.value(focused)!r}, not the link to the text"
    seen = page.value("getComputedStyle(document.activeElement).outlineStyle")
    if seen == "none":
        yield "the focus is not seen"
    page.key("Enter")
    if page.value("document.activeElement.id") != "nav-main":
        yield "the link to the text does not move the focus there"
    page.key("/")
    if page.value("document.activeElement.id") != "nav-q":
        yield "/ does not reach the search"
    page.send("Input.insertText", text="lower bound")
    if not page.value(WAIT_FOR % '!document.getElementById("nav-suggest").hidden'):
        yield "typing into the search shows nothing"
    page.key("ArrowDown")
    chosen = page.value('document.querySelector(\'[role="option"][aria-selected="true"]\')?.textContent ?? ""')
    if "ound" not in chosen:
        yield f"the arrow chooses {chosen!r}"
    page.key("Enter")
    if not page.value(WAIT_FOR % '!location.pathname.endsWith("/doc/api.html") || location.hash !== ""'):
        yield "Enter does not go to the section"
    page.close()
    narrow = browser.open(folder / "index.html", width=360, still=True)
    shown = 'document.getElementById("nav-pages").getClientRects().length > 0'
    if narrow.value(shown):
        yield "the list of pages covers a narrow screen"
    narrow.value('document.getElementById("nav-menu").click()')
    if not narrow.value(shown):
        yield "the button does not show the list of pages"
    narrow.close()


WAIT_FOR = """new Promise((done) => {
  const start = performance.now();
  const look = () => (%s) ? done(true) : performance.now() - start > 60000 ? done(false) : setTimeout(look, 20);
  look();
})"""


def check_story_keys(browser, folder):
    """Keys act on the story in view, wherever the focus is, and on the page where no story is."""
    page = browser.open(folder / "doc/chapters/3-evict.html", still=True)
    position = 'document.querySelector(".st-position").textContent.split(" ")[0]'
    place = "document.querySelector('figure.story').scrollIntoView(); document.activeElement.blur(); scrollY"
    scrolled = page.value(place)
    page.value(WAIT_FOR % (position + ' !== "0"'))  # seen for the first time, it goes to its last step
    page.value('document.querySelector(".st-do-first").click()')
    page.value(place)
    for key, wanted in (("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1")):
        page.key(key)
        if page.value(position) != wanted:
            yield f"{key} without a click leads to step {page.value(position)}, not {wanted}"
    page.key(" ")
    if not page.value(WAIT_FOR % (position + ' !== "1"')):
        yield "space without a click does not play"
    page.key(" ")
    if page.value("document.querySelector('.st-do-play').getAttribute('aria-label')") != "Play":
        yield "space without a click does not pause"
    if page.value("scrollY") != scrolled:
        yield f"the keys moved the page from {scrolled} to {page.value('scrollY')}"
    page.value("scrollTo(0, document.documentElement.scrollHeight)")
    before = page.value(position)
    page.key("ArrowRight")
    if page.value(position) != before:
        yield "a key acts on a story that is not in view"
    page.close()


def check_search(browser, folder):
    for words, where in SEARCHES.items():
        page = browser.open(f"{(folder / 'search.html').as_uri()}?q={words.replace(' ', '+')}", still=True)
        found = page.value(WAIT_FOR % 'document.querySelectorAll("#nav-found a").length > 0')
        first = page.value(
            '[...document.querySelectorAll("#nav-found a")].slice(0, 5).map((a) => a.getAttribute("href"))'
        )
        if not found or not any(address.startswith(where) for address in first):
            yield f"a search for {words} finds {first}, not {where}"
        page.close()
    page = browser.open(f"{(folder / 'search.html').as_uri()}?q=ttl", still=True)
    page.value(WAIT_FOR % 'document.getElementById("nav-count").textContent.includes("section")')
    for text in page.value('[...document.querySelectorAll("#nav-found a")].map((a) => a.textContent)'):
        if not re.search(r"(?<![a-z0-9])ttl", text.lower()):
            yield f"a search for ttl finds {text[:60]!r}"
    page.close()
    page = browser.open(f"{(folder / 'search.html').as_uri()}?q=zzyzx", still=True)
    if not page.value(WAIT_FOR % 'document.getElementById("nav-count").textContent === "0 sections"'):
        yield "a search for a word that is nowhere finds something"
    page.close()


def check_sliders(browser, folder, paths):
    for path in paths:
        page = browser.open(folder / path, still=True)
        sliders = page.value('document.querySelectorAll(".slider").length')
        for at in range(sliders):
            last = page.value(f'Number(document.querySelectorAll(".slider > p input")[{at}].max)')
            for value in range(1, int(last) + 1):
                shown = page.value(f"""(() => {{
                  const slider = document.querySelectorAll(".slider")[{at}], input = slider.querySelector("p input");
                  input.value = {value};
                  input.dispatchEvent(new Event("input"));
                  return [...slider.querySelectorAll(".choice")].map((c) => c.getClientRects().length > 0);
                }})()""")
                if shown != [i == value - 1 for i in range(int(last))]:
                    yield f"{path}: position {value} of the slider shows {shown}"
        for problem in page.problems:
            yield f"{path}: {problem}"
        page.close()


def run(tap, browser, folder):
    folder = pathlib.Path(folder).resolve()
    paths = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.html"))
    mistakes = []
    for number, path in enumerate(paths):
        both = path in PAGES or path.startswith("doc/chapters/")
        for dark in (False, True) if both else (number % 2 == 0,):
            mistakes += check_page(browser, folder, path, dark)
    tap.none(f"{len(paths)} pages: console, widths, contrast, names of controls", mistakes)
    tap.none("the keyboard reaches the text, the search and the list of pages", list(check_keyboard(browser, folder)))
    tap.none("keys act on the story in view, without a click", list(check_story_keys(browser, folder)))
    tap.none("the search finds what it should", list(check_search(browser, folder)))
    chapters = [path for path in paths if path.startswith("doc/chapters/")]
    tap.none("a slider shows one story at a time", list(check_sliders(browser, folder, chapters)))
