# SPDX-License-Identifier: Apache-2.0
"""stories.py - plays the stories of `heddle explain`, and compares what they show with the rows of the report.

    python3 tests/stories.py HEDDLE FOLDER

Prints a line for each check, "ok NAME" or "no NAME: WHY". FOLDER is for the files that it makes.
"""
import json
import os
import subprocess
import sys

heddle, folder = sys.argv[1:]


class Wrong(Exception):
    pass


def must(what, why):
    if not what:
        raise Wrong(why)


def run(*words):
    done = subprocess.run([heddle, *words], capture_output=True, text=True, cwd=folder, check=False)
    must(done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def explain(*words):
    return json.loads(run("explain", *words, "--json"))


def play(story):
    """After each step: the step, and the cells of all panels. Checks the form of the story."""
    must(story["schema"] == "heddle.story/1", "schema")
    panels = [[list(row) for row in p["cells"]] for p in story["panels"]]
    for p, cells in zip(story["panels"], panels):
        must(len(p["rows"]) == len(cells), f"{p['name']}: rows")
        must(all(len(row) == len(p["columns"]) for row in cells), f"{p['name']}: columns")
    last = 0
    for step in story["steps"]:
        must(step["step"] >= last and step["does"] and step["who"], f"step {step['step']}: it is out of order, or does not say who acts")
        last = step["step"]
        for panel, row, column, text in step["sets"]:
            panels[panel][row][column] = text
        for panel, row, column in step["looks"]:
            must(panels[panel][row][column] is not None, "a cell that is none")
        yield step, panels


# ---- A policy ----------------------------------------------------------------------------------------------------


def entries_of(panels, buckets, parts):
    """The cells as the column `entries` has them, without the star."""
    def one(row):
        if not row[0]:
            return "-"
        score = row[1] if not parts else "MAX" if int(row[1]) == 2**32 - 1 == int(row[2]) else f"e{row[1]}+{row[2]}"
        return f"{row[0]}:{score}"
    return " | ".join(" ".join(one(row) for row in panel) for panel in panels[:buckets])


def policy(*words):
    report = explain(*words)
    rows = {row["request"]: row for row in report["rows"]}
    shown = {}
    for step, panels in play(report["story"]):
        shown[step["step"]] = (entries_of(panels, report["buckets"], report["epoch_part"]), step["does"])
    must(len(shown) == len(rows) == report["requests"], "a request has no step")
    does = {"updated": "scores", "inserted": "inserts", "evicted": "evicts", "refused": "refuses"}
    for number, (entries, what) in shown.items():
        row = rows[number]
        must(entries == row["entries"].replace("*", ""), f"request {number}: {entries}, and the row has {row['entries']}")
        must(what == does[row["outcome"]], f"request {number}: {what}, and the outcome is {row['outcome']}")
    return report


# ---- The reference and growth ------------------------------------------------------------------------------------


def reference(*words, moves=0):
    report = explain(*words)
    must(report.get("wrong") is None, report.get("wrong"))
    now = {(p, r): row[0] for p, panel in enumerate(report["story"]["panels"]) for r, row in enumerate(panel["cells"])}
    moved = 0
    for step, panels in play(report["story"]):
        if step["does"] == "moves":
            moved += 1
            keys = [place for place in step["sets"] if place[2] == 0]
            must(len(keys) == 2, "an entry leaves one slot, and arrives in another")
            (panel, row, _, key), (left, left_row, _, hole) = keys
            must(now[panel, row] in ("-", "fresh", "vacant", ""), "an entry moved onto another one")
            must(hole in ("-", "fresh", "vacant"), "the slot that it left is not free")
            must(now[left, left_row] == key, "the entry that arrives is not the one that left")
        now = {(p, r): row[0] for p, cells in enumerate(panels) for r, row in enumerate(cells)}
    must(moved >= moves, f"{moved} entries moved, not {moves}")
    must(len(report["rows"]) == len(report["story"]["steps"]), "rows and steps")
    return report


def kernel_chain():
    """Three moves by the same lanes before their item takes effect; a move is not an outcome."""
    report = explain("hive.insert_or_assign.tile", "buckets=8", "batch=6x1", "keys=uniform:320", "seed=5")
    moves, most = {}, 0
    for row in report["rows"]:
        if row["does"] == "moves an entry":
            must(row["place"] is None, "a move has an outcome")
            moves[row["lanes"]] = moves.get(row["lanes"], 0) + 1
        if row["does"] == "takes effect":
            most = max(most, moves.pop(row["lanes"], 0))
    must(most == 3, f"{most} moves")
    told = sum(step["does"] == "moves an entry" for step, _ in play(report["story"]))
    must(told >= 3, "the story has no moves")


# ---- A trace -----------------------------------------------------------------------------------------------------


def trace():
    requests = 3000
    run("gen", "zipf:0.9,100", "--requests", str(requests), "-o", "told.oracleGeneral")
    sim = json.loads(run("sim", "told.oracleGeneral", "oracleGeneral", "lfu", "32", "--slots", "8", "--json"))["rows"][0]
    seen = hits = evicted = 0
    for bucket in range(4):
        report = explain("trace=told.oracleGeneral", f"bucket={bucket}", "buckets=4", "slots=8", "policy=lfu",
                         "requests=100000")
        for step, panels in play(report["story"]):
            pass
        last = report["rows"][-1]
        must([row[0] for row in panels[1][:2]] == [str(last["requests_so_far"]), str(last["hits"])], "the story's end")
        seen, hits, evicted = seen + last["requests_so_far"], hits + last["hits"], evicted + last["evicted"]
    must(seen == requests, f"the buckets have {seen} requests")
    must(requests - hits == sim["misses"], f"{requests - hits} misses, and sim says {sim['misses']}")
    must(evicted == sim["evicted"], f"{evicted} evictions, and sim says {sim['evicted']}")


# ---- A lock ------------------------------------------------------------------------------------------------------


def lock(batches, seed):
    report = explain("lock=group3", f"batches={batches}", f"seed={seed}")
    ticket, entered, inside, left = {}, [], set(), set()
    for row in report["rows"]:
        batch, does = row["batch"], row["does"]
        must(batches[batch] == row["role"][0].upper(), "the role")
        if does == "draws a ticket":
            ticket[batch] = row["next"] - 1
        if does == "enters":
            must(all(batches[b] == batches[batch] != "I" for b in inside), f"batch {batch} enters beside {inside}")
            entered.append(ticket[batch])
            inside.add(batch)
        if does == "leaves":
            inside.remove(batch)
            left.add(batch)
        must(row["inside"] == len(inside), "the word's count")
        must({int(b[1:]) for b in (row["running"] or "").split()} == inside, "the batches in the lock")
    must(entered == list(range(len(batches))), f"the order of the tickets: {entered}")
    must(len(left) == len(batches), "a batch is still inside")
    states = [row[1] for _, panels in play(report["story"]) for row in [panels[1][0]]]
    must(states[-1] == "has left", states[-1])
    return report["together"]


def locks():
    most = [lock(batches, seed) for batches in ("RRUUIR", "RRRR", "IIU", "RIRUURI") for seed in range(10)]
    must(max(most[10:20]) > 1, "no readers ran together")
    must(max(most[20:30]) == 1, "inserters ran together")


# ---- All ---------------------------------------------------------------------------------------------------------

checks = {
    "lru": lambda: policy("policy=lru"),
    "custom, refusals": lambda: must(policy("policy=custom", "requests=200")["refused"] > 0, "none was refused"),
    "epoch_lfu, two buckets": lambda: policy("policy=epoch_lfu", "dual=1", "epoch_every=9", "requests=200"),
    "lfu, always": lambda: policy("policy=lfu", "admit=always", "slots=8", "keys=zipf:0.9,30", "requests=200"),
    "an expression": lambda: policy("policy=expr:on_insert=now;on_hit=(old>>1)+(now>>1)", "requests=200"),
    "the reference of hkv": lambda: reference("hkv.insert_or_assign.ref", "dual=1", "batch=12x1", "seed=7"),
    "a chain of three": lambda: reference("hive.insert_or_assign.ref", "buckets=4", "keys=uniform:1000", "seed=123", moves=3),
    "a chain of a kernel": kernel_chain,
    "a split": lambda: reference("grow=hive", "seed=2", moves=5),
    "three splits": lambda: reference("grow=hive", "seed=5", "to=5", moves=5),
    "the buckets of a trace": trace,
    "a lock": locks,
}
assert os.path.isdir(folder)
for name, check in checks.items():
    try:
        check()
        print(f"ok {name}")
    except Wrong as why:
        print(f"no {name}: {why}")
