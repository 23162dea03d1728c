# SPDX-License-Identifier: Apache-2.0
"""Tables beside a model: a dict that may forget.

Hypothesis chooses a table - a design, a type of values, and any values of any fields that the rows of parameters have -
and calls. After each batch the model looks for an order of its items, with evictions between them, that explains every
outcome, every output and all entries of the table. Backend ref runs items in the order of the arrays, so there the
order is given. A table that was saved or pickled is the same when it is opened, and saves the same bytes.

HEDDLE_HYPOTHESIS_MINUTES=10 runs for ten minutes with new examples; otherwise a run takes about 20 seconds and has the
same examples each time.
"""

import array
import copy
import functools
import itertools
import os
import pickle
import random
import re
import struct
import tempfile
import time
import unittest

from reading import entries_of, heddle, memory_at, numpy, outcomes_of, rows_of, u64

try:
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
except ImportError as error:
    raise unittest.SkipTest("hypothesis is missing") from error

from heddle import Accum, Op, Outcome

LIMIT = 1 << 64
WRITES = (Outcome.HIT, Outcome.PINNED)  # outcomes that deliver the value
NEW = (Outcome.INSERTED, Outcome.EVICTED)
NONE = (Outcome.REFUSED, Outcome.PENDING)
LOOKUPS = ("find", "contains", "find_ptr", "find_missed")
UPSERTS = ("insert", "insert_or_assign", "insert_and_evict")
MIXED = ("find", "contains", "assign", "assign_values", "accum_or_assign", "insert_or_assign", "find_or_insert", "erase")


# ---- Types of values ------------------------------------------------------------------------------------------------


class Kind:
    """A type of values. The model has values as tuples of numbers."""

    def __init__(self, value, form, width, bits):
        self.value, self.form, self.width, self.bits = value, form, width, bits
        self.bytes = struct.calcsize(form) * width if width else 0

    def number(self, n):
        """A value that differs for different n."""
        return tuple((n + i) % 251 for i in range(self.width))

    def zero(self):
        return (0,) * self.width

    def add(self, a, b):
        """The sum of two values; integers wrap."""
        return tuple((x + y) % (1 << self.bits) if self.bits else x + y for x, y in zip(a, b, strict=True))

    def array(self, values, way):
        """An array of values, in one of several forms; None if there are no bytes."""
        if not self.width:
            return None
        if way == "list" and self.value != 12:
            return [list(v) for v in values] if self.width > 1 else [v[0] for v in values]
        flat = array.array(self.form, [x for v in values for x in v])
        if way == "numpy" and numpy:
            shape = (len(values), self.width) if self.width > 1 else len(values)
            return numpy.frombuffer(flat, dtype=flat.typecode).reshape(shape)
        if self.width == 1 or not values:
            return flat
        return memoryview(flat).cast("B").cast(self.form, (len(values), self.width))

    def of_bytes(self, data):
        return struct.unpack(f"{self.width}{self.form}", data)


KINDS = {
    "set": Kind(0, "B", 0, 8),
    "uint64": Kind("uint64", "Q", 1, 64),
    "rows": Kind(("float32", 4), "f", 4, 0),
    "opaque": Kind(12, "B", 12, 8),
    "uint32": Kind("uint32", "I", 1, 32),
    "uint16": Kind("uint16", "H", 1, 16),
}


# ---- What explains a batch ------------------------------------------------------------------------------------------


class Item:
    """An item of a batch and what it delivered; `held`: a value as delivered, or None."""

    def __init__(self, op, key, value, flag=Accum.EITHER, score=None):
        self.op, self.key, self.value, self.flag, self.score = op, key, value, flag, score
        self.outcome = self.held = None


def accumulate(kind, item, value, pin):
    """The outcomes of accum_or_assign for a present key, and the value afterwards."""
    if item.flag == Accum.ASSIGN_NEW:
        return [(Outcome.HIT, value, pin)] + ([(Outcome.PINNED, value, pin)] if pin else [])
    if pin:
        return [(Outcome.PINNED, value, pin)]
    return [(Outcome.UPDATED, kind.add(value, item.value), pin)]


def present(kind, item, value, pin, holder):
    """What an item may do if its key is there: (outcome, value afterwards, pin afterwards)."""
    op = item.op
    if op in LOOKUPS:
        return [(Outcome.HIT, value, pin)]
    if op == "accum_or_assign":
        return accumulate(kind, item, value, pin)
    if op == "lock_keys":
        return [(Outcome.PINNED, value, pin)] if pin else [(Outcome.HIT, value, holder)]
    if op == "unlock_keys":
        return [(Outcome.MISS, value, 0) if not pin else (Outcome.HIT, value, 0) if pin == holder else
                (Outcome.PINNED, value, pin)]  # fmt: skip
    if op in ("find_or_insert", "find_or_insert_ptr") and pin in (0, holder):
        return [(Outcome.HIT, value, holder)]
    if pin:
        return [(Outcome.PINNED, value, pin)]
    if op == "erase":
        return [(Outcome.ERASED, None, 0)]
    if op in ("touch", "find_or_insert", "find_or_insert_ptr"):
        return [(Outcome.HIT, value, 0)]
    return [(Outcome.UPDATED, value if op == "assign_scores" else item.value, 0)]


def absent(kind, item, holder):
    """The same if its key is not there."""
    op = item.op
    inserts = op in (*UPSERTS, "find_or_insert", "find_or_insert_ptr")
    inserts = inserts or (op == "accum_or_assign" and item.flag != Accum.ADD)
    if not inserts:
        return [(Outcome.MISS, None, 0)]
    value = kind.zero() if op == "find_or_insert_ptr" else item.value
    pin = holder if op in ("find_or_insert", "find_or_insert_ptr") else 0
    return [(o, value, pin) for o in NEW] + [(o, None, 0) for o in NONE]


def explained(kind, items, first, last, gone, holder, in_order):
    """Whether the items of one key, and `gone` evictions of it, lead from the entry `first` to the entry `last`: pairs
    (value or None, pin). True also if there are too many orders to try."""
    if len(items) > 6 and not in_order:
        return True

    @functools.lru_cache(None)
    def search(state, left, evictions):
        value, pin = state
        if not left and not evictions:
            return state == last
        if evictions and value is not None and not pin and search((None, 0), left, evictions - 1):
            return True
        for i in left[:1] if in_order else left:
            item = items[i]
            after = present(kind, item, value, pin, holder) if value is not None else absent(kind, item, holder)
            rest = tuple(k for k in left if k != i)
            for outcome, new, new_pin in after:
                if outcome != item.outcome or (item.held is not None and outcome in WRITES and item.held != value):
                    continue
                if search((new, new_pin), rest, evictions):
                    return True
        return False

    return search(first, tuple(range(len(items))), gone)


# ---- The machine ----------------------------------------------------------------------------------------------------

WAYS = ["list", "array", "numpy"]
keys_small = st.lists(st.integers(0, 90), max_size=24)
keys_drawn = keys_small | st.lists(st.integers(0, 90), max_size=70, unique=True) | st.lists(
    st.sampled_from([1, 2, 3, LIMIT - 1, LIMIT - 3, LIMIT - 4, 1 << 40]), max_size=5
)
option = st.fixed_dictionaries({"way": st.sampled_from(WAYS), "promise": st.booleans(), "scored": st.booleans(),
                                "raw": st.integers(0, 5).map(lambda n: n == 0),
                                "grow": st.sampled_from([None] * 5 + [0, 0.5, 0.7]),
                                "out": st.sampled_from([None, "array", "result", "values"]),
                                "number": st.integers(0, 200)})  # fmt: skip
holders = st.sampled_from([1, 2, LIMIT - 1])
predicates = st.one_of(
    st.just(("all", 0, 0)),
    st.tuples(st.just("score_below"), st.integers(0, 300), st.just(0)),
    st.tuples(st.just("score_in"), st.integers(0, 100), st.integers(0, 400)),
    st.tuples(st.just("key_in"), st.integers(0, 60), st.integers(0, 90)),
    st.tuples(st.just("key_masked"), st.just(3), st.integers(0, 3)),
    st.just(("value_zero", 0, 0)),
)


def holds(predicate, key, value, score):
    name, a, b = predicate
    return {"all": True, "score_below": score < a, "score_in": a <= score <= b, "key_in": a <= key <= b,
            "key_masked": key & a == b, "value_zero": not any(value)}[name]  # fmt: skip


# ---- Configurations -------------------------------------------------------------------------------------------------

NUMBERS = (0, 1, 2, 3, 5, 8, 16, 32, 64, 128, 256, 1024, 4096)
EXPRESSIONS = (heddle.Policy("now", "max(old, now) + given", "MAX"), heddle.Policy("given", "old + given"))
SLOW = 600  # places that the simulator lists in a short time
part = 0  # of a run: Hypothesis draws few different tables in one
opened_with, met = set(), set()  # (design, field, value) that tables of a run had, and pairs of them


def classes_of(row):
    """Values of a parameter, from its row."""
    listed = {"lock": "locks", "policy": "policies"}.get(row["name"])
    if listed:
        return [r[0] for r in heddle.rows(listed)] + (list(EXPRESSIONS) if listed == "policies" else [])
    if row["name"] == "hash":
        return ["mix64", "crc32,city32"]
    if row["type"] == "number":
        return sorted({n for n in (*NUMBERS, row["least"]) if row["least"] <= n <= row["most"]})
    return row["values"] or [False, True]


def open_table(value, parameters):
    """A table, and those of the parameters that it can have. An error names the field; a field that is too small gets
    the least that the error tells, another is left as usual."""
    parameters = dict(parameters)
    while True:
        try:
            return heddle.Table(value=value, **parameters), parameters
        except heddle.Error as error:
            name, least = str(error).split(":")[0], re.search(r"at least ([0-9]+)", str(error))
            if name == "value_bytes" or name not in parameters:
                name = next(n for n in reversed(parameters) if n not in ("design", "backend", "capacity"))
            if least and isinstance(parameters[name], int) and int(least[1]) > parameters[name]:
                parameters[name] = int(least[1])
            else:
                del parameters[name]


def kinds_of(design):
    """The types of values that a design has."""
    for name, kind in KINDS.items():
        try:
            heddle.Table(16, kind.value, design=design).close()
        except heddle.Error as error:
            assert str(error).startswith("value_bytes: "), error
        else:
            yield name


DESIGNS = {row[0]: list(kinds_of(row[0])) for row in heddle.rows("designs")}
ROWS = [row for row in heddle._core.parameter_rows()
        if row["name"] not in ("design", "backend", "capacity", "value_bytes", "file", "durable", "commit")]  # fmt: skip


def choose(seed):
    """The parameters of a table, and its type of values: any field of the design's, or of all designs', in any class of
    its values. Equal bytes choose equally, and others have nothing in common."""
    chance = random.Random(seed + str(part).encode())
    design = chance.choice(["hkv", *DESIGNS])
    parameters = {"design": design, "backend": chance.choice(["ref", "ref", "host"]),
                  "capacity": chance.choice([2, 16, 64, 100, 250])}  # fmt: skip
    for row in ROWS:
        # buckets are small in most tables, or few of them would be full
        chosen = row["name"] in ("slots", "segment") or chance.random() < 0.4
        if row["design"] in (None, design) and chosen:
            values = classes_of(row)
            parameters[row["name"]] = chance.choice(values[:8] if row["name"] == "slots" else values)
    if design == "gphash":  # a key may be in 32 slots
        levels, hashes = chance.choice([(2, 2), (4, 2), (1, 2), (4, 4), (2, 1), (1, 4)])
        parameters.update(levels=levels, hashes=hashes, slots=32 // (levels * hashes))
    return parameters, chance.choice(DESIGNS[design])


tables = st.binary(min_size=6, max_size=6).map(choose)



class Tables(RuleBasedStateMachine):
    """One table and its model."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.table, self.entries, self.pins, self.results = None, {}, {}, {}

    def teardown(self):
        if self.table is not None:
            self.table.close()
        self.folder.cleanup()

    @initialize(chosen=tables)
    def open(self, chosen):
        parameters, kind = chosen
        self.kind = KINDS[kind]
        self.table, parameters = open_table(self.kind.value, parameters)
        if parameters["backend"] == "host" and self.table.info["places"] > SLOW:
            self.table.close()
            self.table, parameters = open_table(self.kind.value, {**parameters, "backend": "ref"})
        self.note(parameters)
        info = self.table.info
        self.design, self.policy, self.limit = info["design"], info["policy"], info["keys"]
        self.dictionary = self.policy == "none"
        self.in_order = info["backend"] == "ref"
        self.ticks = parameters.get("clock") != "device"
        self.needs_scores = "scores needed" in info["policy_flags"]
        self.tiers = bool(info.get("device_value_bytes"))
        self.has = {row["name"]: self.runs(row) for row in heddle._core.call_rows()}
        self.ordered = self.has["min"]
        assert self.has["touch"] == self.has["insert_and_evict"] == self.has["lock_keys"] == (not self.dictionary)
        assert all(self.has[op] for op in ("find", "contains", "insert", "assign", "erase", "export", "find_or_insert"))
        assert info["capacity"] >= parameters["capacity"]
        for name, thing in parameters.items():
            given = thing != "usual" and (name != "slots" or self.policy != "none") and (name != "cached" or thing)
            if name in info and name not in ("capacity", "policy") and given:
                assert str(info[name]) == str(int(thing) if isinstance(thing, bool) else thing), (name, thing, info[name])
        assert len(self.table) == 0 and list(self.table) == []

    def note(self, parameters):
        design = parameters["design"]
        had = [(design, row["name"], parameters[row["name"]]) for row in ROWS
               if row["name"] in parameters and row["design"] in (None, design)]  # fmt: skip
        had.append((design, "backend", parameters["backend"]))
        opened_with.update(had)
        met.update(itertools.combinations(had, 2))

    def runs(self, row):
        """Whether the design has an operation: an empty batch of it is none's fault."""
        inputs = {"holder": 1, "predicate": "all", "limit": 1, "ops": b"", "slots": 0}
        needed = [inputs.get(p["name"], u64([])) for p in row["parameters"] if not p["default"]]
        values = [p["name"] for p in row["parameters"] if p["name"] == "values"]
        try:
            getattr(self.table, row["name"])(*needed, *([self.kind.array([], "array")] if values else []))
        except heddle.Error as error:
            assert error.status == "HD_EINVAL", error
            return False
        return True

    # ---- Batches ----

    def refused(self, op, *arguments, **options):
        """A call that the design does not have changes nothing."""
        try:
            getattr(self.table, op)(*arguments, **options)
        except heddle.Error as error:
            assert error.status == "HD_EINVAL" and str(error), error
            assert entries_of(self.table) == self.entries
        else:
            raise AssertionError(f"{op} is not refused")

    def keys(self, keys, way):
        if way == "list":
            return list(keys)
        return numpy.array(keys, dtype="uint64") if way == "numpy" and numpy else u64(keys)

    def out_array(self, n, number):
        """An array for values that has values in it."""
        start = [self.kind.number(number + 100 + i) for i in range(n)]
        return self.kind.array(start, "numpy" if numpy else "array"), start

    def inputs(self, op, keys, o, own_scores=True):
        """The items of a batch, and the arguments of the call."""
        items = [Item(op, k, self.kind.number(o["number"] + i)) for i, k in enumerate(keys)]
        options = {}
        if o["promise"] and len(set(keys)) == len(keys):
            options["distinct"] = True
        scored = own_scores and not self.dictionary
        if scored and (o["scored"] or o["raw"] or self.needs_scores):
            for i, item in enumerate(items):
                item.score = (o["number"] * 7 + i * 13) % 200 + 1
            options["scores"] = self.keys([i.score for i in items], o["way"])
            if o["raw"]:
                options["raw_scores"] = True
        return items, options

    def out_option(self, op, items, o, options, values=None):
        """What `out` is, and which values its rows have before the call."""
        n, key = len(items), (op, len(items))
        start = [self.kind.zero()] * n
        if o["out"] == "result" and key in self.results:
            options["out"] = self.results[key]
            start = rows_of(options["out"].value, n)
        elif o["out"] == "values" and op == "find_or_insert" and values is not None and not isinstance(values, list):
            options["out"] = values
            start = [i.value for i in items]
        elif o["out"] == "array" and self.kind.width:
            options["out"], start = self.out_array(n, o["number"])
        return start

    def run(self, op, items, call, grow=False):
        """Runs a batch, and checks everything that can be known of its outcomes and of the table afterwards."""
        before, counted = self.table.info, self.table.counters()
        result = call()
        outcomes = outcomes_of(result)
        assert len(outcomes) == len(items)
        for item, outcome in zip(items, outcomes, strict=True):
            item.outcome = outcome
        if isinstance(result, heddle.Result):
            assert len(result) == len(items) and result.op == ("insert_or_assign" if op == "mixed" else op)
        self.check_found(op, result, outcomes)
        self.check_counters(op, items, counted, grow)
        if not self.dictionary and self.ticks:
            assert self.table.info["now"] == before["now"] + len(items), (before["now"], self.table.info["now"])
        return result, before

    def check_found(self, op, result, outcomes):
        found = getattr(result, "found", None)
        if found is None:
            return
        there = (Outcome.HIT, Outcome.UPDATED, Outcome.ERASED, Outcome.PINNED)
        assert found.tolist() == [o in there for o in outcomes], (op, outcomes)

    def check_counters(self, op, items, counted, grow):
        now = self.table.counters()
        if grow:
            return
        assert now["batches"] == counted["batches"] + 1, (op, counted["batches"], now["batches"])
        assert now["items"] == counted["items"] + len(items)
        for outcome in Outcome:
            name = outcome.name.lower()
            more = sum(i.outcome == outcome for i in items)
            assert now["outcomes"][name] == counted["outcomes"][name] + more, (op, name)
        for op_ in Op:
            name = op_.name.lower()
            names = {"insert": "insert_or_assign"}
            more = sum(names.get(i.op, i.op) == name for i in items)
            assert now["ops"][name] == counted["ops"][name] + more, (op, name)

    def settle(self, items, before, holder=0, evicted=None):
        """Explains the entries that the table has now. `evicted`: a list of (key, value, score), if it is known."""
        after = entries_of(self.table)
        assert len(after) == len(self.table)
        of_key, left = {}, 0
        for item in items:
            if item.key >= self.limit:
                assert item.outcome == Outcome.RESERVED, (item.key, item.outcome)
                continue
            assert item.outcome != Outcome.RESERVED
            of_key.setdefault(item.key, []).append(item)
        for key in set(of_key) | set(self.entries) | set(after):
            its = of_key.get(key, [])
            came = sum(i.outcome in NEW for i in its)
            erased = sum(i.outcome == Outcome.ERASED for i in its)
            gone = (key in self.entries) + came - erased - (key in after)
            assert gone >= 0, f"key {key} came from nowhere"
            left += gone
            if evicted is not None:
                assert gone == sum(k == key for k, _, _ in evicted), f"key {key}: evictions that are not listed"
            self.explain(key, its, gone, after, holder)
            if len(its) == 1 and not self.dictionary and key in after:
                self.check_score(its[0], key, after[key][1], before, gone)
        assert left == sum(i.outcome == Outcome.EVICTED for i in items), "entries are gone without an outcome EVICTED"
        if self.dictionary:
            assert not left and not any(i.outcome in (Outcome.REFUSED, Outcome.PINNED) for i in items)
        self.check_one_bucket(items, before, after)
        self.entries = after
        self.table.check()

    def explain(self, key, its, gone, after, holder):
        first = (self.entries[key][0] if key in self.entries else None, self.pins.get(key, 0))
        value = after[key][0] if key in after else None
        if not its:
            if key in after:
                assert gone == 0 and after[key] == self.entries[key], f"key {key} changed, but it is not in the batch"
            else:
                assert first[1] == 0, f"pinned key {key} was evicted"
            return
        pins = {0, first[1], holder} if value is not None else {0}
        for pin in pins:
            if explained(self.kind, its, first, (value, pin), gone, holder, self.in_order):
                if pin:
                    self.pins[key] = pin
                else:
                    self.pins.pop(key, None)
                return
        raise AssertionError(f"key {key}: {first} -> {value}, gone {gone}: "
                             f"{[(i.op, i.value, i.outcome.name, i.held, int(i.flag)) for i in its]}")  # fmt: skip

    def check_score(self, item, key, score, before, gone):
        """The score of an entry that one item of the batch had the key of."""
        rescored = item.op not in (*LOOKUPS, "assign_values", "lock_keys", "unlock_keys")
        hit = item.outcome in (Outcome.HIT, Outcome.UPDATED)
        if item.op == "accum_or_assign" and item.outcome == Outcome.HIT or item.outcome == Outcome.PINNED:
            rescored = False
        old = self.entries.get(key, (None, None))[1]
        if gone or not (hit or item.outcome in NEW):
            return
        if hit and not rescored:
            assert score == old, f"{item.op} changed the score of key {key}"
            return
        given = item.score
        if self.raw and given is not None or self.policy == "custom":
            assert score == given
        elif not self.ticks or self.policy.startswith("expr:"):
            return
        elif self.policy == "fifo" and hit:
            assert score == old, (item.op, old, score)
        elif self.policy in ("lru", "fifo"):
            assert before["now"] <= score <= self.table.info["now"], (before["now"], score)
        elif self.policy == "lfu":
            count = 1 if given is None else given
            assert score == (old + count if hit else count), (item.op, old, count, score)
        elif self.policy.startswith("epoch_"):
            assert score >> 32 == before["epoch"] or hit and score >> 32 >= before["epoch"], hex(score)

    def check_one_bucket(self, items, before, after):
        """A table of one bucket evicts only if it is full, and then the lowest score."""
        if self.dictionary or before["buckets"] != 1 or self.table.info["buckets"] != 1:
            return
        came = sum(i.outcome in NEW for i in items)
        if len(self.entries) + len({i.key for i in items} - set(self.entries)) <= before["slots"]:
            assert not any(i.outcome in (Outcome.EVICTED, Outcome.REFUSED) for i in items), "a full table with room"
        if len(items) == 1 and came and items[0].outcome == Outcome.EVICTED:
            (victim,) = set(self.entries) - set(after)
            free = [score for key, (_, score) in self.entries.items() if key not in self.pins]
            assert self.entries[victim][1] == min(free), "the victim has not the lowest score"

    def deliver(self, items, result, start):
        """Puts the delivered values into the items, and checks rows that no item wrote."""
        values = rows_of(result.value, len(items))
        for item, value, old in zip(items, values, start, strict=True):
            if item.outcome in WRITES:
                item.held = value
            else:
                assert value == old, f"{item.op}: the row of an item that found nothing is {value}, not {old}"

    # ---- Lookups and updates ----

    def check_scores_found(self, items, result):
        """`score` of a lookup; with an array `out` there is none."""
        if result.score is None:
            return
        for item, score in zip(items, result.score.tolist(), strict=True):
            if item.outcome == Outcome.HIT:
                assert score == self.entries[item.key][1], (item.op, item.key, score)

    def lookup(self, op, keys, o):
        items, options = self.inputs(op, keys, o, own_scores=False)
        start = self.out_option(op, items, o, options) if op != "find_ptr" else None
        if op == "contains":
            options.pop("out", None)
        result, before = self.run(op, items, lambda: getattr(self.table, op)(self.keys(keys, o["way"]), **options))
        for item in items:
            assert (item.outcome == Outcome.HIT) == (item.key in self.entries and item.key < self.limit)
        if op in ("find", "find_missed"):
            self.deliver(items, result, start)
            self.check_scores_found(items, result)
            self.results[op, len(items)] = result
        self.settle(items, before)
        return items, result

    @rule(keys=keys_drawn, o=option)
    def do_find(self, keys, o):
        self.lookup("find", keys, o)

    @rule(keys=keys_drawn, o=option)
    def do_contains(self, keys, o):
        self.lookup("contains", keys, o)
        for key in keys[:1]:
            assert (key in self.table) == (key in self.entries and key < self.limit)

    @rule(keys=keys_drawn, o=option)
    def do_find_ptr(self, keys, o):
        if not self.has["find_ptr"]:
            return self.refused("find_ptr", u64(keys))
        items, result = self.lookup("find_ptr", keys, o)
        self.check_scores_found(items, result)
        self.check_pointers(items, result)

    @rule(keys=keys_drawn, o=option)
    def do_find_missed(self, keys, o):
        items, result = self.lookup("find_missed", keys, o)
        missed = [(item.key, i) for i, item in enumerate(items) if item.outcome == Outcome.MISS]
        listed = sorted(zip(result.missed.key.tolist(), result.missed.item.tolist(), strict=True), key=lambda row: row[1])
        assert listed == missed
        if self.in_order:
            assert result.listed.item.tolist() == [i for _, i in missed]

    def check_pointers(self, items, result):
        """Values at the addresses; no two keys have one address."""
        keys_at = {}
        if not self.kind.bytes or self.dictionary or self.tiers:
            return
        for item, address in zip(items, result.ptr.tolist(), strict=True):
            if not address:
                continue
            assert keys_at.setdefault(address, item.key) == item.key, "two keys have one address"
            value = self.kind.of_bytes(memory_at(address, self.kind.bytes))
            assert value == self.entries[item.key][0], (item.op, item.key, value)
        for item, address in zip(items, result.ptr.tolist(), strict=True):
            if item.outcome in (Outcome.MISS, *NONE, Outcome.RESERVED):
                assert address == 0

    @rule(keys=keys_drawn, o=option)
    def do_touch(self, keys, o):
        items, options = self.inputs("touch", keys, o)
        self.raw = options.get("raw_scores", False)
        if self.dictionary:
            return self.refused("touch", u64(keys))
        start = self.out_option("touch", items, o, options)
        result, before = self.run("touch", items, lambda: self.table.touch(self.keys(keys, o["way"]), **options))
        self.deliver(items, result, start)
        self.results["touch", len(items)] = result
        self.settle(items, before)

    def update(self, op, keys, o, scored=True, valued=True, **more):
        items, options = self.inputs(op, keys, o, own_scores=scored)
        self.raw = options.get("raw_scores", False)
        values = [self.kind.array([i.value for i in items], o["way"])] if valued else []
        if op in UPSERTS and o["grow"] is not None and not self.table.info.get("near"):
            options["grow"] = o["grow"]
        options.update(more)
        listing = op == "insert_and_evict"
        name = "insert" if listing and o["number"] % 2 else op
        if name == "insert" and listing:
            options["evicted"] = True
        if self.dictionary and (op == "assign_scores" or listing):
            return self.refused(name, u64(keys), *values, **options)
        call = lambda: getattr(self.table, name)(self.keys(keys, o["way"]), *values, **options)  # noqa: E731
        grow = options.get("grow") is not None
        result, before = self.run(op, items, call, grow=grow)
        if grow:
            assert not any(i.outcome == Outcome.PENDING for i in items)
        evicted = self.listed(items, result) if listing else None
        self.settle(items, before, evicted=evicted)

    def listed(self, items, result):
        """The evicted entries of a batch; each refused item is in the list once, too."""
        rows = result.evicted
        assert result.listed is result.evicted
        values = rows_of(rows.value, len(rows.key))
        evicted, refused = [], []
        for key, value, score, i in zip(rows.key.tolist(), values, rows.score.tolist(), rows.item.tolist(), strict=True):
            item = items[i]
            if item.outcome == Outcome.REFUSED:
                assert (key, value) == (item.key, item.value)
                refused.append(i)
                continue
            assert item.outcome == Outcome.EVICTED, (i, item.outcome)
            if not any(other.key == key for other in items):
                assert (value, score) == self.entries[key], (key, value, score, self.entries[key])
            else:
                held = [other.value for other in items if other.key == key]
                assert value in held or key in self.entries and value == self.entries[key][0]
            evicted.append((key, value, score))
        assert sorted(refused) == [i for i, item in enumerate(items) if item.outcome == Outcome.REFUSED]
        assert len(evicted) == sum(i.outcome == Outcome.EVICTED for i in items)
        assert sorted(rows.item.tolist()) == sorted(set(rows.item.tolist()))
        return evicted

    @rule(keys=keys_drawn, o=option)
    def do_assign(self, keys, o):
        self.update("assign", keys, o)

    @rule(keys=keys_drawn, o=option)
    def do_assign_values(self, keys, o):
        self.update("assign_values", keys, o, scored=False)

    @rule(keys=keys_drawn, o=option)
    def do_assign_scores(self, keys, o):
        self.update("assign_scores", keys, o, valued=False)

    @rule(keys=keys_drawn, o=option)
    def do_insert(self, keys, o):
        self.update("insert", keys, o)

    @rule(keys=keys_drawn, o=option)
    def do_insert_or_assign(self, keys, o):
        self.update("insert_or_assign", keys, o)

    @rule(keys=keys_drawn, o=option)
    def do_insert_and_evict(self, keys, o):
        self.update("insert_and_evict", keys, o)

    @rule(keys=keys_drawn, o=option)
    def do_erase(self, keys, o):
        self.update("erase", keys, o, scored=False, valued=False)

    @rule(keys=keys_drawn, o=option, flags=st.none() | st.lists(st.sampled_from(Accum), min_size=70, max_size=70))
    def do_accum_or_assign(self, keys, o, flags):
        items, options = self.inputs("accum_or_assign", keys, o)
        self.raw = options.get("raw_scores", False)
        values = self.kind.array([i.value for i in items], o["way"])
        if self.kind.value in (12, 0):
            return self.refused("accum_or_assign", u64(keys), values, **options)
        if flags:
            options["flags"] = bytes(flags[: len(items)])
            for item, flag in zip(items, flags, strict=False):
                item.flag = flag
        call = lambda: self.table.accum_or_assign(self.keys(keys, o["way"]), values, **options)  # noqa: E731
        _, before = self.run("accum_or_assign", items, call)
        self.settle(items, before)

    @rule(keys=keys_drawn, o=option, holder=st.just(0) | holders)
    def do_find_or_insert(self, keys, o, holder):
        items, options = self.inputs("find_or_insert", keys, o)
        self.raw = options.get("raw_scores", False)
        values = self.kind.array([i.value for i in items], o["way"])
        start = self.out_option("find_or_insert", items, o, options, values)
        if holder and self.dictionary:
            return self.refused("find_or_insert", u64(keys), values, holder=holder)
        options["holder"] = holder
        if options.get("out") is values and values is not None and memoryview(values).readonly:
            del options["out"]
            start = [self.kind.zero()] * len(items)
        call = lambda: self.table.find_or_insert(self.keys(keys, o["way"]), values, **options)  # noqa: E731
        result, before = self.run("find_or_insert", items, call)
        self.deliver(items, result, start)
        self.results["find_or_insert", len(items)] = result
        self.settle(items, before, holder=holder)

    @rule(keys=keys_drawn, o=option, holder=st.just(0) | holders)
    def do_find_or_insert_ptr(self, keys, o, holder):
        items, options = self.inputs("find_or_insert_ptr", keys, o)
        self.raw = options.get("raw_scores", False)
        if self.dictionary:
            return self.refused("find_or_insert_ptr", u64(keys))
        call = lambda: self.table.find_or_insert_ptr(self.keys(keys, o["way"]), holder=holder, **options)  # noqa: E731
        result, before = self.run("find_or_insert_ptr", items, call)
        self.settle(items, before, holder=holder)
        self.check_pointers(items, result)

    @rule(keys=keys_drawn, o=option, holder=holders)
    def do_lock_keys(self, keys, o, holder):
        items, options = self.inputs("lock_keys", keys, o, own_scores=False)
        if self.dictionary:
            return self.refused("lock_keys", u64(keys), holder)
        _, before = self.run("lock_keys", items, lambda: self.table.lock_keys(self.keys(keys, o["way"]), holder, **options))
        self.settle(items, before, holder=holder)

    @rule(keys=keys_drawn, o=option, holder=holders)
    def do_unlock_keys(self, keys, o, holder):
        items, options = self.inputs("unlock_keys", keys, o, own_scores=False)
        if self.dictionary:
            return self.refused("unlock_keys", u64(keys), holder)
        call = lambda: self.table.unlock_keys(self.keys(keys, o["way"]), holder, **options)  # noqa: E731
        _, before = self.run("unlock_keys", items, call)
        self.settle(items, before, holder=holder)

    @rule(keys=keys_small, o=option, ops=st.lists(st.sampled_from(MIXED), min_size=24, max_size=24))
    def do_mixed(self, keys, o, ops):
        items, options = self.inputs("mixed", keys, o)
        for item, op in zip(items, ops, strict=False):
            item.op = op
        codes = bytes(Op[op.upper()] for op in ops[: len(items)])
        values = self.kind.array([i.value for i in items], o["way"])
        if not self.has["mixed"] or (self.kind.value == 12 and "accum_or_assign" in ops[: len(items)]):
            return self.refused("mixed", codes, u64(keys), values)
        start = self.out_option("mixed", items, o, options)
        call = lambda: self.table.mixed(codes, self.keys(keys, o["way"]), values, **options)  # noqa: E731
        result, before = self.run("mixed", items, call)
        gives = ("find", "find_or_insert")
        for item, value, old in zip(items, rows_of(result.value, len(items)), start, strict=True):
            if item.outcome in WRITES and item.op in gives:
                item.held = value
            else:
                assert value == old, (item.op, item.outcome, value, old)
        self.results["mixed", len(items)] = result
        self.settle(items, before)

    # ---- In the order of keys ----

    def neighbour(self, op, keys, o, inclusive, entry_of):
        if not self.ordered:
            return self.refused(op, u64(keys))
        items, options = self.inputs(op, keys, o, own_scores=False)
        start = self.out_option(op, items, o, options)
        call = lambda: getattr(self.table, op)(self.keys(keys, o["way"]), inclusive=inclusive, **options)  # noqa: E731
        result, _ = self.run(op, items, call)
        values, found = rows_of(result.value, len(items)), result.key.tolist()
        for item, value, key, old in zip(items, values, found, start, strict=True):
            want = entry_of(item.key) if item.key < self.limit else None
            assert item.outcome == (Outcome.HIT if want is not None else
                                    Outcome.MISS if item.key < self.limit else Outcome.RESERVED)  # fmt: skip
            if want is None:
                assert value == old, (op, item.key, value, old)
            else:
                assert (key, value) == (want, self.entries[want][0]), (op, item.key, key, want)
        self.results[op, len(items)] = result
        assert entries_of(self.table) == self.entries

    @rule(keys=keys_drawn, o=option, inclusive=st.booleans())
    def do_predecessor(self, keys, o, inclusive):
        below = lambda key: max((k for k in self.entries if k < key or inclusive and k == key), default=None)  # noqa: E731
        self.neighbour("predecessor", keys, o, inclusive, below)

    @rule(keys=keys_drawn, o=option, inclusive=st.booleans())
    def do_successor(self, keys, o, inclusive):
        above = lambda key: min((k for k in self.entries if k > key or inclusive and k == key), default=None)  # noqa: E731
        self.neighbour("successor", keys, o, inclusive, above)

    @rule(keys=keys_drawn, o=option, limit=st.integers(0, 20), width=st.sampled_from([0, 1, 5, 40, LIMIT]))
    def do_range(self, keys, o, limit, width):
        upper = [min(k + width, (1 << 64) - 1) for k in keys]
        if not self.ordered:
            return self.refused("range", u64(keys), u64(upper), limit)
        items, options = self.inputs("range", keys, o, own_scores=False)
        again = self.results.get(("range", len(items), limit))
        if o["out"] == "result" and again is not None:
            options["out"] = again
        call = lambda: self.table.range(self.keys(keys, o["way"]), self.keys(upper, o["way"]), limit, **options)  # noqa: E731
        result, _ = self.run("range", items, call)
        self.results["range", len(items), limit] = result
        width = self.kind.width
        for i, item in enumerate(items):
            want = sorted(k for k in self.entries if item.key <= k <= upper[i]) if item.key < self.limit else []
            rows, more = result.rows.tolist()[i], result.more.tolist()[i]
            assert (rows, more) == (min(len(want), limit), len(want) > limit), (item.key, upper[i], rows, more)
            if not rows:
                continue
            found, values = result.key.tolist()[i][:rows], result.value.tolist()[i][:rows]
            assert found == want[:rows], (found, want)
            assert [(v,) for v in values] == [self.entries[k][0] for k in found] and width == 1
        assert entries_of(self.table) == self.entries

    def end(self, op, key):
        if not self.ordered:
            return self.refused(op)
        found = getattr(self.table, op)()
        assert found == (None if key is None else (key, self.entries[key][0][0])), (op, found, key)

    @rule()
    def do_min(self):
        self.end("min", min(self.entries, default=None))

    @rule()
    def do_max(self):
        self.end("max", max(self.entries, default=None))

    # ---- Whole tables ----

    @rule(predicate=predicates)
    def do_size_if(self, predicate):
        n = sum(holds(predicate, k, v, s) for k, (v, s) in self.entries.items())
        assert self.table.size_if(*predicate) == n

    @rule()
    def do_size(self):
        n = len(self.entries)
        assert self.table.size() == n == len(self.table)
        assert abs(self.table.load_factor - n / self.table.info["places"]) < 1e-9
        assert repr(self.table) and self.table._repr_html_()

    @rule(predicate=predicates)
    def do_erase_if(self, predicate):
        goes = {k for k, (v, s) in self.entries.items() if holds(predicate, k, v, s) and k not in self.pins}
        assert self.table.erase_if(*predicate) == len(goes)
        for key in goes:
            del self.entries[key]
        assert entries_of(self.table) == self.entries
        self.table.check()

    @rule(rows=st.integers(1, 40))
    def do_export(self, rows):
        seen = {}
        for part in self.table.items(rows):
            values = rows_of(part.value, len(part))
            assert part.item.tolist() == sorted(part.item.tolist())
            for key, value, score in zip(part.key.tolist(), values, part.score.tolist(), strict=True):
                assert key not in seen
                seen[key] = (value, score)
        assert seen == self.entries
        assert sorted(self.table) == sorted(self.entries)

    @rule(predicate=predicates, start=st.integers(0, 20), slots=st.none() | st.integers(0, 12))
    def do_export_if(self, predicate, start, slots):
        start = min(start, self.table.info["places"])
        if slots is not None:
            slots = min(slots, self.table.info["places"] - start)
        end = self.table.info["places"] if slots is None else start + slots
        whole = self.table.export()
        want = [(k, i) for k, i in zip(whole.key.tolist(), whole.item.tolist(), strict=True)
                if start <= i < end and holds(predicate, k, *self.entries[k])]  # fmt: skip
        part = self.table.export_if(*predicate, start, slots)
        assert list(zip(part.key.tolist(), part.item.tolist(), strict=True)) == want

    @rule(sure=st.integers(0, 3))
    def do_clear(self, sure):
        if sure:
            return
        assert self.table.clear() is None
        self.entries, self.pins = {}, {}
        assert entries_of(self.table) == {} and len(self.table) == 0

    @rule()
    def do_promote(self):
        if self.dictionary and self.table.info.get("cache", "none") == "none":
            return self.refused("promote")
        assert self.table.promote() == 0 or self.tiers or self.dictionary
        assert entries_of(self.table) == self.entries

    @rule(epoch=st.integers(0, 5))
    def set_epoch(self, epoch):
        if not self.dictionary:
            self.table.epoch = self.table.epoch + epoch
            assert self.table.info["epoch"] == self.table.epoch

    def has_room(self, call, argument):
        """What a call that grows a table returns, or True; False: its limit of device memory is too small for that."""
        before = self.table.info
        try:
            result = call(argument)
        except heddle.Error as error:
            assert before.get("near") and "near: " in str(error), error
            assert self.table.info == before and entries_of(self.table) == self.entries
            return False
        return True if result is None else result

    @rule(more=st.integers(1, 3))
    def grow(self, more):
        buckets, places = self.table.info["buckets"], self.table.info["places"]
        if places > 2000:
            return
        counted, parts = self.table.counters()["outcomes"], self.table.items(1)
        seen = next(parts, None)
        want = buckets * more if self.design == "hkv" else buckets + more
        if not self.has_room(self.table.grow, want):
            return
        now = self.table.info["buckets"]
        assert now == want or self.design in ("ovs", "sl", "gphash") and now >= want  # whole segments, or levels
        if seen is not None and now != buckets and len(self.entries) > 1:
            try:
                list(parts)
            except RuntimeError:
                pass
            else:
                assert seen.item[0] == places - 1, "the iteration went on"
        assert entries_of(self.table) == self.entries and self.table.counters()["outcomes"] == counted
        self.table.check()

    @rule(more=st.integers(0, 200))
    def reserve(self, more):
        capacity = self.table.info["capacity"]
        if capacity > 1500 or not self.has_room(self.table.reserve, capacity // 2 + more):
            return
        assert self.table.info["capacity"] >= max(capacity, capacity // 2 + more)
        assert entries_of(self.table) == self.entries

    @rule()
    def shrink(self):
        info = self.table.info
        if self.design in ("hkv", "gphash"):
            return self.refused("shrink", info["buckets"])
        self.table.shrink(info["base_buckets"])
        assert info["base_buckets"] <= self.table.info["buckets"] <= info["buckets"]
        assert entries_of(self.table) == self.entries
        self.table.check()

    @rule(again=st.booleans())
    def snapshot(self, again):
        path = os.path.join(self.folder.name, "t.heddle")
        self.table.save(path if again else os.fsencode(path))
        head = heddle.inspect(path)
        assert head["size"] == len(self.entries) and head["value_bytes"] == self.kind.bytes
        with heddle.load(path, value=self.kind.value, **self.table._beside_snapshot()) as again_open:
            self.same(again_open, path)
        if again:
            assert self.table.load(path) == 0
            self.pins = {}
            assert entries_of(self.table) == self.entries
            self.table.check()

    def same(self, other, path):
        """Another table is what this one is, and saves the same bytes; `path`: those of this one."""
        mine, its = self.table.info, other.info
        assert entries_of(other) == self.entries
        other.check()
        if self.tiers:  # no file says which values are far
            return
        changes = {"memory_bytes", "values_device_bytes", "values_host_bytes", *(() if self.ticks else ("now",))}
        assert {n: x for n, x in its.items() if n not in changes} == {n: x for n, x in mine.items() if n not in changes}
        assert other._beside_snapshot() == self.table._beside_snapshot()
        if self.ticks:
            other.save(path + ".again")
            with open(path, "rb") as a, open(path + ".again", "rb") as b:
                one, two = a.read(), b.read()
            at = next((i for i, (x, y) in enumerate(zip(one, two)) if x != y), min(len(one), len(two)))
            assert one == two, f"a table that was loaded saves other bytes, from byte {at} of {len(one)} on"

    @rule(way=st.sampled_from(["pickle", "copy", "deepcopy"]), moves=st.booleans())
    def copied(self, way, moves):
        """A copy is the same table; from then on it may take the place of the first one."""
        path = os.path.join(self.folder.name, "c.heddle")
        self.table.save(path)
        ways = {"pickle": lambda t: pickle.loads(pickle.dumps(t)), "copy": copy.copy, "deepcopy": copy.deepcopy}
        other = ways[way](self.table)
        self.same(other, path)
        old = other
        if moves:
            old, self.table, self.pins = self.table, other, {}
        old.close()

    @rule(near=st.sampled_from([0, 1, 1 << 12, 1 << 20, 1 << 30]))
    def set_near(self, near):
        if "near" not in self.table.info:
            return self.refused("set_near", near)
        before = self.table.info["near"]
        try:
            self.table.set_near(near)
        except heddle.Error as error:
            least = re.search(r"at least ([0-9]+)", str(error))
            assert str(error).startswith("near: ") and least, error
            assert self.table.info["near"] == before
            self.table.set_near(int(least[1]))
            near = int(least[1])
        assert self.table.info["near"] == near and entries_of(self.table) == self.entries
        self.table.check()

    @rule(capacity=st.sampled_from([16, 40, 200]), number=st.integers(0, 100))
    def load_other_shape(self, capacity, number):
        """A table of another shape is saved, and loaded: what did not fit is counted."""
        path = os.path.join(self.folder.name, "other.heddle")
        info = self.table.info
        more = {"slots": 8, **({} if self.dictionary else {"policy": self.policy})}
        keys = u64(range(number, number + 60))
        values = self.kind.array([self.kind.number(k) for k in keys], "array")
        other, _ = open_table(self.kind.value, {"design": info["design"], "capacity": capacity, "seed": 77, **more})
        with other:
            scores = {"scores": keys} if self.needs_scores else {}
            other.insert(keys, values, **scores)
            saved = entries_of(other)
            other.save(path)
        dropped = self.has_room(self.table.load, path)
        if dropped is False:
            return
        now = entries_of(self.table)
        assert len(now) + dropped == len(saved) and now.items() <= saved.items()
        assert not dropped or self.design == "hkv"
        self.entries, self.pins = now, {}
        self.table.check()

    @precondition(lambda self: self.table is not None)
    @rule(keys=st.lists(st.integers(0, 90), min_size=2, max_size=5))
    def wrong_calls(self, keys):
        """Calls that fail change nothing."""
        short = self.kind.array([self.kind.number(0)] * (len(keys) - 1), "array")
        if short is not None:
            self.refused("insert", u64(keys), short)
            self.refused("find", u64(keys), out=short)
        self.refused("find", u64(keys), kernel="no-such-kernel")
        self.refused("export", self.table.info["places"] + 1)
        self.refused("size_if", "no_such_predicate")
        self.refused("find", None)
        self.refused("find", [1.5])
        self.refused("export", 0, 1 << 61)


class State(unittest.TestCase):
    def test_every_operation_is_a_rule(self):
        rules = {name[3:] for name in vars(Tables) if name.startswith("do_")}
        self.assertEqual(rules, {row["name"] for row in heddle._core.call_rows()})

    def check_fields(self):
        """Tables of the run had each field of each design with a value that is not the usual one."""
        for row in ROWS:
            designs = [row["design"]] if row["design"] else list(DESIGNS)
            values = {value for design, name, value in opened_with if name == row["name"] and design in designs}
            usual = {row["values"][0] if row["values"] else row["usual"]}
            self.assertTrue(values - usual, (row["design"], row["name"], values))
        print(f"# {len(opened_with)} values of fields, {len(met)} pairs of them")

    def test_tables(self):
        global part
        minutes = float(os.environ.get("HEDDLE_HYPOTHESIS_MINUTES", "0"))
        phases = (hypothesis.Phase.generate, hypothesis.Phase.shrink)
        quiet = {"phases": phases, "deadline": None, "database": None, "suppress_health_check": list(hypothesis.HealthCheck)}
        if not minutes:
            once = hypothesis.settings(max_examples=25, stateful_step_count=25, derandomize=True, **quiet)
            for part in range(14):
                run_state_machine_as_test(Tables, settings=once)
            self.check_fields()
            return
        end, runs = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < end:
            few = hypothesis.settings(max_examples=25, stateful_step_count=40, **quiet)
            part = random.getrandbits(64)
            run_state_machine_as_test(Tables, settings=few)
            runs += 1
        print(f"# {25 * runs} examples of up to 40 calls in {minutes:g} minutes")


if __name__ == "__main__":
    unittest.main()
