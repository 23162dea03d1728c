# SPDX-License-Identifier: Apache-2.0
"""What a row of an embedding contains, and rows as they leave and enter a table in parts.

A row is `width` float32 words:

    weights   dim elements of the embedding's type; the last word is filled up
    state     of the optimizer, float32
    padding   to a multiple of 16 bytes, if the row has more than 8; so the addresses of rows are aligned
"""

from typing import NamedTuple

import torch

from heddle import _arrays
from heddle._core import Error

TYPES = (torch.float32, torch.float16, torch.bfloat16)
LAST = (1 << 64) - 1


class Times(NamedTuple):
    """What scores are times of. clock: "logical" or "device"; now: that of the table's info; epoch: the table's."""

    clock: str
    now: int
    epoch: int


class Part(NamedTuple):
    """Some entries of an embedding, on the CPU. key: int64 (n); weight: (n, dim); state: float32 (n, state_floats), the
    optimizer's; score: int64 (n), the bits of the table's scores; times: a heddle.torch.Times, or None."""

    key: torch.Tensor
    weight: torch.Tensor
    state: torch.Tensor
    score: torch.Tensor
    times: Times | None = None

    def __repr__(self) -> str:
        return _arrays.text_of("heddle.torch.Part", dict(zip(COLUMNS, self)), len(self.key))


COLUMNS = Part._fields[:4]


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


def part(table, layout, start, count, times, since=None):
    """The entries of some slots of a table, as a Part. since: only scores from this number on."""
    if since is None:
        got = table.export(start, count)
    else:
        got = table.export_if("score_in", since, LAST, start, count)
    values = _tensor(got.value, torch.float32, layout.width)
    return Part(_tensor(got.key, torch.int64), layout.weights(values).clone(), layout.state(values).clone(),
                _tensor(got.score, torch.int64), times)  # fmt: skip


def spans(table, rows):
    """(first slot, slots) of the parts of a table."""
    if rows < 1:
        raise ValueError(f"rows: {rows} is below 1")
    places = table.info["places"]
    return [(start, min(rows, places - start)) for start in range(0, places, rows)]


def parts(table, layout, rows, times):
    """Iterates over the entries of a table in slot order, as Parts."""
    for start, count in spans(table, rows):
        yield part(table, layout, start, count, times)


def by_score(score):
    """The order of scores, the lowest first: they are u64."""
    return torch.argsort(score ^ -(1 << 63), stable=True)


def taken(part, items):
    """Those items of a part."""
    return part._replace(**{name: getattr(part, name)[items] for name in COLUMNS})


def check_part(part, layout):
    """Fails if the shapes of a part do not fit together, or not to the layout."""
    n = part.key.shape[0]
    wanted = {"key": (n,), "weight": (n, layout.dim), "state": (n, layout.state_floats), "score": (n,)}
    for name, shape in wanted.items():
        if tuple(getattr(part, name).shape) != shape:
            raise Error(f"{name}: shape {tuple(getattr(part, name).shape)} instead of {shape}")
