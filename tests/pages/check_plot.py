# SPDX-License-Identifier: Apache-2.0
"""check_plot.py - plots in a browser without a network (run.py FOLDER plot): nothing is fetched, every text lies within the
picture and covers no other text, and light and dark differ. Screenshots stay in the folder."""

TEXTS = """(() => {
  const box = document.documentElement.getBoundingClientRect();
  const texts = [...document.querySelectorAll("text")].map((e) => ({ words: e.textContent, r: e.getBoundingClientRect() }));
  const bad = [];
  for (const [i, a] of texts.entries()) {
    if (a.r.left < box.left - 1 || a.r.right > box.right + 1 || a.r.top < box.top - 1 || a.r.bottom > box.bottom + 1)
      bad.push(`"${a.words}" is cut off`);
    for (const b of texts.slice(i + 1)) {
      const x = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
      const y = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
      if (x > 1 && y > 4) bad.push(`"${a.words}" covers "${b.words}"`);
    }
  }
  return texts.length ? bad : ["there is no text"];
})()"""
GROUND = "getComputedStyle(document.querySelector('.ground')).fill"


def run(tap, browser, folder):
    wrong = []
    for path in sorted(folder.glob("*.svg")):
        grounds = set()
        for dark in (False, True):
            page = browser.open(path, width=800, height=600, dark=dark)
            said = [*page.problems, *page.value(TEXTS)]
            said += [f"{url} is fetched" for url in page.requests if not url.startswith("file:")]
            grounds.add(page.value(GROUND))
            page.screenshot(folder / f"{path.stem}.{'dark' if dark else 'light'}.png")
            page.close()
            wrong += [f"{path.name}: {words}" for words in said]
        if len(grounds) != 2:
            wrong.append(f"{path.name}: light and dark have the same ground")
    tap.none("plots are whole in a browser, in light and dark", wrong)
