# SPDX-License-Identifier: Apache-2.0
"""Pages of stories: what they show is what their JSON says, with every control, at every width, for every reader."""

import json
import os
import re
import time

import model

WIDTHS = 360, 768, 1280, 1920


def stories_of(path):
    """The stories of a page, read from the file without a browser."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(m) for m in re.findall(r'<script type="application/json" id="story-\d+">(.*?)</script>', text, re.S)]


def busy():
    """How many want a processor for each that there is, at least 1: what takes a second takes as many."""
    return max(1, os.getloadavg()[0] / os.cpu_count())


def until(holds, seconds=1):
    """Waits until it holds, as long as a busy machine may need; returns whether it does."""
    end = time.monotonic() + 10 * seconds * busy()
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


class Figure:
    """Story number i of a page."""

    def __init__(self, page, i):
        self.page, self.name = page, f"document.querySelectorAll('figure.story')[{i}]"

    def shown(self):
        return self.page.value(f"({model.SHOWN})({self.name})")

    def click(self, control):
        self.page.value(f"{self.name}.querySelector('.st-do-{control}').click()")

    def enabled(self, control):
        return not self.page.value(f"{self.name}.querySelector('.st-do-{control}').disabled")

    def slide(self, at):
        slider = f"{self.name}.querySelector('.st-slider')"
        self.page.value(f"(s => {{ s.value = {at}; s.dispatchEvent(new Event('input')); }})({slider})")

    def focus(self):
        self.page.value(f"{self.name}.focus()")


def compare(figure, wanted, where):
    wrong = model.differences(wanted, figure.shown())
    return [f"{where}: {w}" for w in wrong]


def stands_still(page):
    return page.value("!!document.querySelector('.st-still')")


def step_through(page, i, story):
    """Steps a story to its end by the keyboard, back by the buttons, and jumps. The first differences. Of a story that
    was cut because it is long, some steps."""
    figure, wrong, last = Figure(page, i), [], len(story["steps"])
    if story.get("skipped"):
        some = range(0, last, last // 25)
        for at, wanted in zip(some, model.states(story, some)):
            figure.slide(at)
            wrong += compare(figure, wanted, f"story {i + 1}, step {at}, by the slider")
        return wrong
    states = list(model.states(story))
    figure.focus()
    page.key("Home")
    for at, wanted in enumerate(states):
        wrong += compare(figure, wanted, f"story {i + 1}, step {at}, by the key")
        page.key("ArrowRight")
        if wrong:
            return wrong
    if figure.enabled("step"):
        wrong.append("the last step can be left")
    for at in range(last, -1, -1):
        wrong += compare(figure, states[at], f"story {i + 1}, step {at}, by the button")
        figure.click("back")
        if wrong:
            return wrong
    if figure.enabled("back"):
        wrong.append("the first step can be left")
    for key, at in (("End", last), ("ArrowLeft", last - 1), ("Home", 0)):
        page.key(key)
        wrong += compare(figure, states[at], f"story {i + 1}, after {key}")
    for control, at in (("last", last), ("first", 0), ("step", 1)):
        figure.click(control)
        wrong += compare(figure, states[at], f"story {i + 1}, after {control}")
    for at in (last // 2, last, 1, last // 3):
        figure.slide(at)
        wrong += compare(figure, states[at], f"story {i + 1}, by the slider")
    return wrong


# Text whose contrast with what is behind it is less than WCAG 2.1 AA asks for.
CONTRAST = r"""
(() => {
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break; }
    let base = e ? layers.pop() : (matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1]);
    while (layers.length) base = over(layers.pop(), base);
    return base;
  };
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || e.closest('script, style, [aria-hidden=true], :disabled, [hidden]') || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), back = ground(e), front = over(parse(style.color), back);
    const [a, b] = [light(front.slice(0, 3)), light(back.slice(0, 3))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    texts++;
    if (ratio < (large ? 3 : 4.5)) found.add(e.className + ' "' + walk.currentNode.data.trim().slice(0, 30) + '" ' + ratio.toFixed(2));
  }
  return { texts, found: [...found] };
})()
"""

# Waits until no colour fades any more.
FADED = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  Promise.allSettled(document.getAnimations().map((a) => a.finished)).then(() => done(true)))))"""

# What is wider than the window, or a control that is partly outside of it.
OVERFLOW = r"""
(() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide) found.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  document.querySelectorAll('button, input, select, summary, h1, h2, .st-sentence, .st-panel, .st-code').forEach((e) => {
    const r = e.getBoundingClientRect();
    if (r.width && (r.left < -1 || r.right > wide + 1)) found.push(e.className + ' reaches from ' + r.left + ' to ' + r.right);
  });
  document.querySelectorAll('.st-swim, .st-panel').forEach((e) => {
    const sign = e.nextElementSibling, cut = e.clientWidth && e.scrollLeft + e.clientWidth < e.scrollWidth - 1;
    if (!!cut !== !!(sign && sign.getClientRects().length)) found.push(e.className + (cut ? ' is cut off without a sign' : ' has a sign, and is whole'));
  });
  document.querySelectorAll('.st-bar .st-do-help').forEach((e) => {
    const beside = e.previousElementSibling.getBoundingClientRect(), r = e.getBoundingClientRect();
    if (r.width && Math.abs(r.top - beside.top) > 12) found.push('the button ? stands alone');
  });
  return found;
})()
"""

# What has the focus: a name for it, and whether that can be seen.
FOCUS = r"""
(() => {
  const e = document.activeElement, s = getComputedStyle(e);
  return [e === document.body ? null : (e.getAttribute('aria-label') || e.textContent.slice(0, 20)) + ' ' + e.className + [...document.querySelectorAll('*')].indexOf(e),
          s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2];
})()
"""


def unlabelled(page):
    """Controls without a name, as assistive software sees them."""
    roles = {"button", "slider", "combobox", "link", "textbox", "region", "group", "DisclosureTriangle"}
    wrong, seen = [], 0
    for node in page.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in roles:
            continue
        seen += 1
        if not node.get("name", {}).get("value") and role != "group":
            wrong.append(f"a {role} without a name")
    return wrong or ([] if seen > 6 else [f"only {seen} controls were seen"])


def unseen_focus(page):
    """Goes through the page by the tabulator key. Every control gets the focus, and shows it."""
    wrong, seen = [], set()
    for _ in range(400):
        page.key("Tab")
        name, visible = page.value(FOCUS)
        if name is None:  # the end of the page: it begins again
            continue
        if name in seen:
            break
        seen.add(name)
        if not visible:
            wrong.append(f"{name}: the focus cannot be seen")
    wanted = page.value("document.querySelectorAll('.st-button:not(:disabled), .st-slider, .st-speed').length")
    got = sum("st-button" in n or "st-slider" in n or "st-speed" in n for n in seen)
    return wrong + ([] if got >= wanted else [f"the tabulator key reached {got} of {wanted} controls"])


def check_page(tap, browser, path):
    stories, name = stories_of(path), path.stem
    page = browser.open(path)
    tap.none(f"{name}: at most 1.5 MB", [] if path.stat().st_size <= 1_500_000 else [f"{path.stat().st_size} bytes"])
    page.value("document.querySelectorAll('figure.story').forEach(f => f.querySelector('.st-do-first').click())")
    wrong = []
    for i, story in enumerate(stories):
        wrong += step_through(page, i, story)
    steps = sum(len(s["steps"]) for s in stories)
    tap.none(f"{name}: {len(stories)} stories, {steps} steps, by keys, buttons and slider, as the JSON says", wrong)
    older = [s for story in stories for s in story["steps"] if "older value" in (s["note"] or "")]
    if not any("weak memory" in dict(story["facts"]) for story in stories):
        tap.none(f"{name}: what lanes read is what was written last", older)
    looks_right(tap, page, name)
    page.value("document.querySelectorAll('details').forEach(d => { d.open = false; })")
    wrong = unlabelled(page) + unseen_focus(page)
    tap.none(f"{name}: every control has a name, gets the focus, and shows it", wrong)
    elsewhere = [u for u in page.requests if not u.startswith(("file:", "data:", "about:"))]
    tap.none(f"{name}: no message in the console, and nothing from the network", page.problems + elsewhere)
    page.close()


def looks_right(tap, page, name):
    """Widths and contrast, at a step in the middle and at the last one."""
    wrong, poor, texts = [], [], 0
    page.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for width in WIDTHS:
        page.resize(width)
        for part in (2, 1):
            page.value("document.querySelectorAll('.st-slider').forEach(s => {"
                       f"s.value = Math.floor(s.max / {part}); s.dispatchEvent(new Event('input')); }})")
            page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            wrong += [f"{width}: {w}" for w in page.value(OVERFLOW)]
    for dark in (False, True):
        page.look(dark=dark)
        page.value(FADED)
        said = page.value(CONTRAST)
        poor += [f"{'dark' if dark else 'light'}: {p}" for p in said["found"]]
        texts += said["texts"]
    page.look()
    tap.none(f"{name}: nothing is wider than the window from {WIDTHS[0]} to {WIDTHS[-1]} pixels", wrong)
    tap.none(f"{name}: the contrast of {texts} texts is 4.5 or more, light and dark", poor if texts > 40 else poor + ["few texts"])


def check_playing(tap, browser, path):
    """The page plays by itself, and reaches the eviction within ten seconds. Readers may want no motion."""
    most, began = 10 * busy(), time.monotonic()
    page, figure, said = browser.open(path), None, ""
    figure = Figure(page, 0)
    while "takes effect" not in said and time.monotonic() - began < most + 1:
        said = figure.shown()["sentence"]
        time.sleep(0.05)
    took = time.monotonic() - began
    tap.none("a page shows its eviction within ten seconds, without a click",
             [] if "evicted" in said and took < most else [f"after {took:.1f} s it shows: {said}"])
    figure.click("play")
    at = figure.shown()["position"]
    time.sleep(1)
    tap.none("pause stops it", [] if figure.shown()["position"] == at else ["it went on"])
    figure.focus()
    page.key(" ")
    tap.none("the space bar lets it go on", [] if until(lambda: figure.shown()["position"] != at) else ["it did not go on"])
    page.close()
    page = browser.open(path, still=True)
    states = list(model.states(stories_of(path)[0]))
    until(lambda: not compare(Figure(page, 0), states[-1], "without motion"))
    wrong = compare(Figure(page, 0), states[-1], "without motion")
    if "reduced motion" not in page.value("document.querySelector('.st-still').textContent"):
        wrong.append("the page does not say why it stands still")
    tap.none("readers who want no motion see the last step", wrong + page.problems)
    page.close()


def check_finding(tap, browser, path):
    """What went wrong: marks on the time line and buttons go to the steps that matter, and to the one where the check objects."""
    page, story, wrong = browser.open(path, still=True), stories_of(path)[0], []
    figure, finding, last = Figure(page, 0), story["finding"], len(story["steps"])
    page.value("document.querySelector('figure.story .st-bar').scrollIntoView()")
    if not until(lambda: stands_still(page)):
        wrong.append("the page does not say why it stands still")
    figure.click("back")
    if page.value(f"!!{figure.name}.querySelector('.st-still')"):
        wrong.append("the note on motion stays when the reader steps")
    wanted = [i + 1 for i in finding["steps"]]
    if len(wanted) < 2:
        wrong.append(f"few steps matter: {wanted}")
    for i, at in enumerate([*wanted, last]):
        page.value(f"document.querySelectorAll('.st-goto')[{i}].click()")
        if figure.shown()["position"] != f"{at} / {last}":
            wrong.append(f"button {i + 1} goes to {figure.shown()['position']}, not to {at}")
        page.value(f"{figure.name}.querySelectorAll('.st-swim-mark')[{sorted({*wanted, last}).index(at)}].click()")
        if figure.shown()["position"] != f"{at} / {last}":
            wrong.append(f"the mark of step {at} goes to {figure.shown()['position']}")
    if page.value("document.querySelectorAll('.st-goto').length") != len(wanted) + 1:
        wrong.append("there are other buttons than steps")
    if page.value(f"{figure.name}.querySelectorAll('.st-swim-mark.st-objects').length") != 1:
        wrong.append("it is not marked where the check objects")
    text = page.value("document.querySelector('.st-finding').textContent")
    wrong += [f"the box does not say: {part}" for part in (finding["sentence"], finding["said"], finding["by"], finding["schedule"]) if part not in text]
    tap.none("marks and buttons go to the steps that matter for what went wrong", wrong + page.problems)
    page.close()


def check_texts(tap, stories):
    """Outputs that nothing wrote have no value, and a write that changes nothing says so."""
    steps = [(story, step) for story in stories for step in story["steps"]]
    wrong = [s for _, s in steps if s.get("unchanged") and (s["before"] != s["after"] or s["looks"])]
    if not any(s.get("unchanged") for _, s in steps):
        wrong.append("no write leaves what was there")
    if not any(s["before"] == "not written" for _, s in steps):
        wrong.append("no output is written for the first time")
    if not any(text.startswith("locked by lane ") for _, s in steps for *_, text in s["sets"]):
        wrong.append("no slot says who locked it")
    tap.none("steps say what was not written, what they leave as it is, and who locked a slot", wrong)


def check_together(tap, browser, path):
    """The common controls move all stories of a page."""
    page, stories, wrong = browser.open(path), stories_of(path), []
    last = [len(s["steps"]) for s in stories]
    for control, wanted in (("last", last), ("first", [0] * len(last)), ("step", [1] * len(last))):
        page.value(f"document.querySelector('.st-common .st-do-{control}').click()")
        shown = [Figure(page, i).shown()["position"] for i in range(len(last))]
        if shown != [f"{w} / {n}" for w, n in zip(wanted, last)]:
            wrong.append(f"after {control}: {shown}")
    page.value("document.querySelector('.st-common .st-do-play').click()")
    if not until(lambda: not any(Figure(page, i).shown()["position"].startswith("1 /") for i in range(len(last)))):
        wrong.append("a story does not play")
    page.value("document.querySelector('.st-common .st-do-play').click()")
    tap.none("the common controls move all stories", wrong + page.problems)
    page.close()


def check_itself(tap, browser, path, work):
    """The checks find what is wrong: pages that differ from their stories in one place."""
    text, stories = path.read_text(encoding="utf-8"), stories_of(path)
    middle = next(i for i, s in enumerate(stories[0]["steps"]) if s["sets"] and i > 3)

    def cell(story):
        story["steps"][middle]["sets"][0][3] = "wrong"

    def words(story):
        story["steps"][middle]["does"] = "thinks about"

    def sector(story):
        story["steps"][0]["sectors"] = []

    def site(story):
        story["steps"][1]["site"] = story["steps"][0]["site"]

    def lane(story):
        story["steps"][0]["lanes"] = [5]

    missed = []
    for change in (cell, words, sector, site, lane):
        story = json.loads(json.dumps(stories[0]))
        change(story)
        json_text = json.dumps(story, separators=(",", ":")).replace("<", "\\u003c")
        altered = re.sub(r'(id="story-1">).*?(</script>)', lambda m: m[1] + json_text + m[2], text, count=1, flags=re.S)
        (work / "altered.html").write_text(altered, encoding="utf-8")
        page = browser.open(work / "altered.html")
        if not step_through(page, 0, stories[0]):
            missed.append(change.__name__)
        page.close()
    tap.none("a page that differs from its story in a cell, a word, a sector, a line or a lane is found out", missed)

    page = browser.open(path)
    page.value("(s => { s.textContent = 'document.title = \"taken\"'; document.body.append(s); })"
               "(document.createElement('script'))")
    taken = page.value("document.title") == "taken"
    tap.none("the page's policy refuses other scripts", ["it ran"] if taken or not page.problems else [])
    page.close()


def check_cut(tap, browser, path):
    """A story that is too long for a page is cut, and the page says so."""
    stories, page = stories_of(path), browser.open(path, still=True)
    said = page.value("[...document.querySelectorAll('.st-skipped')].map(e => e.textContent).join(' ')")
    left_out = stories[0].get("skipped", {}).get("after", 0)
    wrong = []
    if not left_out or f"The last {left_out} steps are left out" not in said:
        wrong.append(f"{left_out} steps are left out, and it says: {said}")
    if not 1_000_000 < path.stat().st_size <= 1_500_000:
        wrong.append(f"it has {path.stat().st_size} bytes")
    until(lambda: stands_still(page))  # the page goes to the last step once it is seen
    wrong += step_through(page, 0, stories[0]) + page.problems
    tap.none("a page whose story is too long says how many steps are left out, and shows the others", wrong)
    page.close()


def run(tap, browser, work):
    pages = sorted(p for p in work.glob("*.html") if p.stem != "long")
    for path in pages:
        check_page(tap, browser, path)
    check_playing(tap, browser, work / "explain.html")
    check_together(tap, browser, work / "beside.html")
    check_finding(tap, browser, work / "museum.html")
    check_texts(tap, stories_of(work / "museum.html"))
    check_cut(tap, browser, work / "long.html")
    check_itself(tap, browser, work / "explain.html", work)
    looks = ("explain", 1280, False), ("explain", 360, True), ("beside", 1920, False), ("museum", 1280, True)
    for name, width, dark in looks:
        page = browser.open(work / f"{name}.html", width=width, dark=dark, still=True)
        page.resize(width, page.value("document.documentElement.scrollHeight"))
        page.screenshot(work / f"{name}-{width}{'-dark' if dark else ''}.png")
        page.close()
