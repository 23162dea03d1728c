# SPDX-License-Identifier: Apache-2.0
"""Initial rows: functions of key and seed alone. So they depend neither on the order of keys nor on the batch.

The hash of a key gives two words a and b of 32 bits. Column j has the 32 random bits mix(a + j * GOLDEN, b). All of
this is integer arithmetic, so Uniform gives the same bits on every device. Normal uses log, cos and sin, whose last bit
may differ between devices.
"""

from __future__ import annotations

import math

import torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GOLDEN = 0x9E3779B9


def _signed(x, bits):
    """The two's complement number of these bits."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def _xor_shift(x, by, bits):
    """x ^ (x >> by), where the shift brings in zeros. Changes x."""
    return x.bitwise_xor_((x >> by).bitwise_and_((1 << (bits - by)) - 1))


def seed_word(seed: int) -> int:
    """The 64 bits that keys are combined with."""
    return _signed(seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03, 64)


def words(keys: torch.Tensor, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two random int32 words per key, shape (n) each: SplitMix64's finaliser of key ^ seed word."""
    h = keys ^ seed_word(seed)
    _xor_shift(h, 30, 64).mul_(_signed(0xBF58476D1CE4E5B9, 64))
    _xor_shift(h, 27, 64).mul_(_signed(0x94D049BB133111EB, 64))
    _xor_shift(h, 31, 64)
    pair = h.view(torch.int32).view(-1, 2)
    return pair[:, 0], pair[:, 1]


def random_bits(keys: torch.Tensor, seed: int, columns: int) -> torch.Tensor:
    """24 random bits per key and column: int32, shape (n, columns)."""
    a, b = words(keys, seed)
    steps = torch.arange(columns, dtype=torch.int64, device=keys.device).mul_(GOLDEN).to(torch.int32)
    x = a[:, None] + steps
    _xor_shift(x, 16, 32).mul_(_signed(0x21F0AAAD, 32))
    _xor_shift(x, 15, 32).bitwise_xor_(b[:, None]).mul_(_signed(0x735A2D97, 32))
    _xor_shift(x, 15, 32)
    return (x >> 8).bitwise_and_(0xFFFFFF)


class Uniform:
    """Rows that are uniform in [low, high)."""

    def __init__(self, low: float, high: float) -> None:
        self.middle, self.half = (low + high) / 2, (high - low) / 2

    def __call__(self, keys: torch.Tensor, dim: int, seed: int) -> torch.Tensor:
        x = random_bits(keys, seed, dim).float().mul_(2.0**-23).sub_(1.0).mul_(self.half)
        return x.add_(self.middle) if self.middle else x


class Normal:
    """Rows of normal distribution (Box and Muller: one pair of random numbers gives two elements)."""

    def __init__(self, mean: float = 0.0, std: float = 1.0) -> None:
        self.mean, self.std = mean, std

    def __call__(self, keys: torch.Tensor, dim: int, seed: int) -> torch.Tensor:
        pairs = (dim + 1) // 2
        x = random_bits(keys, seed, 2 * pairs).float()
        radius = x[:, :pairs].add_(1.0).mul_(2.0**-24).log_().mul_(-2.0).sqrt_().mul_(self.std)
        angle = x[:, pairs:].mul_(2.0**-24 * 2.0 * math.pi)
        x = torch.cat((radius * angle.cos(), radius * angle.sin()), 1)[:, :dim]
        return x.add_(self.mean) if self.mean else x


class Constant:
    """Rows with one value everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def __call__(self, keys: torch.Tensor, dim: int, seed: int) -> torch.Tensor:
        return torch.full((keys.shape[0], dim), self.value, dtype=torch.float32, device=keys.device)


class Given:
    """Rows of the caller's function of keys."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.function = function

    def __call__(self, keys: torch.Tensor, dim: int, seed: int) -> torch.Tensor:
        rows = self.function(keys)
        if not isinstance(rows, torch.Tensor) or tuple(rows.shape) != (keys.shape[0], dim):
            raise ValueError(f"init: the function must give a tensor of shape ({keys.shape[0]}, {dim})")
        return rows


def initial(init: Any, dim: int) -> Callable[[torch.Tensor, int, int], torch.Tensor]:
    """The function (keys, dim, seed) -> rows of an argument `init`."""
    if isinstance(init, (Uniform, Normal, Constant)):
        return init
    if callable(init):
        return Given(init)
    bound = 1.0 / math.sqrt(dim)
    names: dict[str, Any] = {"uniform": Uniform(-bound, bound), "normal": Normal(), "zeros": Constant()}
    if init not in names:
        raise ValueError(f"init: {init!r}; there are {', '.join(names)}, and functions of keys")
    return names[init]
