# SPDX-License-Identifier: Apache-2.0
"""What a row of an embedding contains, and rows as they leave and enter a table in parts.

A row is `width` float32 words:

    weights   dim elements of the embedding's type; the last word is filled up
    state     of the optimizer, float32
    padding   to a multiple of 16 bytes, if the row has more than 8; so the addresses of rows are aligned
"""

from typing import NamedTuple

import torch

from heddle._core import Error

TYPES = (torch.float32, torch.float16, torch.bfloat16)
LAST = (1 << 64) - 1


class Part(NamedTuple):
    """Some entries of an embedding, on the CPU. key: int64 (n); weight: (n, dim); state: float32 (n, state_floats), the
    optimizer's; score: int64 (n), the bits of the table's scores."""

    key: torch.Tensor
    weight: torch.Tensor
    state: torch.Tensor
    score: torch.Tensor


class Layout:
    """Where the weights and the state are in a row."""

    def __init__(self, dim, dtype, state_floats):
        if dtype not in TYPES:
            raise TypeError(f"dtype: {dtype}; there are {', '.join(map(str, TYPES))}")
        if dim < 1:
            raise ValueError(f"dim: {dim} is below 1")
        self.dim, self.dtype, self.state_floats = dim, dtype, state_floats
        self.state_at = -(-dim * dtype.itemsize // 4)
        width = self.state_at + state_floats
        self.width = width if width <= 2 else -(-width // 4) * 4
        self.only_weights = dtype == torch.float32 and self.width == dim

    def weights(self, rows):
        """The weights of rows: a view of shape (n, dim)."""
        return rows.view(self.dtype)[:, : self.dim]

    def state(self, rows):
        """The optimizer's state of rows: a view, float32 (n, state_floats)."""
        return rows[:, self.state_at : self.state_at + self.state_floats]

    def new(self, keys):
        """Rows that are to be written whole."""
        return keys.new_empty((keys.shape[0], self.width), dtype=torch.float32)

    def made_of(self, weights, state):
        """Rows of weights and state. The padding is zeros."""
        rows = weights.new_zeros((weights.shape[0], self.width), dtype=torch.float32)
        self.weights(rows).copy_(weights)
        self.state(rows).copy_(state)
        return rows


def _tensor(column, dtype, *shape):
    """A tensor over a column of a list that a table delivered in memory of this machine."""
    if not len(column):
        return torch.empty((0, *shape), dtype=dtype)
    return torch.frombuffer(column, dtype=dtype).view(len(column), *shape)


def parts(table, layout, rows, since=None):
    """Iterates over the entries of a table in slot order, as Parts. since: only scores from this number on."""
    places = table.info["places"]
    for start in range(0, places, rows):
        count = min(rows, places - start)
        if since is None:
            got = table.export(start, count)
        else:
            got = table.export_if("score_in", since, LAST, start, count)
        if len(got.key):
            values = _tensor(got.value, torch.float32, layout.width)
            yield Part(_tensor(got.key, torch.int64), layout.weights(values).clone(), layout.state(values).clone(),
                       _tensor(got.score, torch.int64))  # fmt: skip


def joined(all_parts, layout):
    """One Part of many."""
    columns = list(zip(*all_parts, strict=True))
    if columns:
        return Part(*(torch.cat(c) for c in columns))
    return Part(torch.empty(0, dtype=torch.int64), torch.empty((0, layout.dim), dtype=layout.dtype),
                torch.empty((0, layout.state_floats)), torch.empty(0, dtype=torch.int64))  # fmt: skip


def by_score(part):
    """The same entries, those with the lowest scores first."""
    order = torch.argsort(part.score ^ -(1 << 63), stable=True)
    return Part(*(column[order] for column in part))


def check_part(part, layout):
    """Fails if the shapes of a part do not fit together, or not to the layout."""
    n = part.key.shape[0]
    wanted = {"key": (n,), "weight": (n, layout.dim), "state": (n, layout.state_floats), "score": (n,)}
    for name, shape in wanted.items():
        if tuple(getattr(part, name).shape) != shape:
            raise Error(f"{name}: shape {tuple(getattr(part, name).shape)} instead of {shape}")
