# SPDX-License-Identifier: Apache-2.0
"""The reports of the command against models of a few lines, which know what the pages say and nothing of the code.

    report_models.py HEDDLE COUNT [SEED]     COUNT random command lines of each verb, and the odd files

A model reads nothing that Heddle wrote: requests and bases are drawn here, written to a file in a drawn form, and
counted by dictionaries. Every count of the JSON is compared. The last line is the number of reports; a difference is a
line "WRONG ...", with the case's seed and command, and exit code 1.
"""

import collections
import gzip
import json
import os
import random
import struct
import subprocess
import sys

HEDDLE = sys.argv[1]
RESERVED = (2**64 - 3, 2**64 - 2, 2**64 - 1)
MASK = 2**64 - 1
Request = collections.namedtuple("Request", "key time size verb next")
wrong = reports = 0
case = ""


def fail(what, *words):
    global wrong
    wrong += 1
    print(f"WRONG {case}: {what}: heddle {' '.join(map(repr, words))}")


def number(value):
    return int(value, 16) if isinstance(value, str) and value.startswith("0x") else value


def heddle(*words, code=0, stdin=None):
    """The report, if the command ends with `code`; else None, which is a failure."""
    global reports
    reports += 1
    words = list(map(str, words))
    try:
        ran = subprocess.run([HEDDLE, *words], input=stdin, capture_output=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return fail("it does not end", *words)
    said = ran.stderr.decode("utf-8", "replace").strip()
    if ran.returncode != code:
        return fail(f"exit {ran.returncode}, not {code}: {said}", *words)
    if code not in (0, 1):
        if not said or "\n" in said:
            fail(f"an error is one line: {said!r}", *words)
        return None
    return json.loads(ran.stdout) if "--json" in words else ran.stdout.decode()


def same(what, want, got, *words):
    close = isinstance(want, float) and isinstance(got, (int, float)) and abs(want - got) <= 1e-9 * max(1, abs(want))
    if number(got) != want and not close:
        fail(f"{what} is {got}, not {want}", *words)


# ---- Requests, and files of them -------------------------------------------------------------------------------------


def draw_requests(r, text=False):
    """Requests with their next accesses (-1: none)."""
    n, keys = r.choice((1, 2, 30, 300, 900)), r.choice((1, 5, 40, 300))
    pool = [r.choice((r.getrandbits(64), r.randrange(1000), i)) for i in range(keys)]
    if r.random() < 0.3:
        pool.append(r.choice(RESERVED))
    if text:
        pool = [f"key {k}" if r.random() < 0.5 else f'"{k}", é' for k in pool]
    now, rows = r.randrange(100), []
    for _ in range(n):
        now += r.randrange(4)
        key = pool[min(int(r.expovariate(4 / len(pool))), len(pool) - 1)]
        size, verb = r.choice((1, 0, 4096, r.randrange(2**32))), r.choice(("read", "update", "insert", "rmw"))
        rows.append([key, now, size, verb, -1])
    last = {}
    for i in range(n - 1, -1, -1):
        rows[i][4] = last.get(rows[i][0], -1)
        last[rows[i][0]] = i + 1
    return [Request(*row) for row in rows]


def quote(field, r, always=False):
    field = str(field)
    if always or any(c in field for c in '",\n\r') or r.random() < 0.1:
        return '"' + field.replace('"', '""') + '"'
    return field


def csv_of(requests, r):
    """A csv: bytes, FORMAT, and what it has: sizes, verbs, a unit, columns that are not read."""
    delim, name = r.choice(((",", "comma"), ("\t", "tab"), (";", "semicolon"), ("|", "pipe")))
    columns = ["key"] + [c for c in ("time", "size", "verb", "op_count") if r.random() < 0.6]
    columns += r.sample(("ttl", "host", ""), r.randrange(3))
    r.shuffle(columns)
    header, mark, end = r.random() < 0.5, r.random() < 0.3, r.choice(("\n", "\r\n"))
    unit = r.choice(("s", "ms", "us", "ns", None)) if "time" in columns else None
    suffix = header and unit and r.random() < 0.5
    options = [] if name == "comma" and r.random() < 0.5 else [f"delim={name}"]
    names = [f"time_{unit}" if c == "time" and suffix else c for c in columns]
    if not header:
        options += [f"{c}={columns.index(c) + 1}" for c in columns if c in ("key", "time", "size", "verb", "op_count")]
        options += ["header=0"]
    if unit and not suffix:
        options += [f"unit={unit}"]
    lines = [delim.join(names)] if header else []
    spell = {"read": ("read", "GET", "Gets", "r"), "update": ("SET", "write", "W")}
    spell |= {"insert": ("Insert", "ADD"), "rmw": ("rmw", "INCR")}
    rows = []  # requests, and how many of them a row is
    for q in requests:
        same_row = rows and all(getattr(q, c) == getattr(rows[-1][0], c) for c in columns if c in q._asdict())
        if same_row and "op_count" in columns and r.random() < 0.9:
            rows[-1][1] += 1
        else:
            rows.append([q, 1])
    for q, count in rows:
        field = q._asdict() | {"verb": r.choice(spell[q.verb]), "ttl": "x", "host": "y", "op_count": count, "": ""}
        if "time" in columns and r.random() < 0.1:
            field["time"] = r.choice((f"{q.time}e0", f"{q.time * 1000}e-3", f"{q.time}.0"))
        lines.append(delim.join(quote(field[c], r, delim in str(field[c])) for c in columns))
        if r.random() < 0.02:
            lines.append("")
    data = end.join(lines) + (end if r.random() < 0.8 else "")
    unread = [c or str(i + 1) for i, c in enumerate(columns) if c in ("ttl", "host", "")] if header else []
    has = {"extra": len(requests) - len(rows)}
    has |= {"size": "size" in columns, "verb": "verb" in columns, "time": "time" in columns, "unread": ", ".join(unread)}
    has |= {"unit": (unit or "s") if has["time"] else None, "assumed": unit is None}
    return (b"\xef\xbb\xbf" if mark else b"") + data.encode(), ",".join(["csv", *options]), has


def trace_of(requests, r, folder, form=None):
    """A file of the requests in a drawn form: its path, FORMAT, the requests as that form has them, and what it has."""
    text = isinstance(requests[0].key, str)
    form = form or r.choice(("csv", "txt") if text else ("csv", "csv", "txt", "oracleGeneral", "vscsi1", "vscsi2"))
    has = {"size": form != "txt", "verb": form.startswith("vscsi"), "time": form != "txt", "unread": ""}
    has |= {"assumed": False, "extra": 0}
    has |= {"unit": None if form == "txt" else "s" if form == "oracleGeneral" else "us"}
    if form == "csv":
        data, form, has = csv_of(requests, r)
    elif form == "txt":
        end = r.choice(("\n", "\r\n"))
        data = "# a comment" + end + end.join(f" {q.key}\t" if r.random() < 0.1 else str(q.key) for q in requests)
        data = (b"\xef\xbb\xbf" if r.random() < 0.3 else b"") + data.encode()
    elif form == "oracleGeneral":
        data = b"".join(struct.pack("<IQIq", q.time, q.key, q.size, q.next) for q in requests)
    else:
        op = {"read": 0x28}
        data = b""
        for i, q in enumerate(requests):
            cmd, ver = op.get(q.verb, 0x2A), int(form[5]) << 8
            if form == "vscsi1":
                data += struct.pack("<IIIHHQQ", i + 1, q.size, 0, cmd, ver, q.key, q.time)
            else:
                data += struct.pack("<HHIIIQQQ", cmd, ver, i + 1, q.size, 0, q.key, q.time, 0)
    read = [
        Request(
            q.key,
            q.time if has["time"] else 0,
            q.size if has["size"] else 1,
            "read" if q.verb == "read" or not has["verb"] else "update" if form.startswith("vscsi") else q.verb,
            q.next,
        )
        for q in requests
    ]
    path = os.path.join(folder, "trace")
    packed = r.random()
    if packed < 0.3:
        cut = r.randrange(len(data))
        data = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
        if packed < 0.15:
            data += bytes(r.choice((1, 512, 70000)))
    with open(path, "wb") as f:
        f.write(data)
    return path, form[:5] if form.startswith("vscsi") else form, read, has


# ---- sim and sweep ---------------------------------------------------------------------------------------------------


def mix64(h):
    """MurmurHash3's finaliser."""
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


class Table:
    """doc/contract-hkv.md: buckets, scores, admission; of equal scores the first slot's entry is evicted."""

    def __init__(self, policy, buckets, slots, dual, seed, always):
        self.policy, self.dual, self.seed, self.always = policy, dual, seed, always
        self.bucket = [[None] * slots for _ in range(buckets)]

    def homes(self, key):
        n = len(self.bucket)
        if n == 1:
            return [0]
        h = mix64(key ^ self.seed)
        first = h * n >> 64
        second = ((h >> 32 | h << 32) & MASK) * n >> 64
        return [first, (first + 1) % n if second == first else second] if self.dual else [first]

    def scores(self, given, now, epoch):
        """Of a new entry, after a hit of an old score, and the one that is compared."""
        whole = lambda x: min(epoch * 2**32 + x, MASK)  # noqa: E731
        sat = lambda x: min(x, 2**32 - 1)  # noqa: E731
        return {
            "lru": (now, lambda old: now, now),
            "fifo": (now, lambda old: old, now),
            "lfu": (given, lambda old: min(old + given, MASK), MASK),
            "custom": (given, lambda old: given, given),
            "epoch_lru": (whole(now), lambda old: whole(now), whole(now)),
            "epoch_fifo": (whole(now), lambda old: max(old, whole(old % 2**32)), whole(now)),
            "epoch_lfu": (whole(sat(given)), lambda old: whole(sat(old % 2**32 + given)), whole(sat(given))),
        }[self.policy]

    def request(self, key, given, now, epoch):
        new, hit, admission = self.scores(given, now, epoch)
        homes = self.homes(key)
        for b in homes:
            for entry in self.bucket[b]:
                if entry and entry[0] == key:
                    entry[1] = hit(entry[1])
                    return "updated"
        free = [sum(e is None for e in self.bucket[b]) for b in homes]
        if any(free):
            b = homes[1] if len(homes) > 1 and free[1] > free[0] else homes[0]
            self.bucket[b][self.bucket[b].index(None)] = [key, new]
            return "inserted"
        low = [min(e[1] for e in self.bucket[b]) for b in homes]
        b = homes[1] if len(homes) > 1 and low[1] < low[0] else homes[0]
        if admission < min(low) and not self.always:
            return "refused"
        slots = self.bucket[b]
        slots[next(i for i, e in enumerate(slots) if e[1] == min(low))] = [key, new]
        return "evicted"

    def entries(self):
        return sorted(tuple(e) for bucket in self.bucket for e in bucket if e)


class Full:
    """doc/output.md, exact caches: one set of `capacity` entries."""

    def __init__(self, policy, capacity, always):
        self.policy, self.capacity, self.always, self.entry, self.ring, self.hand = policy, capacity, always, {}, [], 0

    def request(self, key, given, now, epoch, next_=-1):
        next_ = next_ if next_ > 0 else MASK
        known = key in self.entry
        if known:
            used, count, first, _, _ = self.entry[key]
            self.entry[key] = (now, count + 1, first, next_, True)
            return "updated"
        room = len(self.entry) < self.capacity
        at = len(self.ring)
        if not room:
            out = {
                "lru": lambda: min(self.entry, key=lambda k: self.entry[k][0]),
                "lfu": lambda: min(self.entry, key=lambda k: (self.entry[k][1], self.entry[k][0])),
                "fifo": lambda: min(self.entry, key=lambda k: self.entry[k][2]),
                "belady": lambda: max(self.entry, key=lambda k: self.entry[k][3]),
                "clock": self.clock,
            }[self.policy]()
            if self.policy == "belady" and next_ > self.entry[out][3] and not self.always:
                return "refused"
            del self.entry[out]
            if self.policy == "clock":
                at = self.ring.index(out)
        if at == len(self.ring):
            self.ring.append(key)
        else:
            self.ring[at] = key
            self.hand = (at + 1) % len(self.ring)
        self.entry[key] = (now, 1, now, next_, False)
        return "inserted" if room else "evicted"

    def clock(self):
        while self.entry[self.ring[self.hand]][4]:
            used, count, first, next_, _ = self.entry[self.ring[self.hand]]
            self.entry[self.ring[self.hand]] = (used, count, first, next_, False)
            self.hand = (self.hand + 1) % len(self.ring)
        return self.ring[self.hand]


def shape(size, slots, dual):
    """Capacity, buckets and slots of the table nearest to a size."""
    least = 2 if dual else 1
    if slots:
        buckets = max(least, (2 * size + slots) // (2 * slots))
        return buckets * slots, buckets, slots
    each = max(2, (size + least // 2) // least)
    return each * least, least, each


def replay(model, requests, o):
    """The outcome of every request."""
    outcomes = []
    for i, q in enumerate(requests):
        epoch = i // o["epoch"] if o["epoch"] else 0
        given = {"size": 2**32 - 1 - q.size, "time": q.time}.get(o["score"], 1)
        if o["score"] == "next":
            given = MASK - q.next if q.next > 0 else 0
        if q.key in RESERVED:
            outcomes.append("reserved")
        elif isinstance(model, Full):
            outcomes.append(model.request(q.key, 1, i, epoch, q.next))
        else:
            outcomes.append(model.request(q.key, given, i, epoch))
    return outcomes


def counts(requests, outcomes, sized):
    c = collections.Counter(outcomes)
    misses = c["inserted"] + c["evicted"] + c["refused"]
    asked = len(outcomes) - c["reserved"]
    some = [(q.size, o) for q, o in zip(requests, outcomes) if o != "reserved"]
    bytes_ = sum(s for s, _ in some)
    missed = sum(s for s, o in some if o != "updated")
    return {
        "requests": len(outcomes),
        "misses": misses,
        "evicted": c["evicted"],
        "refused": c["refused"],
        "reserved": c["reserved"],
        "miss_ratio": misses / asked if asked else None,
        "byte_miss_ratio": missed / bytes_ if sized and bytes_ else None,
    }


TABLES = ("lru", "lfu", "fifo", "custom", "epoch_lru", "epoch_lfu", "epoch_fifo")
CACHES = ("full:lru", "full:lfu", "full:fifo", "full:clock", "full:belady")
BYTE = {"inserted": 2, "updated": 3, "evicted": 4, "refused": 5, "reserved": 6}


def model_of(policy, size, seed, o):
    capacity, buckets, slots = shape(size, o["slots"], o["dual"])
    if policy.startswith("full:"):
        return Full(policy[5:], capacity, o["always"]), capacity, None
    return Table(policy, buckets, slots, o["dual"], seed, o["always"]), capacity, slots


def draw_options(r, n):
    o = {"slots": r.choice((None, 2, 4, 7, 16)), "dual": r.random() < 0.3, "always": r.random() < 0.3}
    o |= {"epoch": r.choice((None, 1, 7, 100)), "warmup": r.choice((0, 0, n // 3)), "seed": r.choice((0, 5, 2**63 + 1))}
    o |= {"score": None, "limit": r.choice((None, None, max(1, n // 2))), "seeds": r.choice((None, None, 3))}
    o["every"] = r.choice((None, max(1, n // 5))) if not o["seeds"] else None
    words = [f"--{k}={o[k]}" for k in ("slots", "epoch", "limit", "seeds", "every") if o[k]]
    words += ["--dual"] if o["dual"] else []
    words += ["--admit=always"] if o["always"] else []
    words += [f"--{k}={o[k]}" for k in ("warmup", "seed")]
    words += [f"--batch={r.choice((1, 7, 4096))}", f"--threads={r.choice((1, 2))}"]
    return o, words


def replay_report(r, folder):
    """sim or sweep: rows of policies and sizes, windows, seeds; outcomes of one row, and its snapshot by range."""
    text = r.random() < 0.2
    path, form, requests, has = trace_of(draw_requests(r, text), r, folder)
    o, words = draw_options(r, len(requests))
    sizes = r.sample(("2", "3", "10", "60", "127", "10%", "0.5", "100%"), r.choice((1, 1, 2)))
    policies = r.sample(TABLES + CACHES, r.choice((1, 2, 3)))
    if text:
        o["slots"], o["dual"] = None, False  # the hash of a text is nobody's business
        words = [w for w in words if not w.startswith(("--slots", "--dual"))]
    if "custom" in policies:
        usable = [s for s in ("size", "time", "next") if s != "next" or form == "oracleGeneral"]
        o["score"] = r.choice(usable)
        policies = [p for p in policies if p in ("custom", "lru", "fifo") + CACHES]
        words += [f"--score={o['score']}"]
    read = requests[: o["limit"]] if o["limit"] else requests
    alone = len(policies) * len(sizes) == 1 and not o["seeds"]
    saves = alone and not policies[0].startswith("full:") and not text
    outcomes, snapshot = os.path.join(folder, "outcomes"), os.path.join(folder, "table")
    counted = len(read) > o["warmup"] and any(q.key not in RESERVED for q in read[o["warmup"] :])
    if r.random() < 0.5:
        line = ["sim", path, form, ",".join(policies), ",".join(sizes), *words]
        line += ["--outcomes", outcomes] if alone else []
        line += ["--save", snapshot] if saves else []
    else:
        saves = alone = False
        words = [w.replace("--limit", "--requests") for w in words]
        line = ["sweep", path, form, "-p", ",".join(policies), "--sizes", ",".join(sizes), *words]
    report = heddle(*line, "--json", code=0 if counted else 3)
    if not report:
        return
    check = lambda what, want, got: same(what, want, got, *line)  # noqa: E731
    check("unread", has["unread"], report.get("unread", ""))
    check("hashed", len(read) if text else 0, report.get("hashed", 0))
    check("sizes", has["size"], report["sizes"])
    distinct = len({q.key for q in read})
    shares = any("." in s or "%" in s for s in sizes)
    check("distinct", distinct if shares else None, report.get("distinct"))
    want = []
    for policy in policies:
        for size in sizes:
            share = float(size[:-1]) / 100 if size.endswith("%") else float(size) if "." in size else None
            entries = int(size) if share is None else max(2, int(share * distinct + 0.5))
            if not o["slots"] and entries >= 128 * (2 if o["dual"] else 1):
                return  # which of the near shapes is not promised
            runs = []
            for seed in range(o["seeds"] or 1):
                model, capacity, slots = model_of(policy, entries, o["seed"] + seed & MASK, o)
                runs.append((replay(model, read, o), model))
            want.append((policy, size, entries, capacity, slots, runs))
    if o["every"]:
        return windows_check(report, want, read, o, has, check)
    check("rows", len(want), len(report["rows"]))
    for (policy, size, entries, capacity, slots, runs), row in zip(want, report["rows"]):
        expected = counts(read[o["warmup"] :], runs[0][0][o["warmup"] :], has["size"])
        if policy == "full:belady":  # which of two keys that never come again leaves is open
            expected["evicted"] = row["evicted"]
            expected["refused"] = row["refused"]
        expected |= {"policy": policy, "asked": size, "size": entries, "capacity": capacity, "slots": slots}
        for what, value in expected.items():
            check(f"{policy} {size}: {what}", value, row[what])
        if o["seeds"]:
            ratios = [counts(read[o["warmup"] :], run[0][o["warmup"] :], False)["miss_ratio"] for run in runs]
            mean = sum(ratios) / len(ratios)
            check("mean", mean, row["miss_ratio_mean"])
            check("least", min(ratios), row["miss_ratio_least"])
            check("most", max(ratios), row["miss_ratio_most"])
            check("deviation", (sum((x - mean) ** 2 for x in ratios) / 2) ** 0.5, row["miss_ratio_deviation"])
    if alone and policies[0] != "full:belady":
        with open(outcomes, "rb") as f:
            check("outcomes", bytes(BYTE[x] for x in want[0][5][0][0]), f.read())
    if saves:
        range_check(r, snapshot, [(k, None, s) for k, s in want[0][5][0][1].entries()], policies[0] == "custom")


def windows_check(report, want, read, o, has, check):
    rows = iter(report["rows"])
    for policy, size, _, _, _, runs in want:
        for at, first in enumerate(range(o["warmup"], len(read), o["every"])):
            part = slice(first, first + o["every"])
            expected = counts(read[part], runs[0][0][part], has["size"])
            row = next(rows, {})
            if policy == "full:belady":
                expected["evicted"], expected["refused"] = row.get("evicted"), row.get("refused")
            expected |= {"policy": policy, "asked": size, "window": at + 1, "first": first + 1}
            for what, value in expected.items():
                check(f"window {at + 1} of {policy} {size}: {what}", value, row.get(what))
    check("windows", None, next(rows, None))


def range_check(r, snapshot, entries, order_only=False):
    """entries: of the table, in the order of keys: key, value, score; None: there is none."""
    keys = [k for k, _, _ in entries] or [0]
    first, last = sorted(r.choice((0, MASK, r.choice(keys), r.getrandbits(64))) for _ in range(2))
    limit = r.choice((1, 5, 100000))
    inside = [e for e in entries if first <= e[0] <= last]
    line = ["range", snapshot, first, last, "--limit", limit]
    report = heddle(*line, "--json")
    if not report:
        return
    same("entries", min(limit, len(inside)), report["entries"], *line)
    same("more", len(inside) > limit, report["more"], *line)
    same("rows", len(inside[:limit]), len(report["rows"]), *line)
    for want, row in zip(inside, report["rows"]):
        for what, value in zip(("key", "value", "score"), want):
            if not (order_only and what == "score"):
                same(f"{what} of {want[0]}", value, row[what], *line)


# ---- trace -----------------------------------------------------------------------------------------------------------

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def trace_report(r, folder):
    text = r.random() < 0.2
    path, form, requests, has = trace_of(draw_requests(r, text), r, folder)
    limit = r.choice((None, max(1, len(requests) // 2)))
    read = requests[:limit] if limit else requests
    line = ["trace", "stat", path, form] + (["--limit", limit] if limit else [])
    report = heddle(*line, "--json")
    if not report:
        return
    times = collections.Counter(q.key for q in read)
    ranked = sorted(times.values(), reverse=True)
    first = {}
    for q in read:
        first.setdefault(q.key, q.size)
    expected = {
        "requests": len(read),
        "most": max(ranked),
        "once": sum(n == 1 for n in ranked),
        "requested_bytes": sum(q.size for q in read),
        "time_first": min(q.time for q in read),
        "time_last": max(q.time for q in read),
        "time_span": max(q.time for q in read) - min(q.time for q in read),
        "exact": True,
        "distinct": len(times),
        "footprint_bytes": sum(first.values()),
        "reuse_share": 1 - len(times) / len(read),
        "once_share": sum(n == 1 for n in ranked) / len(times),
        "top_share": ranked[0] / len(read),
        "top_1_percent_share": sum(ranked[: max(1, len(times) // 100)]) / len(read),
        "top_10_percent_share": sum(ranked[: max(1, len(times) // 10)]) / len(read),
    }
    verbs = collections.Counter(q.verb for q in read)
    for verb, name in (("read", "read"), ("update", "update"), ("insert", "insert"), ("rmw", "read_modify_write")):
        expected[name] = verbs[verb] if 0 < verbs[verb] < len(read) else 0
    expected |= {"extra": has["extra"], "unread": has["unread"], "hashed": len(read) if text else 0, "time_unit": has["unit"]}
    for what, value in expected.items():
        same(what, value, report.get(what, type(value)() if value is not None else None), *line)
    same("assumed", bool(has["unit"]) and has["assumed"], report.get("time_unit_assumed", False), *line)
    convert_check(r, folder, path, form, requests, has, text)


def convert_check(r, folder, path, form, requests, has, text):
    to = r.choice(("csv", "txt", "oracleGeneral", "vscsi1", "vscsi2"))
    out = os.path.join(folder, "converted")
    unit = {"oracleGeneral": "s", "vscsi1": "us", "vscsi2": "us"}.get(to, has["unit"])
    a, b = NANOSECONDS[has["unit"] or "s"], NANOSECONDS[unit or "s"]
    timed = to != "txt" and has["unit"] is not None
    line = ["trace", "convert", path, form, out, to]
    report = heddle(*line, "--json")
    if not report:
        return
    same("requests", len(requests), report["requests"], *line)
    same("time_unit_to", unit if timed else None, report.get("time_unit_to"), *line)
    same("times_cut", sum(q.time * a % b != 0 for q in requests) if timed else 0, report.get("times_cut", 0), *line)
    line = ["trace", "print", out, to[:5] if to.startswith("vscsi") else to, "--limit", 1000000]
    report = heddle(*line, "--json")
    if not report:
        return
    same("rows", len(requests), len(report["rows"]), *line)
    for i, (q, row) in enumerate(zip(requests, report["rows"])):
        verb = {"csv": q.verb, "vscsi1": "read" if q.verb == "read" else "update"}.get(to.replace("2", "1"), "read")
        want = {"request": i + 1, "time": q.time * a // b if timed else 0, "size": q.size if to != "txt" else 1}
        want |= {"verb": "read_modify_write" if verb == "rmw" else verb}
        if not text:
            want["key"] = q.key
        if to == "oracleGeneral":
            want["next"] = q.next if q.next > 0 else "none"
        for what, value in want.items():
            same(f"request {i + 1}: {what}", value, row[what], *line)


# ---- Sequences -------------------------------------------------------------------------------------------------------

TURNED = str.maketrans("ACGT", "TGCA")


def draw_records(r):
    """Pairs of a name and its bases: repeats, so that k-mers come again; some short, some without any base."""
    pool = "".join(r.choice("ACGT") for _ in range(r.choice((40, 400))))
    records = []
    for i in range(r.choice((1, 2, 5, 30))):
        n = r.choice((0, 3, 20, 60, 200))
        at = r.randrange(len(pool))
        bases = "".join(b if r.random() < 0.98 else r.choice("ACGTNNRYacgtn-") for b in (pool * 6)[at : at + n])
        if r.random() < 0.1:
            bases = "N" * n
        records.append((f"r{i}", bases))
    return records


def sequences_of(records, r, path, form=None):
    """FASTA or FASTQ in a drawn form."""
    end, form = r.choice(("\n", "\r\n")), form or r.choice("@>")
    width, out = r.choice((10**9, 7, 60)), r.choice(("", "", end))
    for name, bases in records:
        lines = [bases[i : i + width] for i in range(0, len(bases), width)] if form == ">" else [bases]
        out += form + name + r.choice(("", " more > words @ +")) + end + end.join(lines) + end
        if form == "@":
            out += "+" + r.choice(("", name)) + end + "".join(r.choice("!@I~+") for _ in bases) + end
    data = (b"\xef\xbb\xbf" if r.random() < 0.2 else b"") + out.encode()
    if r.random() < 0.3:
        data = gzip.compress(data) + bytes(r.choice((0, 0, 512)))
    with open(path, "wb") as f:
        f.write(data)


def words_of(bases, k, canonical=True):
    bases = bases.upper()
    for i in range(len(bases) - k + 1):
        word = bases[i : i + k]
        if set(word) <= set("ACGT"):
            yield min(word, word.translate(TURNED)[::-1]) if canonical else word


def packed(word):
    value = 0
    for base in word:
        value = value << 2 | "ACGT".index(base)
    return value


def kmer_report(r, folder):
    path, snapshot = os.path.join(folder, "seq"), os.path.join(folder, "kmers")
    records, k, canonical = draw_records(r), r.choice((1, 2, 5, 15, 16, 31)), r.random() < 0.6
    sequences_of(records, r, path)
    design = r.choice(("hkv", "hkv", "ovs", "sl") + (("hive",) if k < 16 else ()))
    histogram, top = r.random() < 0.3, r.choice((0, 1, 10, 100000))
    line = ["kmer", path, k, "--design", design, "--threads", r.choice((1, 3)), "-o", snapshot]
    line += ([] if canonical else ["--forward"]) + (["--histogram"] if histogram else ["--top", top])
    count = collections.Counter(w for _, bases in records for w in words_of(bases, k, canonical))
    report = heddle(*line, "--json")
    if not report:
        return
    expected = {"counted": sum(count.values()), "distinct": len(count), "exact": True, "lost": 0, "k": k}
    expected |= {"canonical": canonical}
    for what, value in expected.items():
        same(what, value, report[what], *line)
    if histogram:
        steps = sorted(collections.Counter(count.values()).items())
        same("rows", steps, sorted((row["count"], row["kmers"]) for row in report["rows"]), *line)
        for row in report["rows"]:
            same("share", row["kmers"] / len(count), row["share"], *line)
    else:
        same("rows", sorted(count.values(), reverse=True)[:top], [row["count"] for row in report["rows"]], *line)
        for row in report["rows"]:
            same(row["kmer"], count[row["kmer"]], row["count"], *line)
            same("share", row["count"] / sum(count.values()), row["share"], *line)
    scored = design == "hkv"
    entries = sorted((packed(w), n, n if scored else None) for w, n in count.items())
    if k < 31 or packed("T" * 16) not in {e[0] for e in entries}:
        range_check(r, snapshot, entries, order_only=True)


def classify_report(r, folder):
    k, by, least = r.choice((3, 8, 15)), r.choice(("file", "record")), r.choice((1, 1, 3))
    paths, taxa, names = [], collections.defaultdict(set), []
    pool = draw_records(r)
    for i in range(r.choice((1, 2, 4))):
        records = [(f"{i}.{name}", bases) for name, bases in (draw_records(r) if r.random() < 0.7 else pool)]
        paths.append(os.path.join(folder, f"g{i}.fa"))
        sequences_of(records, r, paths[-1], ">")
        for name, bases in records:
            taxon = name if by == "record" else f"g{i}"
            names += [taxon] if taxon not in names else []
            for word in words_of(bases, k):
                taxa[word].add(taxon)
                taxa[word, "times"] = taxa.get((word, "times"), 0) + 1
    added = sum(n for w, n in taxa.items() if isinstance(w, tuple))
    taxa = {w: t for w, t in taxa.items() if isinstance(w, str)}
    reads = draw_records(r) + r.sample(pool, len(pool) // 2)
    reads = [(f"q{i}", bases) for i, (_, bases) in enumerate(reads)]
    sample = os.path.join(folder, "sample")
    sequences_of(reads, r, sample)
    line = ["--k", k, "--by", by, "--design", r.choice(("hkv", "hive", "ovs", "sl"))]
    lines = os.path.join(folder, "reads.tsv")
    how = ["--min-votes", least, "--batch", r.choice((1, 50, 1 << 20)), "--reads", lines]
    kept = r.random() < 0.4 and taxa
    if kept:
        heddle("classify", "--build", os.path.join(folder, "taxa.hd"), *paths, *line, "--json")
        line = ["classify", "--with", os.path.join(folder, "taxa.hd"), sample, *how]
    else:
        line = ["classify", sample, *paths, *line, *how]
    report = heddle(*line, "--json", code=0 if taxa else 3)
    if not report:
        return
    ambiguous = {w for w, t in taxa.items() if len(t) > 1}
    expected = collections.Counter(reads=len(reads))
    of, told = collections.Counter(), []
    for name, bases in reads:
        words = list(words_of(bases, k))
        found = [w for w in words if w in taxa]
        votes = collections.Counter(next(iter(taxa[w])) for w in found if w not in ambiguous)
        best = (votes.most_common(2) + [("", 0), ("", 0)])[:2]
        expected["looked_up"] += len(words)
        expected["found"] += len(found)
        win = best[0][1] > best[1][1] and best[0][1] >= least
        tie = best[0][1] == best[1][1]
        expected["classified" if win else "no_votes" if not votes else "ties" if tie else "few_votes"] += 1
        of[best[0][0] if win else None] += 1
        unclear = sum(w in ambiguous for w in found)
        told.append([name, best[0][0] if win else "", best[0][1], best[1][1], len(words), len(found), unclear])
    expected |= {"taxa": len(names), "distinct": len(taxa), "ambiguous": len(ambiguous), "added": added, "k": k}
    for what in [*expected, "looked_up", "found", "classified", "no_votes", "ties", "few_votes"]:
        same(what, expected[what], report[what], *line)
    alone = collections.Counter(next(iter(t)) for t in taxa.values() if len(t) == 1)
    rows = sorted((-of[name], i, name) for i, name in enumerate(names))
    same("taxa", [name for _, _, name in rows], [row["taxon"] for row in report["rows"]], *line)
    for row in report["rows"]:
        same(f"{row['taxon']}: k-mers", alone[row["taxon"]], row["kmers"], *line)
        same(f"{row['taxon']}: reads", of[row["taxon"]], row["reads"], *line)
        same(f"{row['taxon']}: share", of[row["taxon"]] / len(reads), row["share"], *line)
    with open(lines, encoding="utf-8") as f:
        same("--reads", [[str(x) for x in row] for row in told], [row.rstrip("\n").split("\t") for row in f][1:], *line)


# ---- Odd files: none of them becomes a count -------------------------------------------------------------------------

RECORD = struct.pack("<IQIq", 1, 7, 1, -1)
MAGIC = struct.pack("<Q", 0x123456789ABCDEF0)
LCS = MAGIC + struct.pack("<3Q", 1, 1, 1) + bytes(8152) + MAGIC
ODD = [  # bytes, FORMAT, and the keys that it has; None: it is refused
    (b"", "txt", None),
    (b"\xef\xbb\xbf", "txt", None),
    (b"\n\n# no key\n", "txt", None),
    (b"1\r2\r3\r", "txt", None),
    (b"key\n1\n2\n", "txt", None),
    (b"key\n1\n2\n", "txt,header=1", [1, 2]),
    (b"1\n\0\n", "txt", None),
    (b"18446744073709551615\n0\n", "txt", [2**64 - 1, 0]),
    (b"1\r\n2", "txt", [1, 2]),
    (b"", "csv", None),
    (b"key\n", "csv", None),
    (b"key\n\n\r\n", "csv", None),
    (b"key\r1\r2\r", "csv", None),
    (b"1,2\r3,4\r", "csv,key=1", None),
    (b"id,size\n5,1\n", "csv,key=1", [5]),
    (b"id,name\n5,beta\n", "csv,key=1", [5]),
    (b"id\n7\n", "csv,key=1", [7]),
    (b"alpha,beta\ngamma,delta\n", "csv,key=1", None),
    (b"key,op_count\n1,2\n7,1\n", "csv", [1, 1, 7]),
    (b"key,op_count\n1,0\n", "csv", None),
    (b"key,a (b, c)\n1,2\n", "csv", None),
    (b"a (b, c),key\n1,2\n", "csv", None),
    (b"key,size\n1,72057594037927936\n", "csv", None),
    (b"key,size\n1,-1\n", "csv", None),
    (b"key,size\n1,1.5\n", "csv", None),
    (b"key,size\n1,1e3\n", "csv", None),
    (b"key,time\n1,-2\n", "csv", None),
    (b"key,time\n1,1e9\n2,2.5e3\n", "csv", [1, 2]),
    (b"key,time\n1,1e20\n", "csv", None),
    (b"key,time\n1,18446744073709551616\n", "csv", None),
    (b"key,verb\n1,DELETE\n", "csv", None),
    (b"key,verb\n1,1\n", "csv", None),
    (b"key,x\n1\n", "csv", None),
    (b"key,x\n1,2,3\n", "csv", None),
    (b'key,x\n1,"2\n', "csv", None),
    (b'key,x\n1,"a,b"\n"2","c\nd"\n', "csv", [1, 2]),
    (b"x,key\r\n1,7\r\n", "csv", [7]),
    (b"7,nz:u:a,9,100,1,delete,0\n", "twitter", None),
    (b"7,a,9,100,1,get\n", "twitter", None),
    (b"1,SET,82,1,40\n2,GET,0,3,64\n", "cachelib", [1, 2, 2, 2]),
    (b"1,SET,82,0,40\n", "cachelib", None),
    (b"128166372003061629,usr,0,Read,4095,2,1\n", "msr", [0, 1]),
    (b"128166372003061629,usr,0,Read,4095,0,1\n", "msr", None),
    (b'{"timestamp": 5, "hash_ids": [9, 1]}\n', "mooncake", [9, 1]),
    (b'{"timestamp": 5}\n', "mooncake", None),
    (LCS + RECORD, "lcs", [7]),
    (LCS + RECORD + RECORD, "lcs", None),
    (LCS + RECORD[:23], "lcs", None),
    (RECORD, "binary,format=<IQIq,key=2,time=1,size=3,next=4", [7]),
    (RECORD[1:], "binary,format=<IQIq,key=2", None),
    (RECORD[:23], "oracleGeneral", None),
    (RECORD + RECORD[:1], "oracleGeneral", None),
    (RECORD, "oracleGeneral", [7]),
    (b"time,key,size,verb\n1,2,3,4\n", "oracleGeneral", None),
    (b"time,key,size,verb\n1,2,3,read\n" * 3, "vscsi", None),
    (gzip.compress(b"1\n2\n") + bytes(600), "txt", [1, 2]),
    (gzip.compress(b"1\n2\n") + bytes(600) + b"\1", "txt", None),
    (gzip.compress(b"1\n2\n")[:-3], "txt", None),
    (gzip.compress(b""), "txt", None),
]
ODD_SEQUENCES = [  # bytes, and how many 3-mers there are, or None
    (b"", None),
    (b"\n\n", None),
    (b"ACGT\n", None),
    (b">a", 0),
    (b">a\n", 0),
    (b">a\nAC\n>b\nNNNNNNN\n", 0),
    (b">a\rACGTACGT\r", None),
    (b"@a\rACGT\r+\rIIII\r", None),
    (b"@a\nACGT\n+\nIII\n", None),
    (b"@a\nACGT\n", None),
    (b"@a\n\n+\n\n", 0),
    (b"@a\nAC\n+\nII\n@b\nNNNN\n+\nIIII\n", 0),
    (b"\xef\xbb\xbf>a\nACGT\n", 2),
    (b"\xef\xbb\xbf@a\nACGT\n+\n@@@@\n", 2),
    (b">a\r\nACG\r\nT\r\n", 2),
    (gzip.compress(b">a\nACGT\n") + bytes(9000), 2),
    (gzip.compress(b">a\nACGT\n")[:-1], None),
]


def odd_files(folder):
    global case
    path = os.path.join(folder, "odd")
    for data, form, keys in ODD:
        case = f"odd {data[:60]!r}"
        with open(path, "wb") as f:
            f.write(data)
        refused = 0 if keys is not None else 2 if form.endswith("key=1") and b"\r" not in data else 3
        line = ["trace", "print", path, form, "--json"]
        report = heddle(*line, code=refused)
        if report:
            same("keys", keys, [number(row["key"]) for row in report["rows"]], *line)
        counted = keys is None or any(k not in RESERVED for k in keys)
        sweep = ["sweep", path, form, "-p", "lru", "--sizes", 4]
        for line in (["trace", "stat", path, form], ["sim", path, form, "lru", 4], sweep):
            report = heddle(*line, "--json", code=refused if line[0] == "trace" or counted else 3)
            if report:
                same("requests", len(keys), report.get("requests", report.get("rows", [{}])[0].get("requests")), *line)
    for data, kmers in ODD_SEQUENCES:
        case = f"odd {data[:60]!r}"
        with open(path, "wb") as f:
            f.write(data)
        report = heddle("kmer", path, 3, "--json", code=3 if kmers is None else 0)
        if report:
            same("counted", kmers, report["counted"], "kmer", path)
        good = os.path.join(folder, "good.fa")
        with open(good, "w", encoding="utf-8") as f:
            f.write(">g\nACGTAC\n")
        report = heddle("classify", path, good, "--k", 3, "--json", code=3 if kmers is None else 0)
        if report:
            same("looked_up", kmers, report["looked_up"], "classify", path)
        report = heddle("classify", good, path, "--k", 3, "--json", code=0 if kmers else 3)
        if report:
            same("added", kmers, report["added"], "classify", path)


def main():
    global case
    count, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder = os.getcwd()
    odd_files(folder)
    for i in range(count):
        for draw in (replay_report, replay_report, trace_report, kmer_report, classify_report):
            case = f"{draw.__name__}, seed {seed + i}"
            draw(random.Random(f"{draw.__name__} {seed + i}"), folder)
    print(reports)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
