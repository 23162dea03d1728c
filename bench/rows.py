#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# rows.py - makes the tables of bench/RESULTS.md from results/GPU*.tsv and bench/lab/tried.txt: every row with a goal, what
# bounds it, what was tried for it, and the goals that compare several rows.
#
#     rows.py [--gpu nvidia-h200] [--results FOLDER] [--page FILE] [--check]
#
# --results: a folder of results that is searched before bench/results. --page: the page to change (bench/RESULTS.md).
# --check: change nothing; exit code 1 if the page would change.
import argparse
import pathlib
import sys
import textwrap

sys.dont_write_bytecode = True
from kept import Kept, Missing, replaced, told

HERE = pathlib.Path(__file__).resolve().parent
KEY = ["operation", "hits", "buckets", "dim", "load", "keys", "batch", "capacity"]


class Results(Kept):
    def __init__(self, folders, gpu):
        super().__init__(folders)
        self.gpu = gpu

    def rows(self, part):
        """Those of results/GPU.PART.tsv; part "": the table of goals."""
        return self.table(f"{self.gpu}.{part}.tsv" if part else f"{self.gpu}.tsv")

    def rate(self, part, column="rate", **want):
        want = {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in want.items()}
        for row in self.rows(part):
            if all(row[k] == v for k, v in want.items()) and row.get(column):
                return float(row[column])
        raise Missing("row " + " ".join(f"{k}={v}" for k, v in want.items()) + f" in {part or 'the table'}")


# ---- Rows ------------------------------------------------------------------------------------------------------------


def tried_lines(path):
    """[(operation, hits, buckets, load), text] of tried.txt."""
    lines = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            when, text = line.split(": ", 1)
            lines.append((when.split(), text))
    return lines


def is_of(when, row):
    """Whether a line of tried.txt is of that row; those of other designs begin with the design's name."""
    design = row.get("design", "hkv")
    name = row["operation"] if design in ("hkv", "") else f"{design}.{row['operation']}"
    return all(w in ("-", cell) for w, cell in zip(when, (name, row["hits"], row["buckets"], row["load"])))


def is_short(row):
    return bool(row["goal"]) and float(row["rate"]) < float(row["goal"])


# What a row without an entry in a column shows.
NONE = "-"
COUNTED = ("l2", "dram", "issue", "occupancy")


def table(head, rows):
    """A table of the page: its heads, its rows of cells."""
    lines = [head, ["---"] * len(head)] + rows
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def items(texts):
    """A list of the page, at most 120 columns wide."""
    return "".join(textwrap.fill(text, 116, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n" for text in texts)


def percent(share, digits=0):
    return f"{100 * share:.{digits}f}%"


def label_of(bound):
    """counters.tsv calls the roofline "places"."""
    return "roofline" if bound == "places" else bound


def counted_cells(row, bounds, columns=COUNTED):
    """What bounds a row, and its counters in per cent of their peaks."""
    bound = bounds.get(tuple(row[k] for k in KEY))
    if bound is None:
        return ["not counted yet"] + [NONE] * len(columns)
    return [label_of(bound["bound"])] + [f"{100 * float(bound[name]):.0f}" for name in columns]


def lanes_cell(row, bounds):
    bound = bounds.get(tuple(row[k] for k in KEY))
    return f"{float(bound['lanes']):.0f}" if bound else NONE


def goal_cells(row, bounds):
    """Measured, goal and what is missing; the share of the roofline; for a row that misses its goal, what bounds it."""
    rate, goal, floor = float(row["rate"]), float(row["goal"]), float(row["floor"])
    cells = [f"{rate:.3g}", f"{goal:.3g}" + ("*" if goal > floor else "")]
    if not is_short(row):
        return cells + ["met", percent(rate / floor)] + [NONE] * (len(COUNTED) + 2)
    return cells + [f"**{100 * (rate / goal - 1):.1f}%**", percent(rate / floor)] + counted_cells(row, bounds) + [lanes_cell(row, bounds)]


def bounds_of(results):
    """What was counted, by the keys of a row."""
    bounds = {}
    for part in ("counters", "hive_counters"):
        try:
            bounds.update({tuple(r[k] for k in KEY): r for r in results.rows(part)})
        except Missing:
            pass
    return bounds


ROW_HEAD = ["hits", "buckets", "load", "dim", "measured", "goal", "difference", "of roofline", "bound"] + list(COUNTED) + ["lanes"]


def rows_text(results, tried):
    rows = [r for r in results.rows("") if r["goal"]]
    bounds = bounds_of(results)
    short = [r for r in rows if is_short(r)]
    text = f"{len(rows) - len(short)} of {len(rows)} goals are met.\n"
    for operation in dict.fromkeys(r["operation"] for r in rows):
        of = [r for r in rows if r["operation"] == operation]
        text += f"\n### {operation}\n\n" + table(
            ROW_HEAD, [[percent(float(r["hits"])), r["buckets"], r["load"], r["dim"]] + goal_cells(r, bounds) for r in of])
        said = [what for when, what in tried if any(is_of(when, r) for r in of if is_short(r))]
        text += "\nTried:\n\n" + items(said) if said else ""
    return text


# ---- Goals about several rows ----------------------------------------------------------------------------------------


def spread(rates):
    return 1 - min(rates) / max(rates)


def wall_of(results):
    """How much longer a call of 1 Mi keys takes that is waited for, than in a queue."""
    rows = list(results.rows(""))
    try:
        rows += results.rows("batches")
    except Missing:
        pass
    rows = [r for r in rows if r.get("wall") and r["rate"] and r["operation"] != "export" and r["batch"] == str(1 << 20)]
    lost = sorted(((1 - float(r["wall"]) / float(r["rate"]), r) for r in rows), key=lambda x: -x[0])
    beyond = [[r["operation"], percent(float(r["hits"])), r["buckets"], r["load"], r["dim"], percent(share, 1)] for share, r in lost if share > 0.1]
    text = f"{len(lost) - len(beyond)} of {len(lost)} rows are within the limit."
    return lost[0][0], text + (" The others:\n\n" + table(["operation", "hits", "buckets", "load", "dim", "loss"], beyond) if beyond else "\n")


def readers_of(results):
    worst, rows = 0, []
    for operation, hits in (("find", 1), ("find", 0), ("find_ptr", 1), ("contains", 0.6)):
        shares = [spread([results.rate("", operation=operation, hits=f"{hits:g}", buckets=1, dim=d, load=l) for l in ("0.5", "0.75", "1")]) for d in (8, 32, 64)]
        worst = max([worst] + shares)
        rows.append([operation, percent(hits)] + [percent(s, 1) for s in shares])
    return worst, table(["operation", "hits", "dim 8", "dim 32", "dim 64"], rows)


def capacities_of(results):
    worst, rows = 0, []
    for operation, hits in dict.fromkeys((r["operation"], r["hits"]) for r in results.rows("capacities")):
        shares = [spread([results.rate("capacities", operation=operation, hits=hits, load=load, buckets=1, capacity=mi << 20) for mi in (16, 64, 128, 512)])
                  for load in ("0.5", "1")]
        worst = max([worst] + shares)
        rows.append([operation, percent(float(hits))] + [percent(s, 1) for s in shares])
    return worst, table(["operation", "hits", "load 0.5", "load 1"], rows)


def skewed_of(results):
    worst, rows = None, []
    bounds = bounds_of(results)
    for row in results.rows("skewed"):
        if row["keys"] != "zipf:0.99":
            continue
        even = results.rate("skewed", **({k: row[k] for k in KEY} | {"keys": "uniform"}))
        ratio = float(row["rate"]) / even
        worst = ratio if worst is None else min(worst, ratio)
        cells = counted_cells(row, bounds, ("l2", "dram", "issue")) if ratio < 1 else [NONE] * 4
        rows.append([row["operation"], percent(float(row["hits"])), row["buckets"], row["dim"], row["load"], f"{ratio:.2f}x"] + cells)
    if worst is None:
        raise Missing("row of keys=zipf:0.99")
    return 1 - worst, table(["operation", "hits", "buckets", "dim", "load", "Zipf / uniform", "bound", "l2", "dram", "issue"], rows)


LINES = [
    ("A call of 1 Mi keys that is waited for is at most 10% slower than in a queue", wall_of, 0.1),
    ("Readers vary by less than 5% over load factors 0.5 to 1", readers_of, 0.05),
    ("Rates vary by less than 10% from 16 Mi to 512 Mi entries, dim 8", capacities_of, 0.1),
    ("Zipf 0.99 is no slower than uniform keys", skewed_of, 0.0),
]


def lines_text(results):
    summary, details = [], ""
    for goal, measure, most in LINES:
        try:
            worst, figures = measure(results)
        except Missing as missing:
            summary.append([goal, NONE, "not measured yet", f"no {missing}"])
            continue
        summary.append([goal, percent(most), percent(max(worst, 0), 1), "met" if worst <= most else "**not met**"])
        details += f"\n**{goal}.**\n\n{figures}"
    return table(["goal", "limit", "worst", "verdict"], summary) + details


# ---- Hive ------------------------------------------------------------------------------------------------------------


HIVE_HEAD = ["operation", "hits", "items", "load", "variant", "measured", "goal", "peer", "verdict", "of roofline", "pending"]


def hive_cells(row):
    rate = float(row["rate"])
    goal = float(row["goal"]) if row["goal"] else None
    verdict = NONE if goal is None else "met" if rate >= goal else f"**{100 * (rate / goal - 1):.1f}%**"
    return [row["operation"], percent(float(row["hits"])), f"{int(row['batch']) >> 20} Mi{' in bulk' if row['form'] == 'bulk' else ''}", row["load"], row["variant"],
            f"{rate:.3g}", f"{goal:.3g}" if goal else NONE, f"{float(row['peer']):.3g}" if goal else NONE, verdict,
            percent(rate / float(row["floor"])) if row["floor"] else NONE, row["pending"] or "0"]


def tried_text(short, tried):
    said = [(when[0].split(".")[-1], what) for when, what in tried if any(is_of(when, r) for r in short)]
    return "\nTried:\n\n" + items(f"{operation}: {what}" for operation, what in said) if said else ""


def hive_text(results, tried):
    """Hive's goals, then what growth costs."""
    try:
        rows = results.rows("hive")
    except Missing as missing:
        return f"Not measured yet: there is no {missing}.\n"
    goals = [r for r in rows if r["goal"]]
    short = [r for r in goals if is_short(r)]
    text = f"{len(goals) - len(short)} of {len(goals)} goals are met.\n\n" + table(HIVE_HEAD, [hive_cells(r) for r in rows])
    return text + tried_text(short, tried) + growth_text(results)


def arrays_of(row):
    return {"this machine's": "host", "the device's": "device"}.get(row["arrays"], row["arrays"]) or NONE


def growth_text(results):
    text = ""
    for part in ("hive_resize", "hive_growth"):
        try:
            rows = results.rows(part)
        except Missing:
            continue
        text += "\n" + table(["call", "batch", "arrays", "slots before", "slots after", "items", "resizes", "1e9 items/s", "of steady"], [
            [r["what"], f"{int(r['batch']) >> 20} Mi" if r["batch"] else NONE, arrays_of(r), f"{int(r['from']):,}", f"{int(r['to']):,}", f"{int(r['items']):,}",
             r["resizes"], f"{float(r['items_per_s']) * 1e-9:.3g}", percent(float(r["of_steady"])) if r["of_steady"] else NONE] for r in rows])
    return text


# ---- The page --------------------------------------------------------------------------------------------------------


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpu", default="nvidia-h200")
    p.add_argument("--results", action="append", default=[])
    p.add_argument("--page", default=str(HERE / "RESULTS.md"))
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    results = Results([pathlib.Path(f) for f in o.results] + [HERE / "results"], o.gpu)
    path = pathlib.Path(o.page)
    page = was = path.read_text()
    tried = tried_lines(HERE / "lab" / "tried.txt")
    page = replaced(page, "rows", rows_text(results, tried))
    page = replaced(page, "lines", lines_text(results))
    page = replaced(page, "hive", hive_text(results, tried))
    if o.check:
        if page != was:
            print(f"{path.name} is not what the results say: run bench/rows.py")
        sys.exit(1 if page != was else 0)
    path.write_text(page)


if __name__ == "__main__":
    told(main)
