# SPDX-License-Identifier: Apache-2.0
"""The plots of the site: a function for each, by the name that a page asks for: <!-- plot: NAME -->.

Figures come from the recorded results of the tree, which each plot names, or from a command that runs now.
"""

import pathlib
import shlex
import tempfile

from site_figure import Figures

SIZES = "1%,2%,5%,10%,20%,50%"


def read(path):
    """The rows of a .tsv as dicts; lines of # are comments."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def points(rows, x, y, **where):
    """(x, y) of the rows in which every field has its value."""
    chosen = [row for row in rows if all(row[field] == value for field, value in where.items())]
    if not chosen:
        raise ValueError(f"no row has {where}")
    return sorted((float(row[x]), float(row[y])) for row in chosen)


class Plots:
    """source: the tree. command(words): what heddle prints as JSON. heddle: its path."""

    def __init__(self, source, command, heddle):
        self.source, self.command, self.figures = pathlib.Path(source), command, Figures(heddle)

    def draw(self, name):
        return getattr(self, "plot_" + name)()

    # ---- Computed now -----------------------------------------------------------------------------------------------

    def hit_rates(self, title, workload, requests, text):
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/requests.oracleGeneral"
            gen = f"heddle gen {workload} --requests {requests} -o requests.oracleGeneral"
            sweep = (
                f"heddle sweep requests.oracleGeneral oracleGeneral --policies lru,lfu,fifo,custom --sizes {SIZES}"
            )
            self.command(shlex.split(gen.replace("requests.oracleGeneral", trace)))
            rows = self.command(shlex.split(sweep.replace("requests.oracleGeneral", trace)))["rows"]
        series = {}
        for row in rows:
            series.setdefault(row["policy"], []).append(
                (float(row["asked"].rstrip("%")) / 100, 1 - row["miss_ratio"])
            )
        named = [("custom (Belady)" if name == "custom" else name, data) for name, data in series.items()]
        return self.figures.lines(
            title,
            "size of the table, of all different keys",
            "hit rate",
            named,
            log=True,
            text=text,
            source=f"{gen} && {sweep}",
            x_form="percent",
            y_form="percent",
        )

    def plot_hit_rates_zipf(self):
        return self.hit_rates(
            "Hit rate by policy: a few keys are very popular (zipf:0.9)", "zipf:0.9,20k", "200k", ""
        )

    def plot_hit_rates_ycsb(self):
        return self.hit_rates("Hit rate by policy: new keys are the popular ones (ycsb:d)", "ycsb:d,20k", "200k", "")

    # ---- Recorded ---------------------------------------------------------------------------------------------------

    def recorded(self, path):
        return read(self.source / path)

    def counted(self):
        """papers/hkv/results/cpu.tsv: an experiment and its figure."""
        text = (self.source / "papers/hkv/results/cpu.tsv").read_text(encoding="utf-8")
        return dict(line.split("\t")[:2] for line in text.splitlines() if line and line[0] != "#")

    def plot_eviction_sectors(self):
        counts = self.counted()
        cases = {"tlpv1": "kernel=tlpv1", "pipeline": "kernel=pipeline", "coalesced": "kernel=coalesced layout=pairs"}
        what = {"digests, keys and the rest": None, "lower bounds": "bound_sectors", "scores": "score_sectors"}
        values = []
        for words in cases.values():
            sectors = {
                w: float(counts[f"places insert_or_assign {words} load=1 keys=1000 what={w}"])
                for w in ("table_sectors", "bound_sectors", "score_sectors")
            }
            rest = sectors["table_sectors"] - sectors["bound_sectors"] - sectors["score_sectors"]
            values.append([rest, sectors["bound_sectors"], sectors["score_sectors"]])
        return self.figures.bars(
            "Sectors of the table that an upsert of a full bucket reads and writes",
            "sectors per key",
            list(cases),
            list(what),
            values,
            source="papers/hkv/results/cpu.tsv",
            text="In coalesced a score lies beside its key, so its scores are among the keys.",
        )

    def plot_upsert_kernels(self):
        rows = self.recorded("papers/hkv/results/nvidia-h200.eviction.tsv")
        fast = self.recorded("bench/results/nvidia-h200.tsv")
        names = ("coalesced", "tlpv1", "tlpv2", "pipeline", "warp")
        where = {"operation": "insert_or_assign", "hits": "0", "buckets": "1", "dim": "8"}
        values = []
        for load in ("0.5", "1"):
            values.append(
                [
                    points(
                        fast if name == "coalesced" else rows,
                        "load",
                        "rate",
                        variant=name,
                        load=load,
                        capacity="134217728",
                        keys="uniform",
                        **where,
                    )[0][1]
                    for name in names
                ]
            )
        return self.figures.bars(
            "insert_or_assign of new keys on an H200: 32-byte values, 128 Mi entries",
            "10⁹ keys/s",
            ["half full", "full: every insert evicts"],
            list(names),
            values,
            source="bench/results/nvidia-h200.tsv, papers/hkv/results/nvidia-h200.eviction.tsv",
        )

    def plot_digests(self):
        rows = self.recorded("papers/hkv/results/nvidia-h200.ablation.tsv")
        cases = {
            "key absent, half full": ("0", "0.5"),
            "key absent, full": ("0", "1"),
            "key present, half full": ("1", "0.5"),
            "key present, full": ("1", "1"),
        }
        values = [
            [
                points(rows, "load", "rate", operation="find", hits=hits, load=load, dim="8", variant=variant)[0][1]
                for variant in ("tlpv1", "nodigest")
            ]
            for hits, load in cases.values()
        ]
        return self.figures.bars(
            "find on an H200, with digests and without: 32-byte values",
            "10⁹ keys/s",
            list(cases),
            ["with digests", "without digests"],
            values,
            source="papers/hkv/results/nvidia-h200.ablation.tsv",
        )

    def plot_speed(self):
        rows = self.recorded("doc/img/speed.tsv")
        full = [row for row in rows if row["load"] == "1" and row["value_bytes"] in ("32", "1024")]
        full = [row for row in full if row["operation"] in ("find", "insert_or_assign")]
        groups = [f"{row['operation']}, {row['value_bytes']} bytes" for row in full]
        values = [[float(row["heddle"]), float(row["hkv"])] for row in full]
        return self.figures.bars(
            "Full tables on an H200: Heddle and HierarchicalKV",
            "10⁹ keys/s",
            groups,
            ["Heddle", "HierarchicalKV"],
            values,
            source="doc/img/speed.tsv",
        )

    def plot_loads(self):
        rows = self.recorded("papers/hkv/results/nvidia-h200.loads.tsv")
        names = {
            "find, key absent": ("find", "0"),
            "find, key present": ("find", "1"),
            "insert_or_assign, present": ("insert_or_assign", "1"),
            "insert_or_assign, absent": ("insert_or_assign", "0"),
        }
        series = [
            (name, points(rows, "load", "rate", operation=operation, hits=hits))
            for name, (operation, hits) in names.items()
        ]
        return self.figures.lines(
            "Rates of an H200 over the load factor: 128-byte values, 128 Mi entries",
            "load factor",
            "10⁹ keys/s",
            series,
            source="papers/hkv/results/nvidia-h200.loads.tsv",
        )

    def plot_two_buckets(self):
        counts = self.counted()
        evictions = [float(counts[f"quality evictions capacity=128Mi dual={d}"]) for d in (0, 1)]
        retention = [
            float(counts[f"quality retention capacity=4Mi policy=custom universe=5 dual={d}"]) for d in (0, 1)
        ]
        return self.figures.bars(
            "One bucket per key, or two",
            "share",
            ["load factor at the first eviction", "best entries that are kept"],
            ["one bucket", "two buckets"],
            [evictions, retention],
            source="papers/hkv/results/cpu.tsv",
            y_form="percent",
        )

    def plot_hive_inserts(self):
        rows = self.recorded("papers/hive/results/steps.tsv")
        where = {"kernel": "tile", "layout": "words", "slots": "16", "spare": "3", "whole": "0"}
        series = [
            (name, points(rows, "load", field, **where))
            for name, field in (
                ("in the first bucket", "first"),
                ("in the second bucket", "later"),
                ("moves a key away first", "displaced"),
            )
        ]
        return self.figures.lines(
            "Where Hive puts a new key: 16-slot buckets, spare 3",
            "load factor",
            "share of inserts",
            series,
            source="papers/hive/results/steps.tsv",
            y_form="percent",
        )

    def plot_hive_loads(self):
        rows = self.recorded("papers/hive/results/nvidia-h200.loads.tsv")
        series = [
            (name, points(rows, "load", "rate", operation=operation))
            for name, operation in (("find, key absent", "find"), ("insert, key absent", "insert_or_assign"))
        ]
        return self.figures.lines(
            "Hive on an H200 over the load factor: 32 Mi slots, kernel batched",
            "load factor",
            "10⁹ keys/s",
            series,
            source="papers/hive/results/nvidia-h200.loads.tsv",
        )
