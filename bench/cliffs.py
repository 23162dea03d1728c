#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# cliffs.py - makes, from results/GPU.cliffs.tsv (heddle bench cliffs -o) and bench/lab/cliffs.txt, the section of bench/RESULTS.md about slow cells.
#
#     cliffs.py [--gpu nvidia-h200] [--results FOLDER] [--reasons FILE] [--page FILE] [--check]
#     cliffs.py --reduce [--gpu GPU] [--results FOLDER]
#
# --results: a folder of results that is searched before bench/results. --check: change nothing; exit code 1 if the page would change.
# --reduce: prints the compared cells, a line per operation, which is what results/ keeps.
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
from kept import Kept, Missing, replaced, told
from rows import items, table

HERE = pathlib.Path(__file__).resolve().parent
LOWEST = 20


def flag(row, name):
    return row[name] == "true"


def number(row, name):
    return float(row[name]) if row[name] else None


def distinct(rows, *names):
    """The values of these columns, in the order in which they come."""
    return list(dict.fromkeys(tuple(row[n] for n in names) for row in rows))


def tables_of(rows):
    """{(policy, mode): its rows}."""
    return {key: [r for r in rows if (r["policy"], r["mode"]) == key] for key in distinct(rows, "policy", "mode")}


def rate_text(row):
    """1e6 items per second."""
    rate = number(row, "items_per_s")
    if not rate:
        return "-"
    rate *= 1e-6
    return ("<" if flag(row, "below") else "") + (f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}")


# ---- The page --------------------------------------------------------------------------------------------------------------


def reasons_of(path):
    """[(policy, mode, operation, pattern), text]."""
    reasons = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            when, text = line.split(": ", 1)
            reasons.append((when.split(), text))
    return reasons


def is_of(when, row):
    return all(w == "-" or row[name] in w.split(",") for w, name in zip(when, ("policy", "mode", "operation", "pattern")))


def counts_table(rows):
    """How many cells are marked, by policy and mode, and by pattern."""
    patterns = [p for p, in distinct(rows, "pattern")]
    cells = []
    for (policy, mode), of in tables_of(rows).items():
        by = [[r for r in of if r["pattern"] == p] for p in patterns]
        cells.append([policy, mode] + [f"{sum(flag(r, 'marked') for r in b)} of {len(b)}" for b in by])
    return table(["policy", "mode"] + patterns, cells)


def lowest_table(marked):
    """The cells that are farthest from the best of their row; those without a full batch first."""
    order = sorted(marked, key=lambda r: number(r, "of_best") or 0)[:LOWEST]
    return table(["policy", "mode", "operation", "pattern", "1e6 items/s", "of the best"],
                 [[r["policy"], r["mode"], r["operation"], r["pattern"], rate_text(r), f"{100 * (number(r, 'of_best') or 0):.2g}%"] for r in order])


def page_text(rows, reasons, every):
    rows = compared(rows)
    marked = [r for r in rows if flag(r, "marked")]
    shape = rows[0]
    text = f"{len(marked)} of {len(rows)} cells are marked. Table of {int(shape['capacity']):,} entries, dim {shape['dim']}.\n\n"
    text += counts_table(rows)
    if marked:
        text += f"\nThe lowest {min(LOWEST, len(marked))}:\n\n" + lowest_table(marked)
    given = [f"{sum(is_of(when, r) for r in marked)} cells ({' '.join(when)}): {why}" for when, why in reasons if any(is_of(when, r) for r in marked)]
    rest = sum(1 for r in marked if not any(is_of(when, r) for when, _ in reasons))
    if given:
        text += "\nReasons (policy, mode, operation, pattern; - is any):\n\n" + items(given)
    if marked:
        text += f"\n{rest} marked cells have no reason yet.\n"
    return text + f"\n[Every cell]({every}), as items per second and share of the best of its row.\n"


# ---- What is kept ----------------------------------------------------------------------------------------------------------


ROW, MARKS = ("policy", "mode", "operation", "capacity", "dim"), ("marked", "below")


def compared(rows):
    return [r for r in rows if r["of_best"] or flag(r, "marked")]


def reduced(rows):
    """A line for each operation under a policy in a mode: the compared cells, each in the column of its pattern.

    A cell has the items per second, the share of the best of its row, and its marks.
    """
    rows = compared(rows)
    patterns = [p for p, in distinct(rows, "pattern")]
    lines = ["\t".join(ROW + tuple(patterns))]
    for key in distinct(rows, *ROW):
        of = [r for r in rows if tuple(r[n] for n in ROW) == key]
        cells = {r["pattern"]: " ".join([r["items_per_s"] or "0", r["of_best"] or "0"] + [m for m in MARKS if flag(r, m)]) for r in of}
        lines.append("\t".join(key + tuple(cells.get(p, "") for p in patterns)))
    return "\n".join(lines)


def cells_of(rows):
    """The rows that a bench wrote, or of lines that reduced() made the same for what is compared."""
    if "pattern" in rows[0]:
        return rows
    cells = []
    for row in rows:
        for pattern in [p for p in row if p not in ROW and row[p]]:
            rate, share, *marks = row[pattern].split()
            cell = {"pattern": pattern, "items_per_s": rate, "of_best": share} | {m: str(m in marks).lower() for m in MARKS}
            cells.append({n: row[n] for n in ROW} | cell)
    return cells


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpu", default="nvidia-h200")
    p.add_argument("--results", action="append", default=[])
    p.add_argument("--reasons", default=str(HERE / "lab" / "cliffs.txt"))
    p.add_argument("--page", default=str(HERE / "RESULTS.md"))
    p.add_argument("--check", action="store_true")
    p.add_argument("--reduce", action="store_true")
    o = p.parse_args()
    name, path = f"{o.gpu}.cliffs.tsv", pathlib.Path(o.page)
    try:
        rows = cells_of(Kept([pathlib.Path(f) for f in o.results] + [HERE / "results"]).table(name))
        text = page_text(rows, reasons_of(pathlib.Path(o.reasons)), f"results/{name}")
    except Missing as missing:
        rows, text = [], f"Not measured yet: there is no {missing}.\n"
    if o.reduce:
        print(reduced(rows))
        return
    was = path.read_text()
    page = replaced(was, "cliffs", text)
    if o.check:
        if page != was:
            print(f"{path.name} is not what the results say: run bench/cliffs.py")
        sys.exit(1 if page != was else 0)
    path.write_text(page)


if __name__ == "__main__":
    told(main)
