#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speed.py TABLE - prints the chart of README.md: two bars per operation, Heddle and HierarchicalKV, at load factor 1.

    python3 doc/img/speed.py doc/img/speed.tsv | heddle plot -o doc/img/speed.svg
"""
import csv
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "build-aux"))
import chart  # noqa: E402

NAMES = {"32": "32-byte values", "512": "512-byte values", "1024": "1 KiB values"}
KEYS = {"0": "new keys", "0.6": "60% hits", "1": "hits"}


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [row for row in rows if row["load"] == "1"]


def draw(rows):
    panels = []
    for size, name in NAMES.items():
        own = [row for row in rows if row["value_bytes"] == size]
        groups = [f'{row["operation"]}, {KEYS[row["hits"]]}' for row in own]
        values = [[float(row["heddle"]), float(row["hkv"])] for row in own]
        panels.append(chart.bars(groups, ["Heddle", "HierarchicalKV"], values, "", title=name))
        panels[-1]["y"]["most"] = max(float(row["heddle"]) for row in rows)
    return chart.chart("Full tables on an H200: 10⁹ keys per second, one run", panels)


if __name__ == "__main__":
    json.dump(draw(read(sys.argv[1])), sys.stdout)
