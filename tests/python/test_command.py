# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command from Python: reports, traces from arrays, k-mers, stories, plots."""

import collections
import io
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import heddle
from heddle import _command

try:
    import numpy
except ImportError:
    numpy = None

DATA = pathlib.Path(os.environ.get("HEDDLE_DATA", "/nowhere"))
TRACE = DATA / "cloudPhysicsIO.oracleGeneral.zst"
needs_numpy = unittest.skipIf(numpy is None, "NumPy is missing")


def lru_misses(keys, size):
    """Misses of a fully associative LRU cache."""
    cache, misses = collections.OrderedDict(), 0
    for key in keys:
        if key in cache:
            cache.move_to_end(key)
            continue
        misses += 1
        cache[key] = None
        if len(cache) > size:
            cache.popitem(last=False)
    return misses


class Reports(unittest.TestCase):
    def test_rows_are_those_of_the_command(self):
        report = heddle.command("list", "policies")
        printed = subprocess.run([_command.program(), "list", "policies", "--json"], capture_output=True, check=True)
        self.assertEqual(report.rows, json.loads(printed.stdout)["rows"])
        self.assertEqual(report["name"], [row["name"] for row in report])
        self.assertEqual([name for name, _, _ in heddle.rows("policies")], report["name"])
        self.assertIn("lru", str(report))
        self.assertIn("<td>lru</td>", report._repr_html_())
        self.assertTrue(report.ok)

    def test_errors_say_what_the_command_says(self):
        with self.assertRaisesRegex(heddle.Error, "there is no 'nix'") as caught:
            heddle.sweep("zipf:0.9,100", policies=["nix"], requests=100)
        self.assertEqual(caught.exception.status, "HD_EINVAL")
        with self.assertRaisesRegex(heddle.Error, "no_such_file"):
            heddle.sim("no_such_file.csv", policies="lru", sizes=4)
        with self.assertRaisesRegex(heddle.Error, "does not say a format"):
            heddle.sim("requests", policies="lru", sizes=4)
        with self.assertRaises(heddle.Error):
            heddle.run("hkv.no_such_operation")

    def test_a_wrong_case_is_an_error_and_a_judged_one_is_ok(self):
        report = heddle.run("hkv.mix.ref policy=lfu buckets=8 slots=16 batch=10x100", judge=True)
        self.assertTrue(report.ok)
        self.assertIn("truthful", report.facts["verdict"])

    def test_damage_is_corrupt(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.heddle"
            with heddle.Table(capacity=8, slots=8) as t:
                t.save(path)
            data = bytearray(path.read_bytes())
            data[-1] ^= 1
            path.write_bytes(data)
            with self.assertRaises(heddle.Error) as caught:
                heddle.load(path)
            self.assertEqual(caught.exception.status, "HD_ECORRUPT")

    def test_interrupting_a_command_ends_it(self):
        code = "import heddle; heddle.sweep('zipf:0.9,1Mi', requests=10**12, policies='lru', sizes=1000)"
        with subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stderr=subprocess.PIPE) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while process.poll() is None and not children.read_text():
                time.sleep(0.05)
            time.sleep(0.5)
            os.killpg(process.pid, signal.SIGINT)
            said = process.stderr.read().decode()
        self.assertIn("KeyboardInterrupt", said)


@needs_numpy
class Traces(unittest.TestCase):
    def test_an_array_of_keys_is_a_trace(self):
        keys = numpy.random.default_rng(1).zipf(1.2, 20000).astype(numpy.int64)
        report = heddle.sim(keys, policies=["lru", "custom"], sizes=[128])
        self.assertEqual(report[0]["misses"], lru_misses(keys.tolist(), 128))
        self.assertLess(report[1]["misses"], report[0]["misses"])

    def test_a_written_trace_is_read_back(self):
        keys = numpy.array([5, 7, 5, 2**63, 7, 5], dtype=numpy.uint64)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.oracleGeneral")
            heddle.write_trace(path, keys, sizes=[1, 2, 3, 4, 5, 6], times=[0, 0, 1, 1, 2, 2])
            stat = heddle.stat(path)
        self.assertEqual(stat.facts["requests"], 6)

    def test_public_formats(self):
        magic = struct.pack("<Q", 0x123456789ABCDEF0)
        records = [(7, 5), (8, 9), (7, 5)]
        lcs = magic + struct.pack("<3Q", 1, 1, 3) + bytes(8152) + magic
        lcs += b"".join(struct.pack("<IQIq", i, k, s, {0: 3}.get(i, -1)) for i, (k, s) in enumerate(records))
        files = {
            "t.lcs": lcs,
            "t.twitter": b"0,7,1,4,9,get,0\n1,8,1,8,9,set,60\n1,7,1,4,9,gets,0\n",
            "t.cachelib": b"key,op,size,op_count,key_size\n7,GET,4,1,1\n8,SET,8,1,1\n7,GET,4,1,1\n",
            "t.msr": b"".join(b"128166372003061629,usr,0,Read,%d,512,9\n" % (4096 * k) for k, _ in records),
            "t.jsonl": b'{"timestamp": 5, "hash_ids": [7, 8]}\n{"timestamp": 6, "hash_ids": [7]}\n',
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                path = pathlib.Path(folder, name)
                path.write_bytes(data)
                stat = heddle.stat(path)
                self.assertEqual((stat["requests"], stat["distinct"]), (3, 2), name)
                self.assertEqual(heddle.sim(path, policies="full:belady", sizes=1)["misses"], [2], name)
                sized = {"t.msr": 3 * 4096, "t.jsonl": 3}.get(name, 19)
                self.assertEqual(stat["requested_bytes"], sized, name)
            with self.assertRaises(KeyError):
                stat["no_such_fact"]
            form = "binary,format=<IQIq,time=1,key=2,size=3,next=4"
            path = pathlib.Path(folder, "records")
            path.write_bytes(lcs[8192:])
            self.assertEqual(heddle.stat(path, form)["requested_bytes"], 19)

    def test_a_number_that_a_trace_cannot_have_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.oracleGeneral")
            for name in ("sizes", "times"):
                for wrong, said in (
                    ([1, 2**32], "row 1 has 4294967296"), (numpy.array([2**32 + 7, 1]), "row 0 has 4294967303"),
                    (numpy.array([1, -1]), "row 1 has -1"), ([2**70, 1], "whole numbers are needed, not object"),
                    ([1.5, 1], "whole numbers are needed, not float64"), ([1.0, 2.0], "whole numbers are needed"),
                    ([True, False], "whole numbers are needed, not bool"), (["1", "2"], "whole numbers are needed"),
                    ([3], r"shape \(1,\), but there are 2 keys"), (7, r"shape \(\), but there are 2 keys"),
                    ([[1, 2]], r"shape \(1, 2\)"), ([[1], [1, 2]], "setting an array element"),
                    (numpy.array([1, 2], "M8[s]"), "whole numbers are needed, not datetime64"),
                ):  # fmt: skip
                    with self.assertRaisesRegex(heddle.Error, f"^{name}: {said}") as caught:
                        heddle.write_trace(path, [5, 7], **{name: wrong})
                    self.assertEqual(caught.exception.status, "HD_EINVAL")
                    self.assertFalse(os.path.exists(path))
            most = numpy.array([2**32 - 1, 0], "u8")
            heddle.write_trace(path, [5, 7], sizes=most, times=most)
            row = numpy.fromfile(path, [("time", "<u4"), ("key", "<u8"), ("size", "<u4"), ("next", "<i8")])
            self.assertEqual((row["size"].tolist(), row["time"].tolist()), (most.tolist(), most.tolist()))
            heddle.write_trace(path, [], sizes=[], times=[])
            self.assertEqual(os.path.getsize(path), 0)
            for wrong in ([1.5], [[1]], ["1"], [2**64], 5):
                self.assertRaisesRegex(heddle.Error, "^keys: ", heddle.write_trace, path, wrong)

    @unittest.skipUnless(TRACE.exists(), "the trace cloudPhysicsIO is missing")
    def test_sim_equals_the_command(self):
        report = heddle.sim(TRACE, policies=["lru", "lfu"], sizes=["1%", 128])
        printed = subprocess.run([_command.program(), "sim", TRACE, "oracleGeneral", "lru,lfu", "1%,128", "--json"],
                                 capture_output=True, check=True)  # fmt: skip
        timeless = [{k: v for k, v in row.items() if not k.endswith("_s")} for row in json.loads(printed.stdout)["rows"]]
        self.assertEqual([{k: v for k, v in row.items() if not k.endswith("_s")} for row in report], timeless)
        self.assertEqual(report[1]["misses"], 99411)

    @unittest.skipUnless((DATA / "lambda_virus.fa").exists(), "the genome lambda_virus is missing")
    def test_kmers_are_those_of_the_genome(self):
        lines = (DATA / "lambda_virus.fa").read_text().splitlines()[1:]
        bases, k = "".join(lines), 16
        turned = str.maketrans("ACGT", "TGCA")
        counts = collections.Counter()
        for i in range(len(bases) - k + 1):
            word = bases[i : i + k]
            if set(word) <= set("ACGT"):
                counts[min(word, word.translate(turned)[::-1])] += 1
        kmer, count = heddle.kmers(DATA / "lambda_virus.fa", k)
        self.assertEqual(dict(zip(heddle.letters(kmer, k), count.tolist())), dict(counts))

    def test_counts_that_are_not_exact_are_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.fa")
            bases = numpy.random.default_rng(1).choice(list("ACGT"), 6000)
            pathlib.Path(path).write_text(">g\n" + "".join(bases) + "\n")
            self.assertEqual(heddle.kmers(path, 9)[1].sum(), 6000 - 8)
            with self.assertRaisesRegex(heddle.Error, "the counts are not exact: [0-9]+ entries did not fit"):
                heddle.kmers(path, 9, capacity=1000)
            for design in ("hive", "ovs", "sl"):  # 16 T are a reserved key of 32 bits
                pathlib.Path(path).write_text(">t\n" + "T" * 20 + "ACGT\n")
                try:
                    kmer, count = heddle.kmers(path, 16, forward=True, design=design)
                except heddle.Error as error:
                    self.assertIn(f"no table of {design} can hold", str(error))
                else:
                    self.assertEqual(count.sum(), 9)

    def test_names_of_files(self):
        """Names that begin with a dash, and names that are no UTF-8, in every call that takes a file."""
        genome = b">a\nACGTACGTACGTACGTACGTTGCA\n"
        reads = {"kmers": lambda f: len(heddle.kmers(f, 3)[0]), "classify": lambda f: heddle.classify(f, [f], k=11).ok}
        traces = {"sim": lambda f: heddle.sim(f, "txt", "lru", 2).ok, "sweep": lambda f: heddle.sweep(f, "txt", sizes=[2]).ok,
                  "stat": lambda f: heddle.stat(f, "txt").ok}  # fmt: skip
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name in (b"-d", b"--help", b"-", b"caf\xe9", "✓".encode()):
                for calls, contents in ((reads, genome), (traces, b"1\n2\n1\n")):
                    for what, call in calls.items():
                        for form in (name, os.fsdecode(name), pathlib.Path(os.fsdecode(name))):
                            with self.subTest(call=what, name=form):
                                pathlib.Path(os.fsdecode(name)).write_bytes(contents)
                                self.assertTrue(call(form))
                                os.remove(name)
                                with self.assertRaises(heddle.Error) as caught:
                                    call(form)
                                print(str(caught.exception), file=io.TextIOWrapper(io.BytesIO(), "utf-8"))
                                self.assertIn(name.decode(errors="backslashreplace"), str(caught.exception))
            pathlib.Path("-k.fa").write_bytes(genome)
            report = _command.command("kmer", pathlib.Path("-k.fa"), 3, output=pathlib.Path("-o.heddle"))
            self.assertTrue(report.ok and os.path.exists("-o.heddle"))
            os.chdir(before)

    def test_numbers_of_libraries_are_numbers(self):
        for sizes in (numpy.array([2, 3]), [numpy.int64(2), 3], (2, 3), range(2, 4), {2: 0, 3: 0}.keys()):
            report = heddle.sim([1, 2, 1], policies="lru", sizes=sizes, dual=numpy.bool_(False), threads=numpy.uint8(1))
            self.assertEqual(report["size"], ["2", "3"] if isinstance(report["size"][0], str) else [2, 3])
        self.assertEqual(_command._words({"a": numpy.array([0.5, 1]), "b": numpy.bool_(True), "c": None, "d": 0}),
                         ["--a=0.5,1.0", "--b", "--d=0"])  # fmt: skip
        self.assertRaises(TypeError, heddle.sim, [1], sizes={2: 3})

    def test_reads_are_classified(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two, reads, table = (pathlib.Path(folder) / name for name in ("one.fa", "two.fa", "reads.fa", "t.hd"))
            one.write_text(">1\nACGTTGCAATCC\n")
            two.write_text(">2\nGGATCTTAGACA\n")
            reads.write_text(">a b\nTTGCAATCC\n>c\nTGTCTAAGAT\n>short\nAC\n")
            heddle.command("classify", one, two, build=table, k=8)
            for report in (
                heddle.classify(reads, [one, two], k=8),
                heddle.classify(reads, table=table, threads=1),
                heddle.classify(reads, [one, two], k=8, design="hive", batch=1),
            ):
                self.assertEqual(report.reads["read"], ["a", "c", "short"])
                self.assertEqual(report.reads["taxon"], ["one", "two", None])
                self.assertEqual(report.reads["votes"], [2, 3, 0])
                self.assertEqual((report["taxon"], report["reads"]), (["one", "two"], [1, 1]))
            with self.assertRaisesRegex(heddle.Error, "t.hd.taxa: "):
                (pathlib.Path(folder) / "t.hd.taxa").write_text("{}")
                heddle.classify(reads, table=table)

    def test_a_plot_has_a_line_per_policy(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is missing")
        matplotlib.use("Agg")
        keys = numpy.random.default_rng(1).zipf(1.2, 5000).astype(numpy.int64)
        axes = heddle.sweep(keys, policies=["lru", "lfu"], sizes=[64, 256]).plot()
        self.assertEqual(len(axes.get_lines()), 2)
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["lru", "lfu"])


def _one(batch):
    """A story of one batch."""
    story = heddle.Story()
    story.batches = [batch]
    return story


class Stories(unittest.TestCase):
    def test_a_table_in_the_simulator_is_recorded(self):
        with heddle.Table(capacity=16, slots=8, value="uint64", backend="host") as t:
            with heddle.explain(t) as story:
                t.insert([1, 2], [3, 4])
                t.find([1])
            t.find([2])
        self.assertEqual([batch["op"] for batch in story], ["insert_or_assign", "find"])
        self.assertEqual(sum(step["does"] == "takes effect" for step in story[0]["steps"]), 2)
        self.assertIn("takes effect", str(story))
        self.assertIn("<td", story._repr_html_())

    def test_recorders_in_one_another(self):
        for backend in ("host", "ref"):
            with heddle.Table(capacity=16, slots=8, value="uint64", backend=backend) as t, heddle.explain(t) as outer:
                t.insert([1, 2], [3, 4])
                with heddle.explain(t) as inner:
                    t.find([1])
                    with heddle.explain(t) as nothing:
                        pass
                    t.erase([2])
                t.find([2])
            self.assertEqual([batch["op"] for batch in outer], ["insert_or_assign", "find", "erase", "find"], backend)
            self.assertEqual([batch["op"] for batch in inner], ["find", "erase"], backend)
            self.assertEqual(len(nothing), 0, backend)

    def test_another_table_is_recorded_by_a_copy(self):
        with heddle.Table(capacity=16, slots=8, value="uint64") as t:
            t.insert([1], [3])
            with heddle.explain(t) as story:
                fate = t.insert([1, 2], [5, 6])
            self.assertEqual(list(fate), [heddle.Outcome.UPDATED, heddle.Outcome.INSERTED])
            self.assertIs(type(t), heddle.Table)
            self.assertEqual(list(t.find([1, 2]).value), [5, 6])
        effects = [step["after"] for step in story[0]["steps"] if step["does"] == "takes effect"]
        self.assertEqual(sorted(effects), sorted([heddle.Outcome.UPDATED, heddle.Outcome.INSERTED]))

    def test_a_story_is_a_page(self):
        with heddle.Table(capacity=16, slots=8, value="uint64", backend="host") as t, heddle.explain(t) as story:
            t.insert([1, 2], [3, 4])
            t.find([1])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "story.html")
            story.html(path)
            text = path.read_text(encoding="utf-8")
            stories = [json.loads(m) for m in re.findall(r'id="story-\d+">(.*?)</script>', text)]
            self.assertEqual([len(one["steps"]) for one in stories], [len(list(_one(b).rows())) for b in story])
            effects = [s["after"] for s in stories[0]["steps"] if s["does"] == "takes effect"]
            self.assertEqual(effects, ["inserted"] * len(effects))
            for step in stories[0]["steps"]:
                for region, sector in step["sectors"]:
                    self.assertLess(sector, stories[0]["memory"][region]["sectors"])
            self.assertNotRegex(text, "@[A-Z_]+@")
            report = heddle.explain("hkv.find.tlpv1 buckets=2 slots=8 batch=1x1")
            report.html(path)
            own, command = path.read_text(encoding="utf-8"), pathlib.Path(folder, "command.html")
            heddle.command("explain", *report.facts["case"].split(), html=command)
            policy = re.compile("Content-Security-Policy.*")
            self.assertEqual(policy.search(own)[0], policy.search(command.read_text(encoding="utf-8"))[0])

    def test_a_case_is_a_report(self):
        report = heddle.explain("hkv.find.tlpv1 buckets=2 slots=8 batch=1x1")
        self.assertIn("takes effect", report["does"])
        self.assertEqual(report.story["schema"], "heddle.story/1")
        self.assertNotIn("story", report.facts)
        self.assertIn("<iframe", report._repr_html_())
        with self.assertRaises(ValueError):
            heddle.command("list", "policies").html("unused.html")
        with self.assertRaises(TypeError):
            heddle.explain(5)


class Policies(unittest.TestCase):
    def test_a_policy_is_its_text(self):
        policy = heddle.Policy(on_insert="given", on_hit="old + given")
        self.assertEqual(policy, "expr:on_insert=given;on_hit=old+given")

    def test_a_table_has_what_was_found_of_its_policy(self):
        policy = heddle.Policy(on_insert="now", on_hit="max(old, now) + given", admission="MAX")
        with heddle.Table(capacity=64, value="uint64", policy=policy) as t:
            self.assertIn("MONOTONE", t.info["policy_flags"])
            self.assertNotIn("ORDER_FREE", t.info["policy_flags"])
            t.insert([1], [1])
            self.assertEqual(list(t.touch([1], scores=[5]).score), [1 + 5])
            text = t.info["policy"]
        with heddle.Table(capacity=64, value="uint64", policy=text) as t:
            self.assertEqual(t.info["policy"], text)

    def test_a_known_policy_is_recognised(self):
        with heddle.Table(capacity=64, policy=heddle.Policy("given", "given + old", "MAX")) as t:
            self.assertEqual(t.info["policy"], "lfu")

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(heddle.Error, "policy: column 22: expected a value"):
            heddle.Table(capacity=64, policy=heddle.Policy("given +"))

    @needs_numpy
    def test_an_expression_replays_a_trace_as_its_row(self):
        keys = numpy.random.default_rng(2).zipf(1.2, 20000).astype(numpy.int64)
        same = heddle.Policy(on_insert="given", on_hit="max(old + given, old)", admission="MAX")
        report = heddle.sim(keys, policies=["lfu", same], sizes=[128, 1000], slots=8)
        misses = report["misses"]
        self.assertEqual(misses[:2], misses[2:])
        self.assertTrue(heddle.run(f"hkv.mix.ref policy={same} buckets=8 slots=16 batch=10x100", judge=True).ok)


@needs_numpy
class Research(unittest.TestCase):
    keys = property(lambda self: numpy.random.default_rng(3).zipf(1.2, 20000).astype(numpy.int64))

    def test_exact_caches_stand_beside_tables(self):
        report = heddle.sim(self.keys, policies=["lru", "full:lru", "full:belady"], sizes=[128])
        table, exact, best = report["misses"]
        self.assertEqual(table, exact)  # one bucket
        self.assertEqual(exact, lru_misses(self.keys.tolist(), 128))
        self.assertLess(best, exact)

    def test_exact_caches_in_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.oracleGeneral")
            heddle.write_trace(path, self.keys, sizes=numpy.full(20000, 16))
            report = heddle.sim(path, policies=["full:lru", "full:sieve"], sizes="2KiB")
        self.assertEqual(report.facts["unit"], "bytes")
        self.assertEqual(report[0]["misses"], lru_misses(self.keys.tolist(), 128))
        for call in (heddle.sim, heddle.sweep):
            with self.assertRaisesRegex(heddle.Error, "has no sizes"):
                call(self.keys, policies="full:lru", sizes=[100, "2KiB"])

    def test_curves_have_the_misses_of_exact_caches(self):
        what = {"policies": ["full:lru", "full:sieve"], "sizes": [128, 256]}
        report, exact = heddle.curve(self.keys, sample="100%", exact=True, **what), heddle.sim(self.keys, **what)
        self.assertEqual(report["misses"], exact["misses"])
        self.assertEqual(report["error"], [0, 0, 0, 0])
        self.assertEqual(heddle.curve(self.keys, sizes=[128])[0]["misses"], lru_misses(self.keys.tolist(), 128))
        self.assertEqual(len(heddle.curve("zipf:0.9,100k", requests=50000)), 20)

    def test_outcomes_of_all_requests(self):
        report = heddle.sim(self.keys, policies="lru", sizes=256, outcomes=True)
        self.assertEqual(len(report.outcomes), 20000)
        missed = numpy.isin(report.outcomes, [heddle.Outcome.INSERTED, heddle.Outcome.EVICTED])
        self.assertEqual(int(missed.sum()), report[0]["misses"])

    def test_seeds_have_a_spread(self):
        row = heddle.sim(self.keys, policies="lru", sizes=1024, slots=8, seeds=3)[0]
        self.assertLessEqual(row["miss_ratio_least"], row["miss_ratio_mean"])
        self.assertLessEqual(row["miss_ratio_mean"], row["miss_ratio_most"])
        self.assertGreater(row["miss_ratio_deviation"], 0)

    def test_a_threshold_fails_the_report(self):
        self.assertTrue(heddle.sim(self.keys, policies="lru", sizes=256, fail_above=0.99).ok)
        report = heddle.sim(self.keys, policies="lru", sizes=256, fail_above=0.01)
        self.assertFalse(report.ok)
        self.assertIn("lru", report.said)

    def test_windows_add_up(self):
        report = heddle.sim(self.keys, policies="lru", sizes=256, every=5000)
        whole = heddle.sim(self.keys, policies="lru", sizes=256)
        self.assertEqual(len(report), 4)
        self.assertEqual(sum(report["misses"]), whole[0]["misses"])

    def test_bytes_of_objects(self):
        sizes = numpy.where(self.keys % 2, 10, 1000)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.oracleGeneral")
            heddle.write_trace(path, self.keys, sizes=sizes)
            report = heddle.sim(path, policies="lru", sizes=256, outcomes=True)
        missed = numpy.isin(report.outcomes, [heddle.Outcome.INSERTED, heddle.Outcome.EVICTED])
        self.assertAlmostEqual(report[0]["byte_miss_ratio"], sizes[missed].sum() / sizes.sum(), places=9)


if __name__ == "__main__":
    unittest.main()
