# SPDX-License-Identifier: Apache-2.0
"""Rows of an embedding out and in: parts, state_dict, and what was used since a moment.

Scores go with the clock and the epoch that they are times of. Where rows enter, the table's are set to these, or are
not before them. So entries that were saved are as old as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

import heddle
from heddle._core import Error
from heddle.torch import _rows
from heddle.torch._rows import COLUMNS, Part, Times

NEW_AT_A_TIME = 1 << 16
COLUMNS_OF_STATES = WeakIdKeyDictionary()  # tensors of a state_dict whose sizes may change (LoadPlanner)


class _Columns:
    """torch.distributed.checkpoint finds the names of a state_dict as attributes."""

    key = weight = state = score = None


class Stored:
    """The methods of an embedding that list, set and remove rows."""

    _columns = _Columns()

    def _fqn_modifiers(self):
        """For torch.distributed.checkpoint.state_dict: which attribute has the attributes that tensors are named by."""
        return dict.fromkeys(COLUMNS, "_columns")

    # ---- Clocks -----------------------------------------------------------------------------------------------------

    def _times_of(self, table):
        info = table.info
        return Times(self._clock, info["now"], info["epoch"])

    def _reads_time(self):
        policy = self._resolved()
        if policy.startswith("expr:"):
            return re.search(r"\b(now|tick)\b", policy) is not None
        return policy in ("lru", "fifo", "epoch_lru", "epoch_fifo")

    def _converts(self):
        """Whether scores by one clock can be entries' scores in a table with another."""
        return not (self._resolved().startswith("expr:") and self._reads_time())

    def _meet(self, times, score, exact=False):
        """Brings the table's clock and epoch to those of scores that are about to enter. exact: to these, in an empty
        table, when the scores are in it; else the table's are not before them."""
        table, policy = self._own(), self._resolved()
        same = times is None or times.clock == self._clock
        if times is not None:
            ticks = policy in ("epoch_lru", "epoch_fifo")
            epoch = times.epoch + (ticks and not same)  # later than all scores, whatever their ticks
            table.epoch = epoch if exact else max(epoch, table.epoch)
        if exact and same and times is not None:
            table.clock = times.now if self._clock == "device" else max(0, times.now - len(score))
        elif self._reads_time() and len(score):
            self._meet_time(times, score, same)

    def _meet_time(self, times, score, same):
        table, policy = self._own(), self._resolved()
        if not same and not self._converts():
            raise Error(f"clock: scores of policy {policy} by the {times.clock} clock mean nothing by the "
                        f"{self._clock} one; pass table={{'clock': '{times.clock}'}}")  # fmt: skip
        if self._clock == "device":
            if same and times is not None and times.now < table.info["now"]:
                table.clock = times.now  # ticks begin there
        elif same and times is not None:
            table.clock = max(times.now, table.clock)
        elif policy in ("lru", "fifo"):
            table.clock = max(table.clock, ((int((score ^ -(1 << 63)).max()) + (1 << 63)) & _rows.LAST) + 1)

    # ---- Parts ------------------------------------------------------------------------------------------------------

    def _walk(self, rows, since=None):
        with self._whole():
            spans = _rows.spans(self._own(), rows)
        for start, count in spans:
            with self._whole():
                part = _rows.part(self._own(), self._layout, start, count, self._times_of(self._own()), since)
            if len(part.key):
                yield part

    def parts(self, rows: int = 1 << 16) -> Iterator[Part]:
        """Iterates over all entries as Parts on the CPU, each of at most `rows` slots of the table."""
        return self._walk(rows)

    def mark(self) -> int:
        """A moment for `changed_since`. Gradients must have been applied: call it after `step`."""
        with self._whole():
            if self.gradients:
                raise Error("mark: there are gradients that were not applied; call step() first")
            if self.policy.startswith("epoch_") and self.policy != "epoch_fifo":
                self.epoch += 1
                return self.epoch << 32
            if self.policy == "lru":
                return self._own().now
            raise Error(f"mark: scores of policy {self.policy} are no times of use; use lru, epoch_lru or epoch_lfu")

    def changed_since(self, mark: int, rows: int = 1 << 16) -> Iterator[Part]:
        """Iterates over the entries that were used in training since `mark`: among them are all that have changed."""
        return self._walk(rows, mark)

    @torch.no_grad()
    def insert(self, keys: torch.Tensor, weight: torch.Tensor, state: torch.Tensor | None = None,
               score: torch.Tensor | None = None) -> int:  # fmt: skip
        """Sets the rows of distinct keys. Returns how many entries were evicted or found no place.

        weight: (n, dim). state: the optimizer's, (n, state_floats); None: that of a new row. score: the entry's, as a
        Part has it; None: that of a new entry.
        """
        keys = self._check_ids(keys)
        with self._whole():
            if score is not None:
                self._meet(None, score)
            return self._put(keys, weight, state, score)

    def _put(self, keys, weight, state, score):
        if state is None:
            state = weight.new_full((1, self._layout.state_floats), self.optimizer.state_initial(), dtype=torch.float32)
        rows = self._layout.made_of(weight, state.expand(keys.shape[0], -1))
        options = {"distinct": True, "raw_scores": score is not None}
        if self.evicted_most:
            outcome = self._insert_and_record(keys, rows, score, **options).outcome
        else:
            outcome = self._own().insert_or_assign(keys, rows, score, **options)
        lost = (outcome == heddle.Outcome.REFUSED) | (outcome == heddle.Outcome.EVICTED)
        return int((lost | (outcome == heddle.Outcome.RESERVED)).sum())

    def insert_part(self, part: Part) -> int:
        """Sets the rows of a Part, lowest scores first: so a table that is too small keeps the best. The table's clock
        and epoch are not before the Part's afterwards. Returns as `insert`."""
        return self._put_part(part)

    @torch.no_grad()
    def _put_part(self, part, exact=False):
        _rows.check_part(part, self._layout)
        order, lost = _rows.by_score(part.score), 0
        with self._whole():
            self._meet(part.times, part.score, exact)
            for items in order.split(NEW_AT_A_TIME):
                some = _rows.taken(part, items)
                lost += self._put(*(getattr(some, name).to(self.device) for name in COLUMNS))
        return lost

    def erase(self, ids: torch.Tensor) -> torch.Tensor:
        """Removes the rows of ids. Returns a heddle.Outcome per id."""
        ids = self._check_ids(ids).reshape(-1).contiguous()
        with self._whole():
            return self._own().erase(ids)

    def clear(self) -> None:
        """Removes all rows, and gradients that were not applied."""
        with self._whole():
            self._forget()
            self._own().clear()

    # ---- state_dict -------------------------------------------------------------------------------------------------

    def get_extra_state(self) -> dict[str, Any]:
        return {"format": 1, "dim": self.dim, "policy": self.policy, "seed": self.seed, "steps": self.steps,
                "optimizer": self.optimizer.name, "capacity": self.capacity,
                **self._times_of(self._own())._asdict()}  # fmt: skip

    def set_extra_state(self, meta: dict[str, Any]) -> None:
        if meta["dim"] != self.dim:
            raise Error(f"dim: {meta['dim']} in the state, but the embedding has {self.dim}")
        if meta["optimizer"] != self.optimizer.name:
            raise Error(f"optimizer: {meta['optimizer']} in the state, but the embedding has {self.optimizer.name}")
        if meta["policy"] != self.policy:
            raise Error(f"policy: {meta['policy']} in the state, but the embedding has {self.policy}")
        self.seed, self.steps, self._fast_known = meta["seed"], meta["steps"], None

    def _all_rows(self):
        """All entries as one Part, whose memory is there once."""
        layout, count = self._layout, len(self._own())
        whole = Part(torch.empty(count, dtype=torch.int64), torch.empty((count, layout.dim), dtype=layout.dtype),
                     torch.empty((count, layout.state_floats)), torch.empty(count, dtype=torch.int64),
                     self._times_of(self._own()))  # fmt: skip
        at = 0
        for part in _rows.parts(self._own(), layout, NEW_AT_A_TIME, None):
            for name in COLUMNS:
                getattr(whole, name)[at : at + len(part.key)] = getattr(part, name)
            at += len(part.key)
        if at != count:
            raise Error(f"state_dict: other code has changed the table meanwhile: {at} entries instead of {count}")
        return whole

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        with self._whole():
            self._check_anchor()
            super()._save_to_state_dict(destination, prefix, keep_vars)
            part = self._all_rows()
        del destination[prefix + "_anchor"]
        for name in COLUMNS:
            column = destination[prefix + name] = getattr(part, name)
            COLUMNS_OF_STATES[column] = name

    def _load_from_state_dict(self, state_dict, prefix, metadata, strict, missing, unexpected, errors):
        names = {prefix + name: name for name in COLUMNS}
        own = {names[name]: column for name, column in state_dict.items() if name in names}
        rest = {name: column for name, column in state_dict.items() if name not in names}
        rest[prefix + "_anchor"] = self._anchor.data  # no state has it
        absent = [name for name, field in names.items() if field not in own]
        missing.extend(absent)
        meta = rest.get(prefix + "_extra_state")
        if not absent and meta is not None:
            try:
                self._load(Part(**own), meta)
            except (Error, ValueError) as error:
                errors.append(f"{prefix}: {error}")
        super()._load_from_state_dict(rest, prefix, metadata, strict, missing, unexpected, errors)
        self._seen.written = self._anchor._version

    def _load(self, part, meta):
        with self._whole():
            self.set_extra_state(meta)
            times = Times(meta["clock"], meta["now"], meta["epoch"]) if "clock" in meta else None
            part = part._replace(times=times)
            _rows.check_part(part, self._layout)
            self.clear()
            self.load_dropped = self._put_part(part, exact=True)
            if times is None and self.policy.startswith("epoch_"):  # a state of before clocks were in it
                self.epoch = meta["epoch"] + 1

    load_dropped = 0
    """How many entries of the last load_state_dict the table had no place for."""
