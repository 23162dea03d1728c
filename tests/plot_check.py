#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot_check.py FILE.svg CHART.json [REPORT.json] - whether a plot shows its chart, and the chart its report.

CHART.json is what `heddle plot --json` prints. Each complaint is a line; exit code 1 if there is one. Checked are: the
file is XML that fetches and runs nothing; it has a title and a description; every series, group and label stands there
as text; points lie, and bars end, where their numbers say; every number is there as text; no two series of a panel look
alike without their colours; text has a contrast of 4.5 with its ground, lines and bars of 3, in light and dark; every
number of the report that is plotted is in the chart.
"""
import json
import math
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
FACTORS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
wrong = []


def say(words):
    wrong.append(words)


# ---- Colours ---------------------------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(style):
    """{class: colour} of fills; the key "" is plain text."""
    found = {}
    for name, rules in re.findall(r"\.heddle-chart (text|\.\w+)\{([^}]*)\}", style):
        fill = re.search(r"fill:(#[0-9a-f]{6})", rules)
        if fill:
            found["" if name == "text" else name[1:]] = fill[1]
    return found


def check_colours(style):
    light, _, dark = style.partition("@media (prefers-color-scheme:dark)")
    schemes = {"light": colours(light), "dark": colours(light) | colours(dark)}
    for scheme, fill in schemes.items():
        if not {"", "soft", "ground", *(f"c{i}" for i in range(7))} <= set(fill):
            say(f"{scheme}: a colour is missing: {sorted(fill)}")
            continue
        for name in ("", "soft"):
            if contrast(fill[name], fill["ground"]) < 4.5:
                say(f"{scheme}: text {name} has a contrast of {contrast(fill[name], fill['ground']):.2f}")
        for i in range(7):
            if contrast(fill[f"c{i}"], fill["ground"]) < 3:
                say(f"{scheme}: c{i} has a contrast of {contrast(fill[f'c{i}'], fill['ground']):.2f}")
    if len({schemes["light"].get("ground"), schemes["dark"].get("ground")}) < 2:
        say("light and dark have the same ground")


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def number(text):
    """What scale.c wrote."""
    found = re.fullmatch(r"(-?[\d.,]+(?:e[-+]?\d+)?)([kMGTP]?)(%|/s)?", text)
    if not found:
        raise ValueError(f"{text!r} is no number")
    return float(found[1].replace(",", "")) * FACTORS[found[2]] / (100 if found[3] == "%" else 1)


def near(a, b, digits=5):
    return abs(a - b) <= 10.0**-digits * max(abs(a), abs(b), 1e-12)


def on_a_line(pairs, what):
    """Whether places are a linear function of numbers, within a pixel: (number, place)."""
    low, high = min(pairs), max(pairs)
    if high[0] == low[0]:
        return
    for value, place in pairs:
        expected = low[1] + (high[1] - low[1]) * (value - low[0]) / (high[0] - low[0])
        if abs(expected - place) > 0.3:
            say(f"{what}: {value} is drawn at {place:.1f}, not at {expected:.1f}")
            return


# ---- What is drawn ---------------------------------------------------------------------------------------------------


def corners(path):
    """The places of a path of M, L, H and V."""
    x = y = 0.0
    for letter, rest in re.findall(r"([MLHV])([-\d.,]+)", path):
        parts = [float(p) for p in rest.split(",")]
        x = parts[0] if letter in "MLH" else x
        y = parts[-1] if letter in "MLV" else y
        if letter != "H":
            yield x, y


def check_lines(panel, groups):
    looks, across, along = set(), [], []
    log_x, log_y = (panel[a].get("scale") == "log" for a in "xy")
    for series, group in zip(panel["series"], groups):
        curve = group.find(f"{SVG}path[@class]")
        marks = [p for p in group.findall(f"{SVG}path") if p.get("class", "").startswith("mark")]
        points = series["points"]
        least, most = panel["y"].get("least"), panel["y"].get("most")
        inside = [p for p in points if (least is None or p[1] >= least) and (most is None or p[1] <= most)]
        of = lambda v, log: math.log10(v) if log else v
        if marks:
            if len(marks) != len(points):
                say(f"{series['name']}: {len(marks)} markers for {len(points)} points")
            for point, mark in zip(points, marks):
                title = mark.find(f"{SVG}title").text
                y, x = title.removeprefix(series["name"] + ": ").split(" at ")
                if not near(number(y), point[1]) or not near(number(x), point[0]):
                    say(f"{title}: the chart has {point[:2]}")
            places = [re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", m.get("transform")) for m in marks]
            places = [(float(p[1]), float(p[2])) for p in places]
        else:
            places = list(corners(curve.get("d")))
            if len(places) != len(points):
                say(f"{series['name']}: {len(places)} corners for {len(points)} points")
        kept = [(p, at) for p, at in zip(points, places) if p in inside]
        across += [(of(p[0], log_x), at[0]) for p, at in kept]
        along += [(of(p[1], log_y), at[1]) for p, at in kept]
        looks.add((curve.get("stroke-dasharray"), marks[0].get("d") if marks else None, series.get("line", True)))
    on_a_line(across, panel["x"]["label"])
    on_a_line(along, panel["y"]["label"])
    if len(looks) != len(panel["series"]):
        say(f"without colours, {len(panel['series'])} series have {len(looks)} looks")


def check_bars(panel, drawn, texts):
    """drawn: the bars' groups, in order."""
    ends, looks = [], {}
    for g, group in enumerate(panel["groups"]):
        for series in panel["series"]:
            value = series["values"][g]
            value = value[0] if isinstance(value, list) else value
            if value is None or (panel["kind"] == "stacks" and value == 0):
                continue
            bar = drawn.pop(0) if drawn else None
            if bar is None:
                say(f"{group}, {series['name']}: there is no bar")
                return
            title, rect = bar.find(f"{SVG}title").text, bar.find(f"{SVG}rect")
            name, _, shown = title.rpartition(": ")
            if name != f"{group}, {series['name']}" or not near(number(shown), value):
                say(f"{title}: the chart has {group}, {series['name']}: {value}")
            ends.append((value, float(rect.get("width"))))
            texture = bar.find(f"{SVG}path")
            texture = re.sub(r"[\d.,-]+", "", texture.get("d"))[:4] if texture is not None else ""
            if float(rect.get("width")) > 12:
                step = bar.find(f"{SVG}path")
                spacing = re.findall(r"M([\d.]+)", step.get("d"))[:2] if step is not None else []
                gap = round(float(spacing[1]) - float(spacing[0])) if len(spacing) > 1 else 0
                looks.setdefault(series["name"], (texture, gap, "pale" in bar.get("class")))
            if panel["kind"] == "bars" and not any(near_text(t, value) for t in texts):
                say(f"{group}, {series['name']}: {value} is nowhere written")
    on_a_line([(0, 0), *ends], panel.get("title") or "bars")
    if len(set(looks.values())) != len(looks):
        say(f"without colours, series look alike: {looks}")


def near_text(text, value):
    try:
        return abs(number(text.split("  ")[0]) - value) <= 0.006 * abs(value)  # three digits
    except ValueError:
        return False


def groups_of(root, kind):
    """What the panels drew, in order: a <g> per curve, or per bar; legends have swatches that are no bars of values."""
    found = root.iter(f"{SVG}g")
    if kind == "bars":
        return [g for g in found if g.get("class", "").startswith("bar") and ": " in g.find(f"{SVG}title").text]
    return [g for g in found if g.get("class") is None]


def check_chart(root, chart):
    texts = [t.text or "" for t in root.iter(f"{SVG}text")]
    all_text = " ".join(" ".join(t.split()) for t in texts)
    curves, bars = groups_of(root, "lines"), groups_of(root, "bars")
    for words in filter(None, [chart["title"], chart.get("below"), chart.get("source")]):
        if " ".join(words.split()) not in all_text:
            say(f"{words!r} is nowhere written")
    for panel in chart["panels"]:
        names = [s["name"] for s in panel["series"]]
        if len(names) == 1 and panel["kind"] in ("bars", "stacks"):
            names = []  # the axis names the only series
        for words in filter(None, [panel.get("title"), *names, *panel.get("groups", []), panel["y"].get("label"),
                                   (panel.get("x") or {}).get("label")]):  # fmt: skip
            if " ".join(words.split()) not in all_text:
                say(f"{words!r} is nowhere written")
        if panel["kind"] in ("bars", "stacks"):
            check_bars(panel, bars, texts)
        else:
            check_lines(panel, [curves.pop(0) for _ in panel["series"] if curves])
    if curves or bars:
        say(f"{len(curves)} curves and {len(bars)} bars are of no series")


def check_file(path):
    data = open(path, encoding="utf-8").read()
    root = tree.fromstring(data)
    for element in root.iter():
        if element.tag.removeprefix(SVG) not in KNOWN:
            say(f"there is an element {element.tag}")
        for name in element.attrib:
            if "href" in name or name.startswith("on"):
                say(f"an element has the attribute {name}")
    if re.search(r"url\(|@import|<!|<\?", data):
        say("it may fetch something")
    for tag in ("title", "desc"):
        words = root.find(SVG + tag)
        if words is None or not (words.text or "").strip():
            say(f"it has no {tag}")
    if root.get("role") != "img":
        say("it is no image to a screen reader")
    check_colours(root.find(f"{SVG}style").text)
    return root


# ---- What the report says --------------------------------------------------------------------------------------------

PLOTTED = {  # members of a row, by schema
    "heddle.sweep/1": ("capacity", "miss_ratio"), "heddle.curve/1": ("capacity", "miss_ratio"),
    "heddle.windows/1": ("first", "miss_ratio"),
    "heddle.fill/1": ("load_factor", "finds_per_s", "inserts_per_s", "kept"), "heddle.run/1": ("share",),
    "heddle.kernels/1": ("sectors",), "heddle.bench.growth/1": ("items_per_s", "least_per_s", "most_per_s"),
    "heddle.bench.locks/1": ("items_per_s", "least_per_s", "most_per_s"),
}  # fmt: skip


def numbers(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, (int, float)):
        yield float(value)
    else:
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)


def check_report(chart, report):
    has = sorted(numbers([[s.get("points"), s.get("values")] for p in chart["panels"] for s in p["series"]]))
    schema = report.get("schema") or report["context"]["schema"]
    if "benchmarks" in report:
        wanted = [row["items_per_second"] for row in report["benchmarks"] if row.get("aggregate_name") == "median"]
    else:
        keys = PLOTTED[schema]
        keys = [k + "_mean" if k == "miss_ratio" and "seeds" in report else k for k in keys]
        wanted = [row[k] for row in report["rows"] for k in keys if row[k] is not None and row.get("items", 1) != 0]
    for value in wanted:
        if not any(near(value, h, 9) for h in has):
            say(f"{value} of the report is not in the chart")
    if not wanted:
        say("the report has no numbers")


def main(path, chart_path, report_path=None):
    chart = json.load(open(chart_path, encoding="utf-8"))
    check_chart(check_file(path), chart)
    if report_path:
        check_report(chart, json.load(open(report_path, encoding="utf-8")))
    for line in wrong[:10]:
        print(f"{path}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
