#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# mutate.py - does the suite notice? Changes the core in one small place, mechanically (a comparison flipped, a fence dropped, a constant one too
# large, ...), builds it beside the tree, and runs fast tests until one fails. What no test notices is listed with its place.
#
#     tests/mutate.py SCRATCH --table tests/mutation.tsv [--count 200] [--seed 1] [--minutes M]
#
# SCRATCH gets a copy of the tree and a build of it; both are used again. The same seed chooses the same mutants of the same text, shared out over the
# files by their length, and in such an order that a run that ends early has tried all files evenly. Mutants that do not compile make way for the
# next of their file. One whose objects are, byte by byte, those of the sound text is no mutant ("same code"). Rows that the table has already are not
# run again, and keep what somebody wrote in their last column.
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

CORE = [
    "ref/accum.c", "ref/hash.h", "ref/hkv.c", "ref/hkv_batch.c", "ref/hkv_check.c", "ref/hkv_design.c", "ref/hkv_grow.c", "ref/hkv_layout.h",
    "ref/hkv_promote.c", "gpu/hkv/add.h", "gpu/hkv/decide.h", "gpu/hkv/deliver.h", "gpu/hkv/fetch.h", "gpu/hkv/gather.h", "gpu/hkv/group.h",
    "gpu/hkv/hold.h", "gpu/hkv/item.h", "gpu/hkv/list.h", "gpu/hkv/locate.h", "gpu/hkv/pins.h", "gpu/hkv/pipeline.h", "gpu/hkv/promote.h",
    "gpu/hkv/rows.h", "gpu/hkv/scan.h", "gpu/hkv/steps.h", "gpu/hkv/tlpv1.h", "gpu/hkv/tlpv2.h", "gpu/hkv/value.h", "gpu/hkv/victim.h",
    "gpu/hkv/warp.h", "lib/batch.c", "lib/select.c", "lib/snapshot.c", "lib/snapshot_load.c", "lib/snapshot_save.c", "lib/table.c",
    "concurrency/gate.c", "policies/custom.h", "policies/epoch_lfu.h", "policies/epoch_lru.h", "policies/lfu.h", "policies/lru.h",
    "policies/policy.h", "predicates/key_in.h", "predicates/score_in.h", "predicates/value_zero.h",
]

# The order in which tests are tried, fast ones first: (program, environment). A kernel's mutant goes to those of kernels only.
SHORT = {"HEDDLE_TEST_SCALE": "1/16"}
OF_REFERENCE = ["t_accept", "t_small", "t_api", "t_walk", "t_grow", "t_tiers", "t_oracle", "t_hash", "t_accum", "t_specs", "t_policies", "t_misuse",
                "t_snapshot", "t_reshape", "t_damage", "t_random", "t_locks", "t_lock_word", "t_alloc"]
OF_KERNELS = ["t_kernels", "t_tiers", "t_agree", "t_backend", "t_random", "t_replay"]
STRONGER = {"t_agree": {"HEDDLE_TEST_SCALE": "1/2"}, "t_random": {"HEDDLE_TEST_SCALE": "1/2"}}


def tests_for(path, thorough):
    order = OF_KERNELS if path.startswith("gpu/") else OF_REFERENCE + [t for t in OF_KERNELS if t not in OF_REFERENCE]
    return [(t, SHORT) for t in order] + [(t, STRONGER[t]) for t in STRONGER if thorough]


# ---- Mutants ---------------------------------------------------------------------------------------------------------------------------------

def mask(text):
    """The text with comments, strings, characters and directives as blanks: places in it are places in the text."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)


EXCHANGES = [  # (kind, what is looked for, what it becomes)
    ("comparison", r"(?<![<\->=!])<(?![<=])(?= )", "<="), ("comparison", r"<=", "<"), ("comparison", r"(?<= )(?<![->])>(?![>=])", ">="), ("comparison", r"(?<![>])>=", ">"),
    ("comparison", r"==", "!="), ("comparison", r"!=", "=="),
    ("connective", r"&&", "||"), ("connective", r"\|\|", "&&"),
    ("order", r"\bSIMT_(?:ACQUIRE|RELEASE|ACQ_REL)\b", "SIMT_RELAXED"), ("order", r"\bsimt_strel_", "simt_strlx_"), ("order", r"\bsimt_ldacq_", "simt_ldrlx_"),
    ("fence", r"\bHKV_SYNC\(\w+\);", ";"), ("fence", r"\bsimt_sync_\w+\([^()]*\);", ";"), ("fence", r"\bsimt_copy_wait\(\d\);", ";"), ("fence", r"\bsimt_join\(\);", ";"),
    ("one off", r" \+ 1\b(?![\w.])", ""), ("one off", r" - 1\b(?![\w.])", ""), ("one off", r"\+\+(?=[;)])", "+= 2"), ("one off", r"(?<=\[)(\w+)(?=\])", r"\1 + 1"),
    ("arithmetic", r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), ("arithmetic", r"(?<=[\w)\]]) - (?=[\w(])", " + "), ("arithmetic", r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    ("arithmetic", r"(?<=[\w)\]]) / (?=[\w(])", " * "), ("arithmetic", r"(?<=[\w)\]]) % (?=[\w(])", " / "), ("arithmetic", r" << ", " >> "), ("arithmetic", r" >> ", " << "),
    ("bits", r"(?<=[\w)\]]) & (?=[\w(~])", " | "), ("bits", r"(?<=[\w)\]]) \| (?=[\w(~])", " & "),
    ("constant", r"\btrue\b", "false"), ("constant", r"\bfalse\b", "true"), ("constant", r"(?<![\w.])0(?![\w.])", "1"), ("constant", r"(?<![\w.])1(?![\w.])", "2"),
    ("constant", r"(?<![\w.])(\d{1,5})(?![\w.])", None), ("constant", r"\bUINT64_MAX\b", "(UINT64_MAX - 1)"),
    ("branches", r"\bif \((?=[^\n]*\))", None), ("branches", r"\bwhile \((?=[^\n]*\) )", None), ("branches", r" \? ([\w>.+*-]+) : ([\w>.+*-]+)(?=[;,)])", r" ? \2 : \1"),
    ("statement", r"^[ \t]+(?!return|const |static |enum |case |default|break|typedef|struct |uint|int |bool |hkv_\w+ \w|simt_tile |size_t |hd_\w+ \w|double |void )[\w*(][^\n{}]*;(?=[ \t]*$)", ";"),
    ("statement", r"\b(?:break|continue);", ";"),
]


def closing(text, at):
    """Where the parenthesis that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


def candidates(path, text):
    """All mutants of a file: (kind, from, to, replacement)."""
    seen, found, code = set(), [], mask(text)
    body = code.find("{")  # what comes before is inclusions and enumerations
    for kind, pattern, to in EXCHANGES:
        for m in re.finditer(pattern, code, flags=re.M):
            a, b = m.span()
            if kind == "statement" and (not code[a:b].strip(" \t;") or code[a:b].count("(") != code[a:b].count(")")):
                continue
            if to is None and kind == "constant":
                if m.group(1) in ("0", "1"):
                    continue
                new = str(int(m.group(1)) + 1)
            elif to is None:
                b = closing(code, m.end() - 1) + 1
                if b == 0:
                    continue
                a = m.end() - 1
                new = "(!" + text[a:b] + ")"
            else:
                new = m.expand(to)
            if kind == "statement" and text[a] in " \t":
                a += len(text[a:b]) - len(text[a:b].lstrip())
            if a < body or (a, b, new) in seen or "\n" in text[a:b] or "SIMT_UNROLL" in text[a:b]:
                continue
            seen.add((a, b, new))
            found.append((kind, a, b, new))
    return found


def drawn(text, path, seed):
    """All mutants of a file in a drawn order in which kinds take turns."""
    rng = random.Random(f"{seed} {path}")
    by_kind = {}
    for c in candidates(path, text):
        by_kind.setdefault(c[0], []).append(c)
    order = []
    for k, kind in enumerate(sorted(by_kind)):
        rng.shuffle(by_kind[kind])
        n = len(by_kind[kind]) ** 0.5  # rare kinds come sooner than their share
        order += [((i + rng.random()) / n, c) for i, c in enumerate(by_kind[kind])]
    return [c for _, c in sorted(order)]


def quotas(texts, count):
    """How many of each file, by its lines of code; none of what has fewer than 4."""
    lines = {p: sum(1 for l in mask(t).split("\n") if l.strip(" \t{};")) for p, t in texts.items()}
    lines = {p: n for p, n in lines.items() if n >= 4}
    total, exact = sum(lines.values()), {}
    for p, n in lines.items():
        exact[p] = count * n / total
    quota = {p: int(x) for p, x in exact.items()}
    for p in sorted(exact, key=lambda p: quota[p] - exact[p]):
        if sum(quota.values()) < count:
            quota[p] += 1
    return quota


# ---- Building and running --------------------------------------------------------------------------------------------------------------------

class Bench:
    def __init__(self, scratch, cflags, data):
        self.src, self.build, self.env = os.path.join(scratch, "src"), os.path.join(scratch, "build"), dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", LC_ALL="C.UTF-8")
        self.env.update({"top_srcdir": self.src, "top_builddir": self.build, "HEDDLE": os.path.join(self.build, "heddle")})
        if data:
            self.env["HEDDLE_DATA"] = data
        self.cflags, self.out, self.usual = cflags, None, {}

    def prepare(self):
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            os.makedirs(self.src, exist_ok=True)
            for f in subprocess.check_output(["git", "ls-files", "-z"], cwd=here).decode().split("\0"):
                if f:
                    os.makedirs(os.path.dirname(os.path.join(self.src, f)), exist_ok=True)
                    shutil.copy(os.path.join(here, f), os.path.join(self.src, f))
            os.makedirs(self.build, exist_ok=True)
            before = os.path.join(self.build, "before.h")  # kernels that are not inlined are compiled in a fifth of the time
            with open(before, "w") as f:
                f.write("#define SIMT_FN static inline __attribute__((unused))\n")
            configure = [os.path.join(self.src, "configure"), "-q", "--with-cuda=no", "--disable-shared", f"CFLAGS={self.cflags} -include {before}"]
            if self.call(["autoreconf", "-fi"], self.src) or self.call(configure, self.build):
                sys.exit(self.out)

    def call(self, command, where, seconds=3600, env=None):
        """The exit code; -9 when it took too long."""
        try:
            p = subprocess.Popen(command, cwd=where, env=env or self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            self.out = p.communicate(timeout=seconds)[0].decode(errors="replace")
            return p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            p.communicate()
            return -9

    def make(self, *targets):
        return self.call(["make", "-s", *targets], self.build)

    def objects(self):
        h = hashlib.sha256()
        for root in ("ref", "lib", "concurrency", "judge"):
            folder = os.path.join(self.build, root)
            for f in sorted(os.listdir(folder)):
                if f.endswith(".o"):
                    h.update(f.encode() + open(os.path.join(folder, f), "rb").read())
        return h.hexdigest()

    def test(self, name, env):
        """None: it passed; else how it failed. "hangs": it took many times as long as on the sound text."""
        usual = (name, env.get("HEDDLE_TEST_SCALE"))
        if self.make("tests/" + name):
            return "build"
        began = time.time()
        code = self.call([os.path.join(self.build, "tests", name)], self.build, 10 + 6 * self.usual.get(usual, 600), dict(self.env, **env))
        self.usual.setdefault(usual, time.time() - began)
        return None if code in (0, 77) else "hangs" if code == -9 else "crashes" if code < 0 else "fails"


def commit():
    try:
        return subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=os.path.dirname(os.path.abspath(__file__))).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


COLUMNS = ["number", "file", "line", "kind", "was", "became", "fate", "by", "seconds", "note"]


def read_table(path):
    rows = {}
    if os.path.exists(path):
        for l in open(path):
            if l.startswith("#") or l.startswith("number\t"):
                continue
            f = l.rstrip("\n").split("\t")
            rows[tuple(f[1:6])] = dict(zip(COLUMNS, f + [""] * (len(COLUMNS) - len(f))))
    return rows


def write_table(path, rows, a, planned):
    """All rows, and above them what they come to."""
    n = {fate: sum(1 for r in rows if r["fate"] == fate) for fate in ("killed", "survived", "same code", "equivalent")}
    real = n["killed"] + n["survived"]
    with open(path + ".part", "w") as f:
        f.write("# SPDX-License-Identifier: Apache-2.0\n")
        f.write(f"# tests/mutate.py --count {a.count} --seed {a.seed}, commit {a.commit}\n")
        f.write(f"# {len(rows)} of {planned} were tried: {n['killed']} killed, {n['survived']} survived; {n['same code']} compile to the same code, "
                f"{n['equivalent']} change nothing that can be seen (the note says why): {100 * n['killed'] / max(real, 1):.1f} % killed\n")
        f.write("\t".join(COLUMNS) + "\n")
        for r in rows:
            f.write("\t".join(str(r[c]) for c in COLUMNS) + "\n")
    os.rename(path + ".part", path)


def shown(text):
    return re.sub(r"\s+", " ", text).strip()


def fate_of(bench, path, text, c, sound, thorough):
    """(fate, by): None when it does not compile."""
    kind, at, to, new = c
    with open(os.path.join(bench.src, path), "w") as f:
        f.write(text[:at] + new + text[to:])
    if bench.make("libheddle_all.la", "libheddle_work.la"):
        return None
    if bench.objects() == sound:
        return "same code", ""
    for name, env in tests_for(path, thorough):
        if not os.path.exists(os.path.join(bench.src, "tests", name + ".c")):
            continue
        how = bench.test(name, env)
        if how == "build":
            return None
        if how:
            return "killed", name + ("" if env is SHORT else " (longer)") + ("" if how == "fails" else ", " + how)
    return "survived", ""


def main():
    p = argparse.ArgumentParser(description="Mechanical mutants of the core: which does the suite notice?")
    p.add_argument("scratch")
    p.add_argument("--table", required=True)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after this long")
    p.add_argument("--cflags", default="-O1 -g0")
    p.add_argument("--data", default=os.environ.get("HEDDLE_DATA", ""))
    p.add_argument("--thorough", action="store_true", help="run what fast tests do not kill through longer ones; survivors in the table are tried again")
    p.add_argument("--list", action="store_true", help="only say which mutants there would be")
    a = p.parse_args()
    a.commit = commit()
    bench = Bench(os.path.abspath(a.scratch), a.cflags, a.data)
    start = time.time()
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not a.list:
        bench.prepare()
    texts = {f: open(os.path.join(here, f)).read() for f in CORE if os.path.exists(os.path.join(here, f))}
    quota = quotas(texts, a.count)
    order = {f: drawn(texts[f], f, a.seed) for f in texts}
    turns = sorted(((k + 0.5) / n, f) for f, n in quota.items() for k in range(n))
    if a.list:
        for f, n in quota.items():
            for kind, at, to, new in order[f][:n]:
                print(f"{f}:{texts[f].count(chr(10), 0, at) + 1}\t{kind}\t{shown(texts[f][at:to])}\t{shown(new)}")
        return 0
    for f, t in texts.items():  # an earlier run may have been stopped in the middle of one
        with open(os.path.join(bench.src, f), "w") as out:
            out.write(t)
    if bench.make("libheddle_all.la", "libheddle_work.la", "libtesting.la"):
        print(bench.out, file=sys.stderr)
        return 1
    sound = bench.objects()
    for name, env in sorted({(t, tuple(e.items())) for f in ("ref/", "gpu/") for t, e in tests_for(f, a.thorough)}):
        began = time.time()
        how = bench.test(name, dict(env))
        print(f"{name} {dict(env)}: {how or 'ok'}, {time.time() - began:.1f} s", flush=True)
        if how:
            print(bench.out[-3000:], file=sys.stderr)
            return 1
    known, rows = read_table(a.table), []
    for number, (_, f) in enumerate(turns, 1):
        while order[f]:
            c = order[f].pop(0)
            row = {"number": number, "file": f, "line": texts[f].count("\n", 0, c[1]) + 1, "kind": c[0], "was": shown(texts[f][c[1]:c[2]]), "became": shown(c[3])}
            before = known.get(tuple(str(row[k]) for k in COLUMNS[1:6]))
            if before and not (a.thorough and before["fate"] == "survived"):
                rows.append(dict(before, number=number))
                break
            if time.time() - start > a.minutes * 60:
                order[f] = []
                break
            began = time.time()
            try:
                fate = fate_of(bench, f, texts[f], c, sound, a.thorough)
            finally:
                with open(os.path.join(bench.src, f), "w") as out:
                    out.write(texts[f])
            if fate is None:
                continue
            row.update(fate=fate[0], by=fate[1], seconds=f"{time.time() - began:.0f}", note=before["note"] if before else "")
            rows.append(row)
            print(f"{number}\t{f}:{row['line']}\t{c[0]}\t{row['was']} -> {row['became']}\t{fate[0]}\t{fate[1]}\t{row['seconds']} s", flush=True)
            write_table(a.table, rows, a, len(turns))
            break
    write_table(a.table, rows, a, len(turns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
