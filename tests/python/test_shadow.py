# SPDX-License-Identifier: Apache-2.0
"""Embeddings beside a model of every row, in random programs of all their calls.

The model is a dict: id -> weights, optimizer's state and score. On backend ref it foretells everything: which row a
full bucket evicts or refuses, every score, and the clock. On a GPU, where the order of items is open and the clock is the
device's, the table says which ids have left, and the model all the rest: rows, state, what is dropped, skipped and
counted.

    python test_shadow.py [CALLS [cpu|cuda]]     runs programs of so many calls in all, 100,000 without a number
"""

import copy
import math
import os
import pickle
import sys
import unittest
import warnings

try:
    import torch
    from hypothesis import HealthCheck, Phase, seed, settings
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

    import heddle
    import heddle.torch as ht
    from test_torch import reference

    missing = None
except ImportError as error:
    missing, RuleBasedStateMachine = str(error), object

DEVICE = "cpu"
CALLS = [0]
FULL, MOST = (1 << 64) - 1, 40


def setUpModule():
    if missing:
        raise unittest.SkipTest(missing)


def bucket_of(key, buckets):
    h = key & FULL
    for by in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = (h ^ h >> 33) * by & FULL
    return (h ^ h >> 33) * buckets >> 64


def epoch_score(epoch, low):
    return min(FULL, (epoch << 32) + low)


class Score:
    """new(given, now, epoch), hit(old, given, now, epoch) and admission(given, now, epoch) of a policy."""

    def __init__(self, new, hit=None, admission=None):
        self.new, self.hit = new, hit or (lambda old, *rest: new(*rest))
        self.admission = admission or new


LOW = (1 << 32) - 1
SCORES = {
    "lru": Score(lambda g, now, e: now),
    "lfu": Score(lambda g, now, e: g, lambda old, g, now, e: old + g, lambda g, now, e: FULL),
    "fifo": Score(lambda g, now, e: now, lambda old, g, now, e: old),
    "epoch_lru": Score(lambda g, now, e: epoch_score(e, now)),
    "epoch_lfu": Score(lambda g, now, e: epoch_score(e, g), lambda old, g, now, e: epoch_score(e, (old & LOW) + g)),
    "epoch_fifo": Score(lambda g, now, e: epoch_score(e, now), lambda old, g, now, e: max(old, epoch_score(e, old & LOW))),
    "expr:on_insert=now;on_hit=(old>>1)+(now>>1)": Score(lambda g, now, e: now, lambda old, g, now, e: (old >> 1) + (now >> 1)),
    "expr:on_insert=tick;on_hit=max(old,now)+epoch": Score(lambda g, now, e: now, lambda old, g, now, e: max(old, now) + e),
    "expr:on_insert=given;on_hit=old+given": Score(lambda g, now, e: g, lambda old, g, now, e: old + g),
}  # fmt: skip


class Row:
    def __init__(self, weights, state, score):
        self.weights, self.state, self.score = weights, state, score


def update(name, row, gradient, steps):
    """One step of an optimizer in Python's numbers, by the sentences of doc/python-torch.md."""
    w, s, n = row.weights, row.state, len(row.weights)
    for i, g in enumerate(gradient):
        if name == "sgd":
            w[i] -= 0.5 * g
        elif name == "adagrad":
            s[i] += g * g
            w[i] -= 0.1 * g / (math.sqrt(s[i]) + 1e-10)
        elif name == "adam":
            s[i] = 0.9 * s[i] + 0.1 * g
            s[n + i] = 0.99 * s[n + i] + 0.01 * g * g
            w[i] -= 0.05 * math.sqrt(1 - 0.99**steps) / (1 - 0.9**steps) * s[i] / (math.sqrt(s[n + i]) + 1e-8)
    if name == "rowwise_adagrad":
        s[0] += sum(g * g for g in gradient) / n
        for i, g in enumerate(gradient):
            w[i] -= 0.1 * g / (math.sqrt(s[0]) + 1e-8)


OPTIMIZERS = {"sgd": (lambda: ht.SGD(0.5), lambda dim: 0), "adagrad": (lambda: ht.Adagrad(0.1), lambda dim: dim),
              "rowwise_adagrad": (lambda: ht.RowWiseAdagrad(0.1), lambda dim: 1),
              "adam": (lambda: ht.Adam(0.05, betas=(0.9, 0.99)), lambda dim: 2 * dim)}  # fmt: skip

if not missing:
    IDS = st.lists(st.integers(-3, MOST), max_size=24)
    KEYS = st.lists(st.integers(0, MOST), max_size=12, unique=True)


class Shadow(RuleBasedStateMachine):
    """One embedding and its model."""

    if not missing:

        @initialize(policy=st.sampled_from(sorted(SCORES)), optimizer=st.sampled_from(sorted(OPTIMIZERS)),
                    dtype=st.sampled_from(("float32", "float32", "bfloat16", "float16")), dim=st.integers(1, 5),
                    buckets=st.sampled_from((1, 1, 2, 3)), mode=st.sampled_from((None, None, "sum", "mean")),
                    absent=st.sampled_from((None, None, 2.0)), evicted=st.booleans())  # fmt: skip
        def make(self, policy, optimizer, dtype, dim, buckets, mode, absent, evicted):
            self.exact = DEVICE == "cpu"
            self.policy, self.optimizer, self.dim, self.mode = policy, optimizer, dim * (1 if self.exact else 4), mode
            self.dtype, self.absent, self.buckets, self.seed = getattr(torch, dtype), absent, buckets, 7
            self.evicted = evicted and mode is None
            self.e = self.fresh()
            self.rows, self.pending, self.clock, self.epoch, self.steps = {}, [], 0, 0, 0
            self.dropped = self.hits = self.misses = self.skipped = 0
            self.frozen, self.gone = False, []

        def fresh(self):
            make, more = (ht.Embedding, {}) if self.mode is None else (ht.EmbeddingBag, {"mode": self.mode})
            return make(8 * self.buckets, self.dim, policy=self.policy, optimizer=OPTIMIZERS[self.optimizer][0](),
                        seed=self.seed, dtype=self.dtype, absent=self.absent, evicted=100_000 if self.evicted else 0,
                        table={"slots": 8}, device=DEVICE, **more)  # fmt: skip

        # ---- The model ----------------------------------------------------------------------------------------------

        def initial(self, key):
            half = 1 / math.sqrt(self.dim)
            row = [(reference(key, self.seed, j) * 2.0**-23 - 1) * half for j in range(self.dim)]
            return torch.tensor(row).to(self.dtype).tolist()

        def new_row(self, key, score):
            return Row(self.initial(key), [0.0] * OPTIMIZERS[self.optimizer][1](self.dim), score)

        def there(self):
            return {k for part in self.e.parts() for k in part.key.tolist()}

        def place(self, key, given, now, there):
            """A new key enters, or is refused. there: the ids that are in the table after the call, by which ties go,
            less those that may leave and come back in it."""
            rule, home = SCORES[self.policy], bucket_of(key, self.buckets)
            score, asked = rule.new(given, now, self.epoch), rule.admission(given, now, self.epoch)
            mine = [k for k in self.rows if bucket_of(k, self.buckets) == home]
            if len(mine) >= 8:
                least = min(self.rows[k].score for k in mine)
                if asked < least:
                    return False
                ties = [k for k in mine if self.rows[k].score == least]
                left = [k for k in ties if k not in there]
                assert left, f"one of {ties} should have left for {key}"
                self.gone.append(left[0])
                del self.rows[left[0]]
            self.rows[key] = self.new_row(key, score)
            return True

        def used(self, ids, distinct=False, told=True):
            """A lookup in training: (row of each id before it)."""
            keys = list(ids) if distinct else sorted(set(ids))
            before = {k: (self.rows[k].weights if k in self.rows else self.initial(k)) for k in keys}
            there = self.there()
            hits, absent = [k for k in keys if k in self.rows], [k for k in keys if k not in self.rows]
            if told:
                self.hits += len(hits)
                self.misses += sum(k >= 0 for k in absent)
            given = {k: 1 if distinct else ids.count(k) for k in keys} if self.counts() else dict.fromkeys(keys, 1)
            if not self.exact:
                for k in absent:
                    self.rows[k] = self.new_row(k, 0)
                assert there <= set(self.rows), "ids that nobody brought in"
                self.gone += [k for k in self.rows if k not in there and k >= 0]
                self.rows = {k: row for k, row in self.rows.items() if k in there}
                return [before[k] for k in ids]
            for i, k in enumerate(keys):
                if k in self.rows:
                    row = self.rows[k]
                    row.score = min(FULL, SCORES[self.policy].hit(row.score, given[k], self.clock + i, self.epoch))
            self.clock += len(keys)
            for i, k in enumerate(absent):
                if k >= 0:
                    self.place(k, given[k], self.clock + i, there)
            self.clock += len(absent)
            return [before[k] for k in ids]

        def counts(self):
            return "lfu" in self.policy or "given" in self.policy

        def near(self, ours, wanted, what):
            ours, wanted = torch.as_tensor(ours).float().cpu(), torch.tensor(wanted).float()
            exactness = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[self.dtype]
            assert ours.numel() == wanted.numel() and bool(
                ((ours.flatten() - wanted.flatten()).abs() <= exactness * (1 + wanted.flatten().abs())).all()
            ), f"{what}: {ours.tolist()} instead of {wanted.tolist()}"

        def teardown(self):
            if hasattr(self, "e"):
                self.compare()

        def compare(self):
            """Every row, its state and its score; then the model takes the table's bits, so that nothing adds up."""
            found = {}
            for part in self.e.parts():
                for i, key in enumerate(part.key.tolist()):
                    found[key] = part.weight[i].tolist(), part.state[i].tolist(), part.score[i].item() & FULL
            assert set(found) == set(self.rows), f"ids: {sorted(found)} instead of {sorted(self.rows)}"
            for key, (weights, state, score) in found.items():
                row = self.rows[key]
                self.near(weights, row.weights, f"weights of {key}")
                self.near(state, row.state, f"state of {key}")
                assert not self.exact or score == row.score, f"score of {key}: {score} instead of {row.score}"
                row.weights, row.state = weights, state
            said = self.e.counters()
            wanted = {"size": len(self.rows), "steps": self.steps, "skipped": self.skipped}
            assert {k: said[k] for k in wanted} == wanted, (said, wanted)
            assert (said["dropped"], said["hits"], said["misses"]) == (self.dropped, self.hits, self.misses), (said, vars(self))
            if self.exact:
                assert (self.e.table.clock, self.e.epoch) == (self.clock, self.epoch), (self.e.table.clock, self.clock)
            if self.evicted:
                left = [k for batch in self.e.evicted() for k in batch.key.tolist()]
                assert not self.exact or sorted(left) == sorted(self.gone), (left, self.gone)
            self.gone = []

        def call(self):
            CALLS[0] += 1

        def tensor(self, ids, dtype=None):
            return torch.tensor(ids, dtype=dtype or torch.int64, device=DEVICE)

        # ---- Lookups ------------------------------------------------------------------------------------------------

        def bags(self, n, cuts):
            return sorted({0, *(c % (n + 1) for c in cuts)})

        def learn(self, ids, cuts, how, data_seed):
            """A forward pass, and its backward pass if `how` says so."""
            g = torch.Generator().manual_seed(data_seed)
            before = None
            int32 = torch.int32 if data_seed % 5 == 0 else torch.int64
            at = self.tensor(ids, int32)
            offsets = self.bags(len(ids), cuts)
            if self.mode is None:
                out = how(at)
            else:
                weights = torch.rand(len(ids), generator=g).to(self.dtype) if self.mode == "sum" and data_seed % 2 else None
                out = how(at, self.tensor(offsets), None if weights is None else weights.to(DEVICE))
            before = self.answers(ids, offsets, None if self.mode is None else weights)
            self.near(out.detach(), before[0], "forward")
            if not out.requires_grad:
                return
            coefficient = (torch.rand(out.shape, generator=g) - 0.5).to(out.dtype)
            out.backward(coefficient.to(DEVICE))
            sums = {}
            for k, factors in before[1]:
                for row, factor in factors:
                    total = sums.setdefault(k, [0.0] * self.dim)
                    for j in range(self.dim):
                        total[j] += factor * coefficient[row, j].item()
            self.pending.append(sums)

        def answers(self, ids, offsets, weights):
            """(what the lookup gives, for each id how much it has of which output)."""
            rows = self.read(ids)
            if self.mode is None:
                return rows, [(k, [(i, 1.0)]) for i, k in enumerate(ids)]
            out, parts = [], []
            for b, start in enumerate(offsets):
                end = offsets[b + 1] if b + 1 < len(offsets) else len(ids)
                usual = 1.0 if self.mode == "sum" else 1 / max(1, end - start)
                share = [usual if weights is None else weights[i].item() for i in range(start, end)]
                out.append([sum(s * rows[start + i][j] for i, s in enumerate(share)) for j in range(self.dim)])
                parts += [(ids[start + i], [(b, s)]) for i, s in enumerate(share)]
            return out, parts

        def trains(self, ids, distinct=False):
            self.read = lambda these: self.used(these, distinct)
            if self.frozen:
                self.read = self.looked_at

        def looked_at(self, ids):
            self.clock += len(ids)
            constant = None if self.absent is None else [self.absent] * self.dim
            return [self.rows[k].weights if k in self.rows else constant or self.initial(k) for k in ids]

        @rule(ids=IDS, cuts=st.lists(st.integers(0, 30), max_size=4), data_seed=st.integers(0, 999),
              path=st.sampled_from(("call", "call", "call", "operators", "distinct")))  # fmt: skip
        def forward(self, ids, cuts, data_seed, path):
            self.call()
            if path == "distinct":
                ids = list(dict.fromkeys(ids))
            how = (lambda *a: self.e(*a, distinct=True)) if path == "distinct" else self.e
            if path == "operators" and self.mode is None and not self.frozen:
                how = lambda at: ht._embedding._Compiled.apply(self.e._anchor, self.e.number, self.e._state, at)  # noqa: E731
            self.trains(ids, path == "distinct")
            self.learn(ids, cuts, how, data_seed)

        @rule(ids=IDS, cuts=st.lists(st.integers(0, 30), max_size=4), inference=st.booleans())
        def without_gradients(self, ids, cuts, inference):
            self.call()
            self.trains(ids)
            with torch.inference_mode() if inference else torch.no_grad():
                self.learn(ids, cuts, self.e, 0)

        @rule(ids=IDS, cuts=st.lists(st.integers(0, 30), max_size=4))
        def evaluate(self, ids, cuts):
            self.call()
            self.read = self.looked_at
            self.e.eval()
            self.learn(ids, cuts, self.e, 2)
            self.e.train()

        @rule(ids=IDS)
        def look_up(self, ids):
            self.call()
            self.near(self.e.look_up(self.tensor(ids)), self.looked_at(ids), "look_up")

        @rule(ids=IDS)
        def prefetch(self, ids):
            self.call()
            self.e.prefetch(self.tensor(ids))
            if not self.frozen:
                self.used(ids, told=False)

        # ---- Training -----------------------------------------------------------------------------------------------

        @rule(scale=st.sampled_from((None, None, None, 1.0, 4.0)), norm=st.sampled_from((None, None, 0.5)))
        def step(self, scale, norm):
            self.call()
            self.e.step(scale=scale, max_norm=norm)
            if not self.pending:
                return
            sums, self.pending = {}, self.pending
            for one in self.pending:
                for k, g in one.items():
                    sums[k] = [a + b for a, b in zip(sums.get(k, [0.0] * self.dim), g, strict=True)]
            self.pending = []
            factor = 1 / (scale or 1.0)
            if norm is not None:
                length = math.sqrt(sum((x * factor) ** 2 for g in sums.values() for x in g))
                factor *= min(1.0, norm / (length + 1e-6))
            self.steps += 1
            self.clock += 2 * len(sums)
            for k, g in sums.items():
                if k in self.rows:
                    update(self.optimizer, self.rows[k], [x * factor for x in g], self.steps)
                else:
                    self.dropped += 1

        @rule(own=st.booleans(), then_step=st.booleans())
        def zero_grad(self, own, then_step):
            self.call()
            (self.e if own else torch.nn.Sequential(self.e)).zero_grad()
            if then_step:
                self.e.step()
            self.pending = []

        @rule(dtype=st.sampled_from((torch.float16, torch.bfloat16, torch.float64)))
        def another_type(self, dtype):
            """That of a network around it. Rows keep theirs, and gradients wait on."""
            self.call()
            torch.nn.Sequential(self.e).to(dtype)

        @rule(freeze=st.booleans())
        def freezing(self, freeze):
            self.call()
            torch.nn.Sequential(self.e).requires_grad_(not freeze)
            self.frozen = freeze

        @rule(infinite=st.booleans())
        @precondition(lambda self: not self.frozen and not self.pending and self.mode is None)
        def overflow(self, infinite):
            """A step that is skipped."""
            self.call()
            self.trains([1])
            self.near(self.e(self.tensor([1])).mul(1).detach(), self.read([1]), "forward")
            (self.e(self.tensor([1])) * (math.inf if infinite else math.nan)).sum().backward()
            self.read([1])
            self.e.step(skip_nonfinite=True)
            self.skipped += 1

        # ---- Rows in and out ----------------------------------------------------------------------------------------

        @rule(keys=KEYS)
        def insert(self, keys):
            self.call()
            if self.policy not in ("lru", "fifo"):  # of ties, nothing tells who left and came back
                keys = sorted(keys, key=lambda k: k not in self.rows)
            rows = [[((k * 7 + j) % 16) / 8 for j in range(self.dim)] for k in keys]
            values = torch.tensor(rows, device=DEVICE).view(len(keys), self.dim).to(self.dtype)
            self.e.insert(self.tensor(keys), values)
            there = self.there()
            zeros = [0.0] * OPTIMIZERS[self.optimizer][1](self.dim)
            for i, (k, row) in enumerate(zip(keys, rows, strict=True)):
                if k in self.rows:
                    score = SCORES[self.policy].hit(self.rows[k].score, 1, self.clock + i, self.epoch)
                    self.rows[k] = Row(row, list(zeros), min(FULL, score))
                elif not self.exact:
                    self.rows[k] = Row(row, list(zeros), 0)
                elif self.place(k, 1, self.clock + i, there - set(keys[i + 1 :])):
                    self.rows[k].weights = row
            self.clock += len(keys)
            if not self.exact:
                self.gone += [k for k in self.rows if k not in there]
                self.rows = {k: row for k, row in self.rows.items() if k in there}

        @rule(keys=KEYS)
        def erase(self, keys):
            self.call()
            self.e.erase(self.tensor(keys))
            self.clock += len(keys)
            for k in keys:
                self.rows.pop(k, None)

        @rule()
        def clear(self):
            self.call()
            self.e.clear()
            self.rows, self.pending = {}, []

        @rule()
        @precondition(lambda self: self.buckets < 12)
        def grow(self):
            self.call()
            self.e.table.grow(2 * self.buckets)
            self.buckets *= 2

        @rule()
        def next_epoch(self):
            self.call()
            self.epoch += 1
            self.e.epoch = self.epoch

        @rule()
        @precondition(lambda self: not self.pending and self.policy in ("lru", "epoch_lru", "epoch_lfu"))
        def since_a_mark(self):
            self.call()
            mark = self.e.mark()
            self.epoch = self.e.epoch
            changed = {k for part in self.e.changed_since(mark) for k in part.key.tolist()}
            assert not changed or not self.exact, changed

        @rule(kind=st.sampled_from(("deepcopy", "pickle", "state_dict", "state_dict", "parts")))
        def go_on_with_a_copy(self, kind):
            """What a copy counts begins anew. Gradients go with a copy, and a zero_grad of it drops them."""
            self.call()
            self.compare()
            if kind in ("deepcopy", "pickle"):
                self.e = copy.deepcopy(self.e) if kind == "deepcopy" else pickle.loads(pickle.dumps(self.e))
            else:
                other = self.fresh()
                if kind == "state_dict":
                    other.load_state_dict(self.e.state_dict())
                else:
                    for part in self.e.parts(16):
                        other.insert_part(part)
                    self.came_in_parts(other)
                assert (other.load_dropped, len(other)) == (0, len(self.rows))
                self.e, self.pending, self.frozen, self.skipped = other, [], False, 0
            self.dropped = self.hits = self.misses = 0

        def came_in_parts(self, other):
            """Epoch and clock are not before those of the scores, but an empty table brings none."""
            now = other.table.clock
            if self.rows and self.exact:
                assert other.epoch == self.epoch, other.epoch
                assert not reads_time(self.policy) or self.clock <= now <= self.clock + len(self.rows), (now, self.clock)
            other.epoch, other.steps, self.clock = self.epoch, self.steps, now

        @rule(batches=st.lists(st.lists(st.integers(0, MOST), min_size=6, max_size=6), min_size=2, max_size=4))
        @precondition(lambda self: DEVICE == "cuda" and self.mode is None and not (self.evicted or self.pending or self.frozen))
        def graph(self, batches):
            """A step as a CUDA graph, captured once and launched for other ids."""
            self.call()
            if self.e._fast() is None:
                return
            ids, side, graph = self.tensor(batches[0]), torch.cuda.Stream(), torch.cuda.CUDAGraph()
            ones = torch.full((6, self.dim), 0.25, dtype=self.dtype, device=DEVICE)

            def work():
                self.e(ids).backward(ones)
                self.e.step()

            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                work()
            side.synchronize()
            self.trained_on(batches[0])
            with torch.cuda.graph(graph, stream=side):
                work()
            for batch in batches[1:]:
                ids.copy_(self.tensor(batch))
                torch.cuda.current_stream().synchronize()
                graph.replay()
                torch.cuda.synchronize()
                self.trained_on(batch)

        def trained_on(self, batch):
            self.used(batch)
            self.steps += 1
            for k in set(batch):
                if k in self.rows:
                    update(self.optimizer, self.rows[k], [0.25 * batch.count(k)] * self.dim, self.steps)
                else:
                    self.dropped += 1

        @rule()
        def all_rows(self):
            self.call()
            self.compare()


def reads_time(policy):
    return policy not in ("lfu", "epoch_lfu") and "given" not in policy


def run(examples, from_seed=0):
    options = {"max_examples": examples, "stateful_step_count": 40, "deadline": None, "database": None, "print_blob": False,
               "suppress_health_check": list(HealthCheck),
               "phases": [Phase.generate, *([Phase.shrink] if os.environ.get("HEDDLE_SHADOW_SHRINK") else [])]}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_state_machine_as_test(seed(from_seed)(Shadow), settings=settings(**options))


class Shadows(unittest.TestCase):
    def test_random_programs(self):
        before = CALLS[0]
        run(int(os.environ.get("HEDDLE_SHADOW", "20")))
        print(f"# {CALLS[0] - before} calls of embeddings beside their models", file=sys.stderr)
        self.assertGreater(CALLS[0] - before, 300)


if __name__ == "__main__":
    if missing:
        sys.exit(f"test_shadow.py: {missing}")
    words = sys.argv[1:]
    wanted, DEVICE = int(words[0]) if words else 100_000, words[1] if len(words) > 1 else "cpu"
    begin = 0
    while CALLS[0] < wanted:
        run(200, begin)
        begin += 1
        print(f"{CALLS[0]} calls on {DEVICE}, {begin * 200} programs, no disagreement", flush=True)
