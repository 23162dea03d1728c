# SPDX-License-Identifier: Apache-2.0
"""What a page must show of a story (doc/output.md, heddle.story/1) at each position, computed from its JSON alone."""

import re


def short(text):
    """Long hexadecimal numbers keep four digits at each end."""
    return re.sub(r"0x([0-9a-f]{4})[0-9a-f]{2,}([0-9a-f]{4})(?![0-9a-f])", "0x\\1\u2026\\2", text)


def runs(lanes):
    """[0, 1, 2, 7]: "0-2 7"."""
    parts = []
    for lane in lanes:
        if parts and parts[-1][1] == lane - 1:
            parts[-1][1] = lane
        else:
            parts.append([lane, lane])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def sentence(step):
    lanes = step.get("lanes") or []
    who = step["who"] or ""
    if lanes:
        who += (", " if who else "") + ("lane " if len(lanes) == 1 else "lanes ") + runs(lanes)
    effect = step["does"] == "takes effect" and step["place"]
    counts = step["does"] == "counts" and (step["place"] or "").startswith("count of ")
    does = ("adds to the" if counts else step["does"]) + (f" {step['times']} times" if step.get("times", 1) > 1 else "")
    what = f"{step['place']} takes effect" if effect else " ".join(filter(None, (does, step["place"])))
    before, after = step["before"] or None, step["after"] or None
    if effect:
        what += f": {after}" if after else ""
    elif before and after and before != after:
        what += f" {before} \u2192 {after}"
    elif before:
        what += f" = {before}" + (" (unchanged)" if step.get("unchanged") else "")
    elif after:
        what += f" \u2192 {after}"
    operation = step["operation"]
    if operation and operation != step["does"]:
        what += f" ({operation})"
    return f"{who}: {what}" if who else what


def note(story, at):
    step = story["steps"][at - 1] if at else {}
    parts = [step.get("note")]
    finding = story.get("finding")
    if step and at - 1 in ((finding or {}).get("steps") or []):
        parts.append("This step matters for what went wrong.")
    if finding and at == len(story["steps"]):
        parts.append("Here the check objects: " + (finding.get("said") or finding["sentence"]))
    return " ".join(filter(None, parts))


def source(story, step):
    """The name of the place, and the lines around it as [number, text, is it the one]."""
    site = (step or {}).get("site") or ""
    name, _, number = site.rpartition(":")
    if name not in story["sources"]:
        return site, None
    lines, current = story["sources"][name].split("\n"), int(number)
    around = range(current - 5, current + 6)
    shown = [[n, lines[n - 1] if 1 <= n <= len(lines) else "", n == current] for n in around]
    change = ((story.get("finding") or {}).get("change") or "").split("\n")
    new = [line[2:] for line in change if line.startswith("+ ") and f"simt_{step['operation']}_" in line]
    if "- " + shown[5][1] in change and len(new) == 1:  # the line of the bug that stands there
        shown[5][1] = new[0]
    return site, shown


def swim_lanes(story):
    """The rows of who acts when, as [name, numbers of steps], of those who do more than to vote and to count; None: a
    page shows the lanes of each warp instead."""
    whos, acts, busy = [], {}, set()
    idle = "counts", "votes", "meets its tile", "orders memory"
    for at, step in enumerate(story["steps"], 1):
        if step["lanes"] and step["who"] not in whos:
            whos.append(step["who"])
        for lane in step["lanes"] or [-1]:
            acts.setdefault((step["who"] or "", lane), []).append(at)
            if step["does"] not in idle:
                busy.add((step["who"] or "", lane))
    acts = {key: steps for key, steps in acts.items() if key in busy or not busy}
    if not whos or len(acts) > 8 or len(story["steps"]) > 600:
        return None
    row = lambda who, lane: who or "other" if lane < 0 else (f"{who}, " if len(whos) > 1 else "") + f"lane {lane}"
    order = lambda key: (len(whos) if key[1] < 0 else whos.index(key[0]), key[1])
    return [[row(*key), acts[key]] for key in sorted(acts, key=order)]


def states(story, only=None):
    """One dictionary for each position, from 0 to the number of steps, or for those of `only` alone."""
    cells = [[list(row) for row in panel["cells"]] for panel in story["panels"]]
    whos = list(dict.fromkeys(step["who"] for step in story["steps"] if step["lanes"]))
    swim = swim_lanes(story)
    count, seen = (story.get("skipped") or {}).get("sectors", 0), set()
    for at in range(len(story["steps"]) + 1):
        step = story["steps"][at - 1] if at else None
        sets, looks = (step["sets"], step["looks"]) if step else ([], [])
        for panel, row, column, text in sets:
            cells[panel][row][column] = text
        sectors = [tuple(s) for s in step["sectors"]] if step else []
        count += len(sectors)
        seen |= set(sectors)
        if only is not None and at not in only:
            continue
        site, lines = source(story, step)
        yield {
            "position": f"{at} / {len(story['steps'])}",
            "sentence": sentence(step) if step else "Before the first step.",
            "note": note(story, at),
            "panels": [
                [panel["name"], panel["columns"], [[name, *map(short, row)] for name, row in zip(panel["rows"], grid)]]
                for panel, grid in zip(story["panels"], cells)
            ],
            "changed": [] if step and step.get("unchanged") else sorted({tuple(s[:3]) for s in sets}),
            "looked": sorted({tuple(s) for s in looks}),
            "lanes": [] if swim else [[who, step["lanes"] if step and step["who"] == who else []] for who in whos],
            "swim": swim and [[name, acts, [at] if at in acts else []] for name, acts in swim],
            "count": f"32-byte sectors moved so far: {count}" if story["memory"] else None,
            "on": sorted(set(sectors)),
            "seen": sorted(seen),
            "site": site if story["sources"] else None,
            "lines": lines if story["sources"] else None,
        }


# What the page shows: the same dictionary, read from the figure `f`.
SHOWN = r"""
(f) => {
  const q = (s) => f.querySelector(s), all = (s, of) => [...(of || f).querySelectorAll(s)];
  const text = (e) => e ? e.textContent : null;
  const marked = (name) => {
    const found = [];
    all('.st-panel').forEach((panel, p) => all('tbody tr', panel).forEach((row, r) =>
      all('td', row).forEach((td, c) => { if (td.classList.contains(name)) found.push([p, r, c]); })));
    return found;
  };
  const sectors = (name) => {
    const found = [];
    all('.st-region').forEach((region, r) => all('.st-sector.' + name, region).forEach((s) => found.push([r, Number(s.dataset.sector)])));
    return found;
  };
  const lines = all('.st-line').filter((e) => e.dataset.line !== undefined);
  return {
    swim: q('.st-swim') ? all('.st-swim-who').map((who) => [text(who), who.dataset.steps.split(' ').map(Number),
      all('.st-act.st-on').filter((m) => m.style.gridRowStart === who.style.gridRowStart).map((m) => Number(m.dataset.step))]) : null,
    position: text(q('.st-position')),
    sentence: text(q('.st-sentence')),
    note: q('.st-note').hidden ? '' : text(q('.st-note')),
    panels: all('.st-panel').map((panel) => [
      text(panel.querySelector('caption')), all('thead th', panel).map(text),
      all('tbody tr', panel).map((row) => [text(row.querySelector('th')), ...all('td', row).map(text)])]),
    changed: marked('st-changed'), looked: marked('st-looked'),
    lanes: all('.st-warp').map((w) => [w.dataset.who, all('.st-lane', w).map((l, i) => l.classList.contains('st-on') ? i : -1).filter((i) => i >= 0)]),
    count: text(q('.st-count')), on: sectors('st-on'), seen: sectors('st-seen'),
    site: text(q('.st-file')),
    lines: q('.st-source') ? (lines.length ? lines.map((l) => [Number(l.dataset.line), l.querySelector('code').textContent, l.classList.contains('st-current')]) : null) : null
  };
}
"""


def differences(wanted, shown):
    """The members in which they differ, in words. Cells that a step reads and changes show the change alone."""
    listed = ("changed", "looked", "on", "seen")
    shown = {k: sorted(map(tuple, v)) if k in listed else v for k, v in shown.items()}
    return [f"{k}: the page shows {shown[k]!r}, the story says {v!r}" for k, v in wanted.items() if shown[k] != v]
