#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# mutate.py - mutation testing: makes one small change in the core (mutants.py lists the changes), builds a copy of the
# tree with it, and runs fast tests until one fails. The table lists each mutant, its place, and the test that failed.
#
#     tests/mutate.py SCRATCH --table bench/lab/mutation.tsv [--count 200] [--seed 1] [--jobs N] [--minutes M]
#     tests/mutate.py SCRATCH --table bench/lab/mutation_hive.tsv --of hive --count 60
#
# Each job has a copy of the tree and a build of it, SCRATCH/1 to SCRATCH/N. Later runs use them again.
#
# - The seed determines the mutants of a given source, for any number of jobs. A file's share is proportional to its
#   length. The order is such that a run that ends early has tried all files evenly.
# - A mutant that does not compile is replaced by the next one of its file. A mutant with the same object code as the
#   original is listed as "same code".
# - Rows that the table already has count as tried and are not run again. Their last column, a note, is kept.
# - A failure counts only if the original program passes right after it, under the same load. A timeout counts only if
#   the original program needs less than a third of the time limit. Otherwise both run again with a longer limit.
import argparse
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import mutants  # noqa: E402

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORES = len(os.sched_getaffinity(0))

# The tests in the order in which they are tried, fast ones first, and their environment. A mutant of a kernel is tried
# with the tests of kernels only, a mutant of a lock with those of locks first.
SHORT, LONG = {"HEDDLE_TEST_SCALE": "1/16"}, {"HEDDLE_TEST_SCALE": "1/2"}
OF_REFERENCE = ["t_accept", "t_small", "t_api", "t_walk", "t_grow", "t_tiers", "t_oracle", "t_hash", "t_accum", "t_specs", "t_policies", "t_misuse",
                "t_snapshot", "t_reshape", "t_damage", "t_tables_hkv", "t_growing", "t_random", "t_locks", "t_lock_word", "t_lock_streams", "t_alloc", "t_threads"]
OF_KERNELS = ["t_kernels", "t_accum", "t_calls", "t_tiers", "t_agree", "t_backend", "t_random", "t_replay"]
STRONGER = ["t_agree", "t_random"]
OF_DEVICES = ["t_device", "t_graph", "t_device_growth", "t_device_walk", "t_hkv_growth", "t_toy_design"] # devices that the tests imitate
# The tests for the files of Hive.
OF_HIVE = ["t_hive", "t_dictionary", "t_growing", "t_tables_hive"]
OF_HIVE_KERNELS = ["t_hive", "t_hive_agree", "t_growing", "t_random"]
OF_HIVE_BACKENDS = ["t_alloc", "t_device_faults"]


def tests_for(path, thorough):
    if "hive" in path:
        order = OF_HIVE_KERNELS if path.startswith("gpu/") else OF_HIVE + [t for t in OF_HIVE_KERNELS if t not in OF_HIVE]
        order = order + (OF_HIVE_BACKENDS if path.startswith("lib/") else [])
        return [(t, SHORT) for t in order] + [(t, LONG) for t in ("t_hive_agree", "t_random") if thorough]
    of_file = OF_KERNELS if path.startswith("gpu/") else OF_REFERENCE + [t for t in OF_KERNELS if t not in OF_REFERENCE]
    first = [t for t in OF_REFERENCE if t.startswith("t_lock")] if path.startswith("concurrency/") else []
    return [(t, SHORT) for t in first + [t for t in of_file if t not in first] + OF_DEVICES] + [(t, LONG) for t in STRONGER if thorough]


# ---- Building and running --------------------------------------------------------------------------------------------

HUNG = object()


class Unsound(Exception):
    """The original does not build, or fails a test."""


def sources():
    """The files of the tree: those under version control; in a release, all."""
    try:
        listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=HERE, stderr=subprocess.DEVNULL).decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = [os.path.relpath(os.path.join(folder, f), HERE) for folder, _, names in os.walk(HERE) for f in names]
    return [f for f in listed if f and os.path.isfile(os.path.join(HERE, f))]


class Bench:
    """A copy of the tree, its build, and the test programs of the original."""

    def __init__(self, folder, a):
        self.folder, self.cflags, self.jobs, self.usual, self.files = folder, a.cflags, a.jobs, {}, mutants.CORES[a.of]
        self.src, self.build, self.sound = (os.path.join(folder, name) for name in ("src", "build", "sound"))
        self.env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", LC_ALL="C.UTF-8", top_srcdir=self.src, top_builddir=self.build, HEDDLE=os.path.join(self.build, "heddle"))
        if a.jobs > 1:
            self.env.update(OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
        if a.data:
            self.env["HEDDLE_DATA"] = a.data

    def call(self, command, where, seconds=3600, env=None):
        """(the exit code or HUNG; the output)"""
        p = subprocess.Popen(command, cwd=where, env=env or self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            out = p.communicate(timeout=seconds)[0].decode(errors="replace")
            return p.returncode, out
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            return HUNG, p.communicate()[0].decode(errors="replace")

    def made(self, *targets):
        return self.call(["make", "-s", *targets], self.build)[0] == 0

    def must(self, command, where):
        code, out = self.call(command, where)
        if code != 0:
            raise Unsound(out)

    def copy_tree(self):
        """Copies the files that differ from the tree, including those that an interrupted run left mutated."""
        for f in sources():
            to = os.path.join(self.src, f)
            with open(os.path.join(HERE, f), "rb") as new:
                text = new.read()
            if not os.path.exists(to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy2(os.path.join(HERE, f), to)  # keeps times: a release's configure must stay newer than its sources
            elif open(to, "rb").read() != text:
                with open(to, "wb") as old:
                    old.write(text)

    def configure(self):
        """Configures with relative paths, so that the build can be copied."""
        os.makedirs(self.build, exist_ok=True)
        if os.path.exists(os.path.join(self.build, "Makefile")):
            return
        with open(os.path.join(self.build, "before.h"), "w") as f:  # without forced inlining kernels compile five times as fast
            f.write("#define SIMT_FN static inline __attribute__((unused))\n")
        if not os.path.exists(os.path.join(self.src, "configure")):
            self.must(["autoreconf", "-fi"], self.src)
        self.must(["../src/configure", "-q", "--with-cuda=no", "--disable-shared", f"CFLAGS={self.cflags} -include before.h"], self.build)

    def prepare(self, thorough):
        """Builds the original and measures how long its tests take."""
        tests = {(name, env["HEDDLE_TEST_SCALE"]): env for path in self.files for name, env in tests_for(path, thorough)}
        self.copy_tree()
        self.configure()
        self.must(["make", "-s", f"-j{CORES}", "libheddle_all.la", "libheddle_work.la", *sorted({"tests/" + name for name, _ in tests})], self.build)
        self.sound_objects = self.objects()
        os.makedirs(self.sound, exist_ok=True)
        for name, _ in tests:
            shutil.copy(os.path.join(self.build, "tests", name), self.sound)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for key, (how, seconds, out) in zip(tests, pool.map(lambda key: self.run(self.sound, key[0], tests[key], 3600), tests)):
                if how:
                    raise Unsound(f"{key[0]} {how} on the sound text\n{out[-3000:]}")
                self.usual[key] = seconds

    def like(self, first):
        """Copies the build of `first`."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(first.folder, self.folder, symlinks=True)
        self.sound_objects, self.usual = first.sound_objects, dict(first.usual)

    def objects(self):
        """A hash of the machine code of all mutated folders."""
        h = hashlib.sha256()
        for room in ("base", "concurrency", "gpu", "judge", "lib", "ref"):
            for folder, below, names in sorted(os.walk(os.path.join(self.build, room))):
                for f in sorted(names):
                    if f.endswith(".o"):
                        h.update(f.encode() + open(os.path.join(folder, f), "rb").read())
        return h.hexdigest()

    def run(self, folder, name, env, limit):
        """(None or the kind of failure; the seconds; the output)"""
        began = time.time()
        code, out = self.call([os.path.join(folder, name)], self.build, limit, dict(self.env, **env))
        return None if code in (0, 77) else "hangs" if code is HUNG else "crashes" if code < 0 else "fails", time.time() - began, out

    def test(self, name, env):
        """How the test fails with the mutant; None: it passes."""
        key = name, env["HEDDLE_TEST_SCALE"]
        for _ in range(5):
            limit = 10 + 6 * self.usual[key]
            how, _, _ = self.run(os.path.join(self.build, "tests"), name, env, limit)
            if not how:
                return None
            unsound, seconds, _ = self.run(self.sound, name, env, limit)
            if not unsound and (how != "hangs" or seconds < limit / 3):
                return how
            self.usual[key] = max(2 * self.usual[key], seconds)
        return None

    def fate(self, path, text, c, thorough):
        """(fate, test) of the mutant; None if it does not compile."""
        where, (_, at, to, new) = os.path.join(self.src, path), c
        try:
            write(where, text[:at] + new + text[to:])
            if not self.made("libheddle_all.la", "libheddle_work.la"):
                return None
            if self.objects() == self.sound_objects:
                return "same code", ""
            for name, env in tests_for(path, thorough):
                if not self.made("tests/" + name):
                    return None
                how = self.test(name, env)
                if how:
                    return "killed", name + ("" if env is SHORT else " (longer)") + ("" if how == "fails" else ", " + how)
            return "survived", ""
        finally:
            write(where, text)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


# ---- The table -------------------------------------------------------------------------------------------------------

COLUMNS = ["file", "line", "kind", "was", "became", "fate", "by", "seconds", "commit", "note"]


def read_table(path):
    if not os.path.exists(path):
        return []
    lines = [l.rstrip("\n").split("\t") for l in open(path) if not l.startswith(("#", "file\t"))]
    return [dict(zip(COLUMNS, f + [""] * (len(COLUMNS) - len(f)))) for f in lines]


def write_table(path, rows, a):
    """Writes all rows, and a summary above them."""
    n = {fate: sum(1 for r in rows if r["fate"] == fate) for fate in ("killed", "survived", "same code", "equivalent")}
    real = n["killed"] + n["survived"]
    with open(path + ".part", "w") as f:
        f.write("# SPDX-License-Identifier: Apache-2.0\n")
        f.write("# tests/mutate.py " + ("" if a.of == "core" else f"--of {a.of} ") + f"--count {a.count} --seed {a.seed}\n")
        f.write(f"# {len(rows)} of {max(a.count, len(rows))} were tried: {n['killed']} killed, {n['survived']} survived; {n['same code']} compile to the same code, "
                f"{n['equivalent']} change nothing that can be seen (the note says why): {100 * n['killed'] / max(real, 1):.1f} % killed\n")
        f.write("\t".join(COLUMNS) + "\n")
        for r in rows:
            f.write("\t".join(str(r[c]) for c in COLUMNS) + "\n")
    os.rename(path + ".part", path)


def commit():
    try:
        return subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=HERE, stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# ---- The mutants to try, and the jobs --------------------------------------------------------------------------------

class Plan:
    """The rows of the table, the mutants that are still to be tried, and the next mutant for a job."""

    def __init__(self, a):
        self.a, self.lock, self.start = a, threading.Lock(), time.time()
        self.texts = {f: open(os.path.join(HERE, f)).read() for f in mutants.CORES[a.of]}
        self.order = {f: mutants.drawn(t, f, a.seed) for f, t in self.texts.items()}
        self.rank = {f: {c: i for i, c in enumerate(order)} for f, order in self.order.items()}
        self.known, self.again = read_table(a.table), []
        have = dict.fromkeys(self.texts, 0)
        for row in self.known:
            f = row["file"]
            if f not in self.texts:
                continue
            have[f] += 1
            c = mutants.taken(self.order[f], self.texts[f], row)
            if c:
                self.order[f].remove(c)
            if c and a.thorough and row["fate"] == "survived":
                self.again.append((f, c, row))
        quota = mutants.quotas(self.texts, a.count)
        turns = sorted(((k + 0.5) / n, f) for f, n in quota.items() for k in range(have[f], n))
        self.turns = [f for _, f in turns][:max(0, a.count - len(self.known))]
        self.left = list(self.turns)
        self.fresh = {f: {} for f in self.texts}  # rank -> row

    def listed(self):
        order = {f: iter(cs) for f, cs in self.order.items()}
        for f, c in [(f, next(order[f])) for f in self.turns]:
            yield f, mutants.line_of(self.texts[f], c), c[0], mutants.shown(self.texts[f][c[1]:c[2]]), mutants.shown(c[3])

    def draw(self, f):
        with self.lock:
            return self.order[f].pop(0) if self.order[f] else None

    def next(self):
        """(file, mutant, row): a mutant to try again. (file, None, None): try the next mutant of the file. None: done."""
        with self.lock:
            if time.time() - self.start > self.a.minutes * 60:
                return None
            return self.again.pop(0) if self.again else (self.left.pop(0), None, None) if self.left else None

    def note(self, f, c, row, fate, seconds):
        text = self.texts[f]
        new = {"file": f, "line": mutants.line_of(text, c), "kind": c[0], "was": mutants.shown(text[c[1]:c[2]]), "became": mutants.shown(c[3]),
               "fate": fate[0], "by": fate[1], "seconds": f"{seconds:.0f}", "commit": self.a.commit, "note": row["note"] if row else ""}
        with self.lock:
            if row:
                row.update(new)
            else:
                self.fresh[f][self.rank[f][c]] = new
            self.save()
            print(f"{f}:{new['line']}\t{c[0]}\t{new['was']} -> {new['became']}\t{fate[0]}\t{fate[1]}\t{new['seconds']} s", flush=True)

    def save(self):
        """Writes the rows in the order of the turns, not in the order in which the jobs finished."""
        of_file = {f: iter([row for _, row in sorted(rows.items())]) for f, rows in self.fresh.items()}
        fresh = [next(of_file[f], None) for f in self.turns]
        write_table(self.a.table, self.known + [row for row in fresh if row], self.a)

    def work(self, bench):
        while (task := self.next()):
            f, c, row = task
            fate, c = None, c or self.draw(f)
            while c and not fate:
                began = time.time()
                fate = bench.fate(f, self.texts[f], c, self.a.thorough)
                if fate:
                    self.note(f, c, row, fate, time.time() - began)
                else:
                    c = None if row else self.draw(f)


def main():
    p = argparse.ArgumentParser(description="Mechanical mutants of the core: which does the suite notice?")
    p.add_argument("scratch")
    p.add_argument("--table", required=True)
    p.add_argument("--of", choices=sorted(mutants.CORES), default="core", help="what is changed: the core, or the second design")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1, help="so many at a time, each with a tree and a build of its own")
    p.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after this long")
    p.add_argument("--cflags", default="-O1 -g0")
    p.add_argument("--commit", default=commit(), help="the name of the text, where it is not under version control")
    p.add_argument("--data", default=os.environ.get("HEDDLE_DATA", ""))
    p.add_argument("--thorough", action="store_true", help="run what fast tests do not kill through longer ones; survivors in the table are tried again")
    p.add_argument("--list", action="store_true", help="only say which mutants there would be")
    a = p.parse_args()
    plan, failed = Plan(a), []
    if a.list:
        for row in plan.listed():
            print(*row, sep="\t")
        return 0

    if not plan.left and not plan.again:
        plan.save()
        return 0

    benches = [Bench(os.path.join(os.path.abspath(a.scratch), str(number)), a) for number in range(1, a.jobs + 1)]
    began = time.time()
    try:
        benches[0].prepare(a.thorough)
        for bench in benches[1:]:
            bench.like(benches[0])
    except Unsound as e:
        print(e, file=sys.stderr)
        return 1
    slowest = sorted(benches[0].usual.items(), key=lambda u: -u[1])[:3]
    print(f"the sound text in {time.time() - began:.0f} s; slowest: " + ", ".join(f"{t} at {scale} {s:.1f} s" for (t, scale), s in slowest), flush=True)

    def job(bench):
        try:
            plan.work(bench)
        except BaseException as e:  # the others go on
            print(f"{bench.folder}: {e!r}", file=sys.stderr, flush=True)
            failed.append(bench)

    jobs = [threading.Thread(target=job, args=(bench,)) for bench in benches]
    for j in jobs:
        j.start()
    for j in jobs:
        j.join()
    plan.save()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
