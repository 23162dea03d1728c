#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speed.py TABLE - draws the plot of README.md: two bars per operation, Heddle and HierarchicalKV, at load factor 1.

    python3 doc/img/speed.py doc/img/speed.tsv > doc/img/speed.svg
"""
import csv
import sys

LEFT, RIGHT, TOP, ROW, BAR = 250, 60, 74, 30, 11  # pixels
WIDTH, HEAD = 800, 22
NAMES = {"32": "32-byte values", "512": "512-byte values", "1024": "1 KiB values"}
KEYS = {"0": "new keys", "0.6": "60% hits", "1": "hits"}


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [row for row in rows if row["load"] == "1"]


def text(x, y, words, style="name"):
    return f'  <text x="{x:.0f}" y="{y:.0f}" class="{style}">{words}</text>'


def bar(y, value, scale, style):
    return [
        f'  <rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR}" class="{style}"/>',
        text(LEFT + value * scale + 6, y + BAR - 2, f"{value:g}", "value"),
    ]


def draw(rows):
    groups = list(dict.fromkeys(row["value_bytes"] for row in rows))
    height = TOP + len(rows) * ROW + len(groups) * HEAD + 10
    scale = (WIDTH - LEFT - RIGHT) / max(float(row["heddle"]) for row in rows)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    yield "  <!-- SPDX-License-Identifier: Apache-2.0; made by doc/img/speed.py -->"
    yield "  <title>Heddle and HierarchicalKV on an H200</title>"
    yield "  <style>text { font: 12px system-ui, sans-serif; fill: #222 } .name { text-anchor: end }"
    yield "    .value { fill: #555 } .title { font-size: 15px } .head { font-weight: bold }"
    yield "    .heddle { fill: #2f6fab } .hkv { fill: #c9a07a }</style>"
    yield f'  <rect width="{WIDTH}" height="{height}" rx="8" fill="#fbfaf7"/>'
    yield text(20, 28, "Full tables on an H200: 10⁹ keys per second, one run", "title")
    yield f'  <rect x="20" y="42" width="12" height="12" class="heddle"/>' + text(38, 52, "Heddle", "value")
    yield f'  <rect x="110" y="42" width="12" height="12" class="hkv"/>' + text(128, 52, "HierarchicalKV", "value")
    y, group = TOP, None
    for row in rows:
        if row["value_bytes"] != group:
            group = row["value_bytes"]
            yield text(20, y + 14, NAMES[group], "head")
            y += HEAD
        yield text(LEFT - 10, y + BAR + 4, f'{row["operation"]}, {KEYS[row["hits"]]}')
        yield from bar(y, float(row["heddle"]), scale, "heddle")
        yield from bar(y + BAR + 1, float(row["hkv"]), scale, "hkv")
        y += ROW
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(draw(read(sys.argv[1]))))
