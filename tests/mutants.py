# SPDX-License-Identifier: Apache-2.0
#
# mutants.py - the mutants that mutate.py tries: small changes of the sources below, found by the patterns of EXCHANGES.
# candidates() lists the mutants of a file, drawn() puts them in the order in which they are tried.
import random
import re

CORE = [
    "ref/accum.c", "policies/hashes/hash.h", "ref/hkv/hkv.c", "ref/hkv/batch.c", "ref/hkv/check.c", "ref/hkv/design.c", "ref/hkv/grow.c", "ref/hkv/layout.h",
    "ref/hkv/promote.c", "gpu/add.h", "gpu/hkv/decide.h", "gpu/hkv/deliver.h", "gpu/hkv/fetch.h", "gpu/hkv/coalesced_claim.h", "gpu/hkv/coalesced_copy.h",
    "gpu/hkv/coalesced_loop.h", "gpu/hkv/coalesced_members.h", "gpu/hkv/coalesced_search.h", "gpu/hkv/coalesced_victim.h", "gpu/hkv/direct.h",
    "gpu/hkv/copy_group.h", "gpu/hkv/repeated_keys.h", "gpu/hkv/hold.h", "gpu/hkv/item.h", "gpu/hkv/list.h", "gpu/hkv/locate.h", "gpu/hkv/pins.h", "gpu/hkv/pipeline.h",
    "gpu/hkv/pointers.h", "gpu/hkv/promote.h", "gpu/hkv/rows.h", "gpu/hkv/rule.h", "gpu/hkv/scan.h", "gpu/hkv/steps.h", "gpu/hkv/tlpv1.h", "gpu/hkv/tlpv2.h", "gpu/hkv/value.h",
    "gpu/hkv/victim.h", "gpu/hkv/warp.h", "lib/batch.c", "gpu/hkv/select.c", "lib/grow.c", "lib/run.c", "lib/snapshot.c", "lib/snapshot_load.c",
    "lib/snapshot_open.c", "lib/snapshot_read.c", "lib/snapshot_save.c", "lib/table.c", "base/atomic_file.c", "concurrency/gate.c", "concurrency/streams.c", "concurrency/word.h", "policies/custom.h", "policies/epoch_lfu.h",
    "policies/epoch_lru.h", "policies/lfu.h", "policies/lru.h", "policies/policy.h", "policies/predicates/all.h", "policies/predicates/key_in.h",
    "policies/predicates/key_masked.h", "policies/predicates/predicate.h", "policies/predicates/score_below.h", "policies/predicates/score_in.h", "policies/predicates/value_zero.h",
]
HIVE = [
    "ref/hive/hive.c", "ref/hive/batch.c", "ref/hive/check.c", "ref/hive/design.c", "ref/hive/layout.h", "ref/hive/resize.c", "gpu/hive/claim.h",
    "gpu/hive/displace_warp.h", "gpu/hive/displace.h", "gpu/hive/item.h", "gpu/hive/merge.h", "gpu/hive/resize.h", "gpu/hive/rows.h", "gpu/hive/search.h", "gpu/hive/in_flight.h", "gpu/hive/stash.h",
    "gpu/hive/steps.h", "gpu/hive/batched.h", "gpu/hive/scan.h", "gpu/hive/word.h", "gpu/hive/launch.c",
]
CORES = {"core": CORE, "hive": HIVE}


def mask(text):
    """The text with comments, strings, characters and directives replaced by blanks. Offsets stay the same."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)


EXCHANGES = [  # (kind, pattern, replacement; None: see candidates())
    ("comparison", r"(?<![<\->=!])<(?![<=])(?= )", "<="), ("comparison", r"<=", "<"), ("comparison", r"(?<= )(?<![->])>(?![>=])", ">="), ("comparison", r"(?<![>])>=", ">"),
    ("comparison", r"==", "!="), ("comparison", r"!=", "=="),
    ("connective", r"&&", "||"), ("connective", r"\|\|", "&&"),
    ("order", r"\bSIMT_(?:ACQUIRE|RELEASE|ACQ_REL)\b", "SIMT_RELAXED"), ("order", r"\bsimt_strel_", "simt_strlx_"), ("order", r"\bsimt_ldacq_", "simt_ldrlx_"),
    ("fence", r"\bHKV_SYNC\(\w+\);", ";"), ("fence", r"\bsimt_fence(_system)?\(\);", ";"), ("fence", r"\bsimt_sync_\w+\([^()]*\);", ";"), ("fence", r"\bsimt_copy_wait\(\d\);", ";"),
    ("one off", r" \+ 1\b(?![\w.])", ""), ("one off", r" - 1\b(?![\w.])", ""), ("one off", r"\+\+(?=[;)])", "+= 2"), ("one off", r"(?<=\[)(\w+)(?=\])", r"\1 + 1"),
    ("arithmetic", r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), ("arithmetic", r"(?<=[\w)\]]) - (?=[\w(])", " + "), ("arithmetic", r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    ("arithmetic", r"(?<=[\w)\]]) / (?=[\w(])", " * "), ("arithmetic", r"(?<=[\w)\]]) % (?=[\w(])", " / "), ("arithmetic", r" << ", " >> "), ("arithmetic", r" >> ", " << "),
    ("bits", r"(?<=[\w)\]]) & (?=[\w(~])", " | "), ("bits", r"(?<=[\w)\]]) \| (?=[\w(~])", " & "),
    ("constant", r"\btrue\b", "false"), ("constant", r"\bfalse\b", "true"), ("constant", r"(?<![\w.])0(?![\w.])", "1"), ("constant", r"(?<![\w.])1(?![\w.])", "2"),
    ("constant", r"(?<![\w.])(\d{1,5})(?![\w.])", None), ("constant", r"\bUINT64_MAX\b", "(UINT64_MAX - 1)"),
    ("branches", r"\bif \((?=[^\n]*\))", None), ("branches", r"\bwhile \((?=[^\n]*\) )", None), ("branches", r" \? ([\w>.+*-]+) : ([\w>.+*-]+)(?=[;,)])", r" ? \2 : \1"),
    ("statement", r"^[ \t]+(?!return|const |static |enum |case |default|break|typedef|struct |uint|int |bool |h(?:kv|ive)_\w+ \w|simt_tile |size_t |hd_\w+ \w|double |void )[\w*(][^\n{}]*;(?=[ \t]*$)", ";"),
    ("statement", r"\b(?:break|continue);", ";"),
]


def closing(text, at):
    """The offset of the parenthesis that closes the one at `at`; -1: none."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


def candidates(path, text):
    """All mutants of a file: (kind, first offset, end offset, replacement)."""
    seen, found, code = set(), [], mask(text)
    body = code.find("{")  # before it: includes and enumerations
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


def line_of(text, c):
    return text.count("\n", 0, c[1]) + 1


def shown(text):
    return re.sub(r"\s+", " ", text).strip()


def drawn(text, path, seed):
    """All mutants of a file, in a random order in which the kinds alternate."""
    rng = random.Random(f"{seed} {path}")
    by_kind = {}
    for c in candidates(path, text):
        by_kind.setdefault(c[0], []).append(c)
    order = []
    for kind in sorted(by_kind):
        rng.shuffle(by_kind[kind])
        n = len(by_kind[kind]) ** 0.5  # a rare kind comes sooner than its share
        order += [((i + rng.random()) / n, c) for i, c in enumerate(by_kind[kind])]
    return [c for _, c in sorted(order)]


def quotas(texts, count):
    """The number of mutants for each file, in proportion to its lines of code; none for a file of fewer than 4."""
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


def taken(order, text, row):
    """The mutant of a row of the table: the same change at the same line or, if lines have moved, at the nearest line.
    None: the file no longer has this text."""
    same = [c for c in order if c[0] == row["kind"] and shown(text[c[1]:c[2]]) == row["was"] and shown(c[3]) == row["became"]]
    return min(same, key=lambda c: abs(line_of(text, c) - int(row["line"])), default=None)
