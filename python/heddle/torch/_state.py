# SPDX-License-Identifier: Apache-2.0
"""Rows of an embedding out and in: parts, state_dict, and what was used since a moment."""

import torch

import heddle
from heddle._core import Error
from heddle.torch import _rows
from heddle.torch._rows import Part


class Stored:
    """The methods of an embedding that list, set and remove rows."""

    def parts(self, rows=1 << 16):
        """Iterates over all entries as Parts on the CPU, each of at most `rows` slots of the table."""
        return _rows.parts(self.table, self._layout, rows)

    def mark(self):
        """A moment for `changed_since`. Gradients must have been applied: call it after `step`."""
        if self._pending:
            raise Error("mark: there are gradients that were not applied; call step() first")
        if self.policy.startswith("epoch_"):
            self.table.epoch += 1
            return self.table.epoch << 32
        if self.policy == "lru" and self._options.get("clock", "logical") == "logical":
            return self.table.info["now"]
        raise Error(f"mark: scores of policy {self.policy} are no times; use lru, epoch_lru or epoch_lfu")

    def changed_since(self, mark, rows=1 << 16):
        """Iterates over the entries that were used in training since `mark`: among them are all that have changed."""
        return _rows.parts(self.table, self._layout, rows, since=mark)

    @torch.no_grad()
    def insert(self, keys, weight, state=None, score=None):
        """Sets the rows of distinct keys. Returns how many entries were evicted or found no place.

        weight: (n, dim). state: the optimizer's, (n, state_floats); None: that of a new row. score: the entry's, as a
        Part has it, which the policies other than lru store; None: that of a new entry.
        """
        keys = self._check_ids(keys)
        if state is None:
            state = weight.new_full((1, self._layout.state_floats), self.optimizer.state_initial(), dtype=torch.float32)
        rows = self._layout.made_of(weight, state.expand(keys.shape[0], -1))
        options = {"distinct": True, "raw_scores": score is not None and self.policy != "lru"}
        scores = score if options["raw_scores"] else None
        if self.evicted_most:
            outcome = self._insert_and_record(keys, rows, scores, **options).outcome
        else:
            outcome = self.table.insert_or_assign(keys, rows, scores, **options)
        lost = (outcome == heddle.Outcome.REFUSED) | (outcome == heddle.Outcome.EVICTED)
        return int((lost | (outcome == heddle.Outcome.RESERVED)).sum())

    def insert_part(self, part):
        """Sets the rows of a Part, lowest scores first: so a table that is too small keeps the best. As `insert`."""
        _rows.check_part(part, self._layout)
        part = _rows.by_score(part)
        return self.insert(*(column.to(self.device) for column in part))

    def erase(self, ids):
        """Removes the rows of ids. Returns a heddle.Outcome per id."""
        return self.table.erase(self._check_ids(ids).reshape(-1).contiguous())

    def clear(self):
        """Removes all rows, and gradients that were not applied."""
        self._pending.clear()
        self.table.clear()

    def get_extra_state(self):
        return {"format": 1, "dim": self.dim, "policy": self.policy, "seed": self.seed, "steps": self.steps,
                "optimizer": self.optimizer.name, "epoch": self.table.epoch, "capacity": self.capacity}  # fmt: skip

    def set_extra_state(self, meta):
        if meta["dim"] != self.dim:
            raise Error(f"dim: {meta['dim']} in the state, but the embedding has {self.dim}")
        if meta["optimizer"] != self.optimizer.name:
            raise Error(f"optimizer: {meta['optimizer']} in the state, but the embedding has {self.optimizer.name}")
        if meta["policy"] != self.policy:
            raise Error(f"policy: {meta['policy']} in the state, but the embedding has {self.policy}")
        self.seed, self.steps, self._fast_known = meta["seed"], meta["steps"], None
        if self.policy.startswith("epoch_"):  # entries that are used from now on come before all that are loaded
            self.table.epoch = meta["epoch"] + 1

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        part = _rows.by_score(_rows.joined(self.parts(), self._layout))
        destination.update({prefix + name: column for name, column in part._asdict().items()})

    def _load_from_state_dict(self, state_dict, prefix, metadata, strict, missing, unexpected, errors):
        names = {prefix + name: name for name in Part._fields}
        own = {names[name]: column for name, column in state_dict.items() if name in names}
        rest = {name: column for name, column in state_dict.items() if name not in names}
        absent = [name for name, field in names.items() if field not in own]
        missing.extend(absent)
        if absent or prefix + "_extra_state" not in rest:
            return super()._load_from_state_dict(rest, prefix, metadata, strict, missing, unexpected, errors)
        try:
            part = Part(**own)
            self.set_extra_state(rest[prefix + "_extra_state"])
            _rows.check_part(part, self._layout)
            self.clear()
            self.load_dropped = sum(self.insert_part(Part(*(c[i : i + (1 << 16)] for c in part)))
                                    for i in range(0, part.key.shape[0], 1 << 16))  # fmt: skip
        except Error as error:
            errors.append(f"{prefix}: {error}")
        return super()._load_from_state_dict(rest, prefix, metadata, strict, missing, unexpected, errors)

    load_dropped = 0
    """How many entries of the last load_state_dict the table had no place for."""
