# SPDX-License-Identifier: Apache-2.0
"""The entries that an embedding evicts, kept until they are read."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import NamedTuple

import torch

import heddle
from heddle import _arrays
from heddle._core import Error


class Evicted(NamedTuple):
    """Entries that left. key: int64 (n); value: weights (n, dim); state: the optimizer's, float32; score: int64 (n)."""

    key: torch.Tensor
    value: torch.Tensor
    state: torch.Tensor
    score: torch.Tensor

    def __repr__(self) -> str:
        return _arrays.text_of("heddle.torch.Evicted", self._asdict(), len(self.key))


class Evictions:
    """The methods of an embedding that record entries which left the table."""

    def _room_for_evictions(self, rows):
        """Fails if the entries that wait, and `rows` more, are too many. On a GPU it may wait for the counts."""
        if self._evictions_rows + rows <= self.evicted_most:
            return
        waiting = [_evicted_of(r, self._layout) if not isinstance(r, Evicted) else r for r in self._evictions]
        self._evictions = collections.deque(e for e in waiting if e.key.shape[0])
        self._evictions_rows = sum(e.key.shape[0] for e in self._evictions)
        if self._evictions_rows + rows > self.evicted_most:
            raise Error(f"evicted: {self._evictions_rows} entries wait to be read and {rows} may follow, but evicted="
                        f"{self.evicted_most}; read emb.evicted()")  # fmt: skip

    def _insert_and_record(self, keys, rows, scores, **options):
        """Inserts distinct keys, and keeps what was evicted. Returns the heddle.Result."""
        self._room_for_evictions(keys.shape[0])
        result = self._own().insert_and_evict(keys, rows, scores, **options)
        self._evictions.append(result)
        self._evictions_rows += keys.shape[0]
        return result

    def evicted(self) -> Iterator[Evicted]:
        """Iterates over the entries that were evicted and not yet read: each is in exactly one Evicted.

        The module must have been made with evicted=N: so many entries may wait. If more might, a forward pass fails
        before it inserts.
        """
        if not self.evicted_most:
            raise Error("evicted: make the embedding with evicted=N to record evictions")
        while True:
            with self._in_turn():
                if not self._evictions:
                    return
                batch = self._evictions.popleft()
                if not isinstance(batch, Evicted):
                    self._evictions_rows -= len(batch)
                    batch = _evicted_of(batch, self._layout)
                else:
                    self._evictions_rows -= batch.key.shape[0]
            if batch.key.shape[0]:
                yield batch


def _evicted_of(result, layout):
    """The evicted entries of an insert_and_evict, whose list has refused items too."""
    listed = result.evicted
    keys, item = listed.key.view(torch.int64), listed.item.view(torch.int64)
    left = (result.outcome[item] == heddle.Outcome.EVICTED).nonzero().squeeze(1)
    rows = listed.value[left]
    return Evicted(keys[left], layout.weights(rows), layout.state(rows), listed.score.view(torch.int64)[left])
