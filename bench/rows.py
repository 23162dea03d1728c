#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# rows.py - what bench/README.md says of the goals: every row that is short of its own, by how much, what bounds it, what was tried; and the goals
# that are about several rows. Made from results/GPU*.tsv and device/tried.txt; nothing in there is written by hand.
#
#     rows.py [--gpu nvidia-h200] [--results FOLDER] [--page FILE] [--check]
#
# --results: where results are looked for before the kept ones. --page: the page that is changed (bench/README.md). --check: change nothing, exit
# code 1 when something would change.
import argparse
import pathlib
import sys

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


# ---- Rows ------------------------------------------------------------------------------------------------------------------


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


def cell_of(row, bounds):
    """One row, in a few words."""
    if row is None or not row["goal"]:
        return "-"
    rate, goal, floor = float(row["rate"]), float(row["goal"]), float(row["floor"])
    if not is_short(row):
        return f"{rate:.3g}, met"
    text = f"**{rate:.3g}** of {goal:.3g}, -{100 * (1 - rate / goal):.1f}%; {100 * rate / floor:.0f}% of the floor"
    if goal > floor:
        text += f", {floor:.3g}, which the goal is beyond"
    return text + bound_text(row, bounds)


def bound_text(row, bounds):
    bound = bounds.get(tuple(row[k] for k in KEY))
    if bound is None:
        return "; not counted yet"
    return f"; {bound['bound']} (" + ", ".join(f"{name} {100 * float(bound[name]):.0f}" for name in ("l2", "dram", "issue", "occupancy")) + f", lanes {float(bound['lanes']):.0f})"


def bounds_of(results):
    """What was counted, by the keys of a row."""
    bounds = {}
    for part in ("counters", "hive_counters"):
        try:
            bounds.update({tuple(r[k] for k in KEY): r for r in results.rows(part)})
        except Missing:
            pass
    return bounds


def rows_text(results, tried):
    rows = results.rows("")
    bounds = bounds_of(results)
    goals = [r for r in rows if r["goal"]]
    short = [r for r in goals if is_short(r)]
    text = f"{len(goals) - len(short)} of {len(goals)} goals are met. Of the others:\n"
    for operation in dict.fromkeys(r["operation"] for r in rows):
        of = [r for r in short if r["operation"] == operation]
        if not of:
            continue
        text += f"\n**{operation}**\n\n| hits, buckets, load factor | " + " | ".join(f"dim {d}" for d in (8, 32, 64)) + " |\n|---|---|---|---|\n"
        for hits, buckets, load in dict.fromkeys((r["hits"], r["buckets"], r["load"]) for r in of):
            line = {r["dim"]: r for r in rows if (r["operation"], r["hits"], r["buckets"], r["load"]) == (operation, hits, buckets, load)}
            text += f"| {100 * float(hits):.0f}%, {buckets}, {load} | " + " | ".join(cell_of(line.get(d), bounds) for d in ("8", "32", "64")) + " |\n"
        said = [what for when, what in tried if any(is_of(when, r) for r in of)]
        text += "".join(f"\n- tried: {what}" for what in said) + ("\n" if said else "\n- nothing was tried yet\n")
    return text


# ---- Goals about several rows ----------------------------------------------------------------------------------------------------


def spread(rates):
    return 1 - min(rates) / max(rates)


def wall_of(results):
    """How much longer than in a queue a call takes that is waited for, of 1 Mi keys; the rows that are worst."""
    rows = list(results.rows(""))
    try:
        rows += results.rows("batches")
    except Missing:
        pass
    rows = [r for r in rows if r.get("wall") and r["rate"] and r["operation"] != "export" and r["batch"] == str(1 << 20)]
    lost = sorted(((1 - float(r["wall"]) / float(r["rate"]), r) for r in rows), key=lambda x: -x[0])
    within = sum(share <= 0.1 for share, _ in lost)
    worst = ", ".join(dict.fromkeys(f"{r['operation']} {100 * float(r['hits']):.0f}%" for share, r in lost if share > 0.1))
    return lost[0][0], f"{within} of {len(lost)} rows; the worst loses {100 * lost[0][0]:.1f}%" + (f" (those beyond: {worst})" if worst else "")


def readers_of(results):
    worst, parts = 0, []
    for operation, hits in (("find", 1), ("find", 0), ("find_ptr", 1), ("contains", 0.6)):
        shares = [spread([results.rate("", operation=operation, hits=f"{hits:g}", buckets=1, dim=d, load=l) for l in ("0.5", "0.75", "1")]) for d in (8, 32, 64)]
        worst = max([worst] + shares)
        parts.append(f"{operation} {100 * hits:.0f}%: " + ", ".join(f"{100 * s:.1f}" for s in shares))
    return worst, "; ".join(parts) + " (%, dim 8, 32, 64)"


def capacities_of(results):
    worst, parts = 0, []
    for operation, hits in dict.fromkeys((r["operation"], r["hits"]) for r in results.rows("capacities")):
        for load in ("0.5", "1"):
            share = spread([results.rate("capacities", operation=operation, hits=hits, load=load, buckets=1, capacity=mi << 20) for mi in (16, 64, 128, 512)])
            worst = max(worst, share)
            parts.append(f"{operation} {100 * float(hits):.0f}% at {load}: {100 * share:.1f}")
    return worst, ", ".join(parts) + " (%)"


def skewed_of(results):
    worst, parts = None, []
    bounds = bounds_of(results)
    for row in results.rows("skewed"):
        if row["keys"] != "zipf:0.99":
            continue
        even = results.rate("skewed", **({k: row[k] for k in KEY} | {"keys": "uniform"}))
        ratio = float(row["rate"]) / even
        worst = ratio if worst is None else min(worst, ratio)
        bound = bounds.get(tuple(row[k] for k in KEY))
        parts.append(f"{row['operation']} {100 * float(row['hits']):.0f}%, {row['buckets']} bucket{'s' if row['buckets'] == '2' else ''}, dim {row['dim']}, {row['load']}: {ratio:.2f}x")
        if ratio < 1 and bound:
            parts[-1] += f" ({bound['bound']}, {bound['kernels']} kernels, l2 {100 * float(bound['l2']):.0f}, dram {100 * float(bound['dram']):.0f}, issue {100 * float(bound['issue']):.0f})"
    if worst is None:
        raise Missing("row of keys=zipf:0.99")
    return 1 - worst, ", ".join(parts)


LINES = [
    ("A call of 1 Mi keys that is waited for is within 10% of its share of a queue", wall_of, 0.1),
    ("Readers vary by less than 5% over load factors 0.5 to 1", readers_of, 0.05),
    ("Less than 10% from 16 Mi to 512 Mi entries, dim 8", capacities_of, 0.1),
    ("Zipf 0.99 is no slower than uniform keys", skewed_of, 0.0),
]


def lines_text(results):
    text = "| goal | verdict | figures |\n|---|---|---|\n"
    for goal, measure, most in LINES:
        try:
            worst, figures = measure(results)
        except Missing as missing:
            text += f"| {goal} | not measured yet | no {missing} |\n"
            continue
        verdict = "met" if worst <= most else f"**not met**: {100 * worst:.1f}% at worst" + (f", {100 * (worst - most):.1f} too many" if most else "")
        text += f"| {goal} | {verdict} | {figures} |\n"
    return text


# ---- Hive ------------------------------------------------------------------------------------------------------------------------


def hive_cell(row, bounds):
    """Rate, goal and peer of one row, and what bounds it."""
    if row is None:
        return "-"
    rate = float(row["rate"])
    text = f"{rate:.3g}"
    if row["goal"]:
        goal = float(row["goal"])
        text = f"{rate:.3g} of {goal:.3g}, met" if rate >= goal else f"**{rate:.3g}** of {goal:.3g}, -{100 * (1 - rate / goal):.1f}%"
        text += f" (peer {float(row['peer']):.3g})"
    if row["floor"]:
        text += f"; {100 * rate / float(row['floor']):.0f}% of the floor"
    if is_short(row):
        text += bound_text(row, bounds)
    return text + (f"; {row['pending']} pending" if int(row["pending"] or 0) else "")


def tried_text(short, tried):
    said = [(when[0].split(".")[-1], what) for when, what in tried if any(is_of(when, r) for r in short)]
    return "".join(f"\n- tried, {operation}: {what}" for operation, what in said) + ("\n" if said else "")


def hive_text(results, tried):
    """Hive's goals, then what growth costs."""
    try:
        rows = results.rows("hive")
    except Missing as missing:
        return f"Not measured yet: there is no {missing}.\n"
    loads, bounds = list(dict.fromkeys(r["load"] for r in rows)), bounds_of(results)
    goals = [r for r in rows if r["goal"]]
    text = f"{len(goals) - sum(is_short(r) for r in goals)} of {len(goals)} goals are met.\n\n| operation, share of hits, items of a call | variant | " + " | ".join(f"load factor {l}" for l in loads) + " |\n"
    text += "|---|---|" + "---|" * len(loads) + "\n"
    for key in dict.fromkeys((r["operation"], r["hits"], r["batch"], r["form"]) for r in rows):
        line = {r["load"]: r for r in rows if (r["operation"], r["hits"], r["batch"], r["form"]) == key}
        variants = "/".join(dict.fromkeys(r["variant"] for r in line.values()))
        text += f"| {key[0]}, {100 * float(key[1]):.0f}%, {int(key[2]) >> 20} Mi{' in bulk' if key[3] == 'bulk' else ''} | {variants} | " + " | ".join(hive_cell(line.get(l), bounds) for l in loads) + " |\n"
    return text + tried_text([r for r in goals if is_short(r)], tried) + growth_text(results)


def growth_text(results):
    text = ""
    for part in ("hive_resize", "hive_growth"):
        try:
            rows = results.rows(part)
        except Missing:
            continue
        text += "\n| " + ("what | slots" if part == "hive_resize" else "batches | arrays, slots") + " | items | resizes | 1e9 items/s | of steady |\n|---|---|---|---|---|---|\n"
        for r in rows:
            what = r["what"] + (f", {int(r['batch']) >> 20} Mi" if r["batch"] else "")
            place = (f"{r['arrays']}, " if r["batch"] else "") + f"{int(r['from']):,} to {int(r['to']):,}"
            share = f"{100 * float(r['of_steady']):.0f}%" if r["of_steady"] else ""
            text += f"| {what} | {place} | {int(r['items']):,} | {r['resizes']} | {float(r['items_per_s']) * 1e-9:.3g} | {share} |\n"
    return text


# ---- The page --------------------------------------------------------------------------------------------------------------------


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpu", default="nvidia-h200")
    p.add_argument("--results", action="append", default=[])
    p.add_argument("--page", default=str(HERE / "README.md"))
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    results = Results([pathlib.Path(f) for f in o.results] + [HERE / "results"], o.gpu)
    path = pathlib.Path(o.page)
    page = was = path.read_text()
    page = replaced(page, "rows", rows_text(results, tried_lines(HERE / "device" / "tried.txt")))
    page = replaced(page, "lines", lines_text(results))
    page = replaced(page, "hive", hive_text(results, tried_lines(HERE / "device" / "tried.txt")))
    if o.check:
        if page != was:
            print(f"{path.name} is not what the results say: run bench/rows.py")
        sys.exit(1 if page != was else 0)
    path.write_text(page)


if __name__ == "__main__":
    told(main)
