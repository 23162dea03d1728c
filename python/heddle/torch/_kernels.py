# SPDX-License-Identifier: Apache-2.0
"""Kernels of embeddings on a GPU, in Triton, which PyTorch's CUDA builds bring along. They reach rows by address.

    _group    the distinct ids of a sorted batch, and where each begins
    _enter    initial rows, into the places that find_or_insert_ptr has made
    _gather   weights, from rows by address
    _chunks   sums of gradients of ids that occur often
    _update   the sum of the gradients of one id, and the optimizer's rule, in place

Addresses become offsets in 16-byte units from the array that the kernel writes. So the compiler knows the alignment,
and moves 16 bytes per access. `_enter` and `_gather` compute initial rows as _initial.py does, bit for bit (Uniform).

With TRITON_INTERPRET=1 the same kernels run on the CPU, for tests.
"""

import torch
import triton
import triton.language as tl

from heddle import Outcome
from heddle.torch import _initial

CHUNK = tl.constexpr(64)  # gradients per partial sum
LONG = tl.constexpr(256)  # an id that occurs more often is summed by chunks
INSERTED, EVICTED = tl.constexpr(int(Outcome.INSERTED)), tl.constexpr(int(Outcome.EVICTED))
REFUSED, RESERVED = tl.constexpr(int(Outcome.REFUSED)), tl.constexpr(int(Outcome.RESERVED))
CONSTANT, UNIFORM, NORMAL = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
SGD, ADAGRAD, ROWWISE, ADAM = tl.constexpr(1), tl.constexpr(2), tl.constexpr(3), tl.constexpr(4)


def _kernel(function):
    """Compiles a kernel once for all numbers of items, and wherever the small arrays begin."""
    unsure = {"do_not_specialize": [a for a in ("n",) if a in function.__code__.co_varnames]}
    small = [a for a in ("address", "outcome", "counts", "dropped") if a in function.__code__.co_varnames]
    try:
        return triton.jit(do_not_specialize_on_alignment=small, **unsure)(function)
    except TypeError:  # before Triton 3.2
        return triton.jit(**unsure)(function)


# ---- Initial rows --------------------------------------------------------------------------------------------------


@triton.jit
def _bits(low, high, column):
    """24 random bits (_initial.random_bits)."""
    x = low + column.to(tl.uint32) * 0x9E3779B9
    x = (x ^ (x >> 16)) * 0x21F0AAAD
    x = ((x ^ (x >> 15)) ^ high) * 0x735A2D97
    return (x ^ (x >> 15)) >> 8


@triton.jit
def _initial_of(key, seed, columns, first, second, KIND: tl.constexpr, DIM: tl.constexpr):
    """Initial weights of keys: float32 (keys, columns). first, second: half and middle; std and mean; or constant."""
    h = (key ^ seed).to(tl.uint64)
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB
    h = h ^ (h >> 31)
    low, high = h.to(tl.uint32)[:, None], (h >> 32).to(tl.uint32)[:, None]
    column = columns[None, :]
    if KIND == UNIFORM:
        x = _bits(low, high, column).to(tl.float32) * 1.1920928955078125e-07 - 1.0
        x = x * first + second
    elif KIND == NORMAL:
        pairs: tl.constexpr = (DIM + 1) // 2
        pair = column % pairs
        radius = (_bits(low, high, pair).to(tl.float32) + 1.0) * 5.9604644775390625e-08
        radius = tl.sqrt(tl.log(radius) * -2.0) * first
        angle = _bits(low, high, pair + pairs).to(tl.float32) * 3.7450702829239286e-07
        x = radius * tl.where(column < pairs, tl.cos(angle), tl.sin(angle)) + second
    else:
        x = tl.zeros_like(low + column).to(tl.float32) + first
    return x


@triton.jit
def _offset(address, base, PER_16: tl.constexpr):
    """The element of an array at `base` that is at an address; both are multiples of 16 bytes."""
    return ((address - base) >> 4) * PER_16


@_kernel
def _enter(address, outcome, key, counts, weights, weights_at, floats, floats_at, n, seed, first, second, state,
           KIND: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, PER_16: tl.constexpr,
           STATE_AT: tl.constexpr, STATE: tl.constexpr, STATE_BLOCK: tl.constexpr):  # fmt: skip
    """Writes the row of each key that entered; find_or_insert_ptr has filled it with zeros. Counts those that did not:
    counts[0] of refused, counts[1] of reserved keys."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.load(address + i, mask=i < n, other=0)
    fate = tl.load(outcome + i, mask=i < n, other=0)
    bad = ((fate == REFUSED) | (fate == RESERVED)) & (i < n)
    if tl.sum(bad.to(tl.int32), 0) > 0:
        tl.atomic_add(counts + (fate == RESERVED).to(tl.int32), bad.to(tl.int64), mask=bad)
    new = (at != 0) & ((fate == INSERTED) | (fate == EVICTED))
    if tl.sum(new.to(tl.int32), 0) > 0:
        k = tl.load(key + i, mask=i < n, other=0)
        columns = tl.arange(0, BLOCK)
        x = _initial_of(k, seed, columns, first, second, KIND, DIM)
        to = weights + _offset(at, weights_at, PER_16)[:, None] + columns[None, :]
        tl.store(to, x.to(weights.dtype.element_ty), mask=new[:, None] & (columns < DIM)[None, :])
        if STATE > 0:
            columns = tl.arange(0, STATE_BLOCK)
            to = floats + _offset(at, floats_at, 4)[:, None] + STATE_AT + columns[None, :]
            x = tl.zeros((ROWS, STATE_BLOCK), tl.float32) + state
            tl.store(to, x, mask=new[:, None] & (columns < STATE)[None, :])


# ---- Forward -------------------------------------------------------------------------------------------------------


@_kernel
def _group(ids, order, number, key, start, inverse, n, BLOCK: tl.constexpr):
    """ids: sorted; order: where each was; number: of its distinct id, from 1 on."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = i < n
    u = tl.load(number + i, mask=here, other=0) - 1
    before = tl.load(number + i - 1, mask=here & (i > 0), other=0) - 1
    begins = here & (u != before)
    tl.store(key + u, tl.load(ids + i, mask=begins, other=0), mask=begins)
    tl.store(start + u, i, mask=begins)
    tl.store(start + u + 1, i + 1, mask=i == n - 1)
    tl.store(inverse + tl.load(order + i, mask=here, other=0), u, mask=here)


@_kernel
def _gather(address, number, key, out, out_at, n, seed, first, second, NUMBERED: tl.constexpr, KIND: tl.constexpr,
            DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, PER_16: tl.constexpr):  # fmt: skip
    """out[i] = the weights at address[number[i]], or the initial weights of key[number[i]] if that is 0."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    here = i < n
    u = tl.load(number + i, mask=here, other=0) if NUMBERED else i
    at = tl.load(address + u, mask=here, other=0)
    columns = tl.arange(0, BLOCK)
    there = here & (at != 0)
    x = tl.load(out + _offset(at, out_at, PER_16)[:, None] + columns[None, :],
                mask=there[:, None] & (columns < DIM)[None, :], other=0.0)  # fmt: skip
    if tl.sum((here & (at == 0)).to(tl.int32), 0) > 0:
        k = tl.load(key + u, mask=here, other=0)
        fresh = _initial_of(k, seed, columns, first, second, KIND, DIM).to(out.dtype.element_ty)
        x = tl.where(there[:, None], x, fresh)
    tl.store(out + i[:, None] * DIM + columns[None, :], x, mask=here[:, None] & (columns < DIM)[None, :])


# ---- Steps ---------------------------------------------------------------------------------------------------------


@triton.jit
def _sum_rows(total, gradient, order, low, high, columns, DIM: tl.constexpr, ROWS: tl.constexpr):
    """total + the gradients order[low] to order[high - 1]."""
    for j in range(low, high, ROWS):
        i = j + tl.arange(0, ROWS)
        row = tl.load(order + i, mask=i < high, other=0)
        x = tl.load(gradient + row[:, None] * DIM + columns[None, :],
                    mask=(i < high)[:, None] & (columns < DIM)[None, :], other=0.0)  # fmt: skip
        total += tl.sum(x.to(tl.float32), 0)
    return total


@_kernel
def _chunks(number, start, order, gradient, partial, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """partial[c] = the sum of the c-th 64 gradients in the order of ids, if all are of one id that occurs often."""
    c = tl.program_id(0).to(tl.int64)
    u = tl.load(number + c * CHUNK) - 1
    if u == tl.load(number + c * CHUNK + CHUNK - 1) - 1:
        if tl.load(start + u + 1) - tl.load(start + u) > LONG:
            columns = tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK,), tl.float32)
            total = _sum_rows(total, gradient, order, c * CHUNK, c * CHUNK + CHUNK, columns, DIM, ROWS)
            tl.store(partial + c * DIM + columns, total, mask=columns < DIM)


@triton.jit
def _sum_of(u, start, order, gradient, partial, columns, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """The sum of the gradients of one id."""
    total = tl.zeros((BLOCK,), tl.float32)
    low, high = tl.load(start + u), tl.load(start + u + 1)
    if high - low > LONG:
        first, last = (low + CHUNK - 1) // CHUNK, high // CHUNK
        total = _sum_rows(total, gradient, order, low, first * CHUNK, columns, DIM, ROWS)
        for c in range(first, last, ROWS):
            i = c + tl.arange(0, ROWS)
            x = tl.load(partial + i[:, None] * DIM + columns[None, :],
                        mask=(i < last)[:, None] & (columns < DIM)[None, :], other=0.0)  # fmt: skip
            total += tl.sum(x, 0)
        total = _sum_rows(total, gradient, order, last * CHUNK, high, columns, DIM, ROWS)
    else:
        total = _sum_rows(total, gradient, order, low, high, columns, DIM, ROWS)
    return total


@_kernel
def _sums(start, order, gradient, partial, out, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """out[u] = the sum of the gradients of id u."""
    u = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    total = _sum_of(u, start, order, gradient, partial, columns, DIM, BLOCK, ROWS)
    tl.store(out + u * DIM + columns, total, mask=columns < DIM)


@_kernel
def _update(address, start, order, gradient, partial, weights, weights_at, floats, floats_at, dropped, rate, eps, beta1,
            beta2, SUMMED: tl.constexpr, RULE: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
            PER_16: tl.constexpr, STATE_AT: tl.constexpr):  # fmt: skip
    """One step of the optimizer on the row of id u. SUMMED: gradient[u] is the sum. Without a row: dropped += 1."""
    u = tl.program_id(0).to(tl.int64)
    at = tl.load(address + u)
    if at == 0:
        tl.atomic_add(dropped, 1)
    else:
        columns = tl.arange(0, BLOCK)
        inside = columns < DIM
        row = weights + _offset(at, weights_at, PER_16) + columns
        state = floats + _offset(at, floats_at, 4) + STATE_AT
        w = tl.load(row, mask=inside, other=0.0).to(tl.float32)  # before the sum, whose loads take as long
        h = w
        v = w
        if RULE == ADAGRAD or RULE == ADAM:
            h = tl.load(state + columns, mask=inside, other=0.0)
        if RULE == ADAM:
            v = tl.load(state + DIM + columns, mask=inside, other=0.0)
        if SUMMED:
            g = tl.load(gradient + u * DIM + columns, mask=inside, other=0.0).to(tl.float32)
        else:
            g = _sum_of(u, start, order, gradient, partial, columns, DIM, BLOCK, ROWS)
        if RULE == SGD:
            w -= rate * g
        elif RULE == ADAGRAD:
            h += g * g
            tl.store(state + columns, h, mask=inside)
            w -= rate * g / (tl.sqrt(h) + eps)
        elif RULE == ROWWISE:
            mean = tl.load(state) + tl.sum(g * g, 0) / DIM
            tl.store(state, mean)
            w -= rate * g / (tl.sqrt(mean) + eps)
        else:
            h = h * beta1 + g * (1 - beta1)
            v = v * beta2 + g * g * (1 - beta2)
            tl.store(state + columns, h, mask=inside)
            tl.store(state + DIM + columns, v, mask=inside)
            w -= rate * h / (tl.sqrt(v) + eps)
        tl.store(row, w.to(weights.dtype.element_ty), mask=inside)


# ---- From Python ---------------------------------------------------------------------------------------------------


class Groups:
    """The distinct ids of a batch. All arrays are int64.

    order (n): the items of id 0, of id 1, and so on; start (u + 1): where each id begins there; number (n): of the id
    of each item in that order, from 1 on; inverse (n): of each item, the number of its id from 0 on; key (u): the ids.
    """

    def __init__(self, ids):
        n = ids.shape[0]
        in_order, self.order = torch.sort(ids, stable=True)
        begins = torch.ones(n, dtype=torch.int64, device=ids.device)
        torch.ne(in_order[1:], in_order[:-1], out=begins[1:])
        self.number = begins.cumsum(0)
        count = int(self.number[-1]) if n else 0  # waits
        self.key, self.start, self.inverse = ids.new_empty(count), ids.new_zeros(count + 1), torch.empty_like(ids)
        if n:
            _group[(triton.cdiv(n, 1024),)](in_order, self.order, self.number, self.key, self.start, self.inverse, n,
                                            BLOCK=1024)  # fmt: skip

    def counts(self):
        """How often each id occurs."""
        return self.start[1:] - self.start[:-1]


class Grouped:
    """The gradient of a batch, not yet summed."""

    def __init__(self, groups, gradient):
        self.groups, self.gradient = groups, gradient


class Kernels:
    """The kernels for one embedding."""

    def __init__(self, layout, initial, seed, rule, state_initial):
        self.layout, self.rule, self.state_initial = layout, rule, float(state_initial)
        self.seed = _initial.seed_word(seed)
        self.kind, self.first, self.second = _kind_of(initial)
        self.block = triton.next_power_of_2(layout.dim)
        self.tile = max(1, 1024 // self.block)  # rows that a program gathers
        self.rows = max(1, min(4, 1024 // self.block))  # gradients that a program adds at a time
        self.warps = min(8, max(1, self.block // 128))
        self.per_16 = 16 // layout.dtype.itemsize

    @staticmethod
    def can(layout, initial, rule):
        """Whether there are kernels for such rows: their addresses must be multiples of 16."""
        return layout.width % 4 == 0 and _kind_of(initial) is not None and rule != 0 and layout.dim <= 8192

    groups, grouped = Groups, Grouped

    def new(self, like, rows):
        """Weights that are to be written whole."""
        return torch.empty((rows, self.layout.dim), dtype=self.layout.dtype, device=like.device)

    def enter(self, address, outcome, keys, counts):
        """Initial rows for keys of a find_or_insert_ptr. counts: int64 (2), of refused and of reserved keys."""
        layout, n = self.layout, keys.shape[0]
        state = layout.state_floats if self.state_initial else 0  # find_or_insert_ptr wrote zeros
        if not n:
            return
        rows = max(1, 1024 // max(self.block, triton.next_power_of_2(max(1, state))))
        weights, floats = self.new(keys, 1), keys.new_empty(4, dtype=torch.float32)
        _enter[(triton.cdiv(n, rows),)](
            address, outcome, keys, counts, weights, weights.data_ptr(), floats, floats.data_ptr(), n, self.seed,
            self.first, self.second, self.state_initial, KIND=self.kind, DIM=layout.dim, BLOCK=self.block, ROWS=rows,
            PER_16=self.per_16, STATE_AT=layout.state_at, STATE=state,
            STATE_BLOCK=triton.next_power_of_2(max(1, state)), enable_fp_fusion=False)  # fmt: skip

    def gather(self, address, keys, inverse=None, absent=None):
        """The weights of items: those at address[inverse[i]], or at address[i]. absent: the weight of the others; None:
        their initial ones."""
        n = keys.shape[0] if inverse is None else inverse.shape[0]
        out = self.new(keys, n)
        kind, first = (self.kind, self.first) if absent is None else (0, float(absent))
        if n:
            _gather[(triton.cdiv(n, self.tile),)](
                address, address if inverse is None else inverse, keys, out, out.data_ptr(), n, self.seed, first,
                self.second, NUMBERED=inverse is not None, KIND=kind, DIM=self.layout.dim, BLOCK=self.block,
                ROWS=self.tile, PER_16=self.per_16, enable_fp_fusion=False)  # fmt: skip
        return out

    def _partial(self, groups, gradient):
        chunks, dim = gradient.shape[0] // CHUNK.value, self.layout.dim
        partial = torch.empty((max(1, chunks), dim), dtype=torch.float32, device=gradient.device)
        if chunks:
            _chunks[(chunks,)](groups.number, groups.start, groups.order, gradient, partial, DIM=dim, BLOCK=self.block,
                               ROWS=self.rows, num_warps=self.warps)  # fmt: skip
        return partial

    def sums(self, groups, gradient):
        """The sum of the gradients of each id: float32 (u, dim)."""
        u, dim = groups.key.shape[0], self.layout.dim
        out = torch.empty((u, dim), dtype=torch.float32, device=gradient.device)
        if u:
            _sums[(u,)](groups.start, groups.order, gradient, self._partial(groups, gradient), out, DIM=dim,
                        BLOCK=self.block, ROWS=self.rows, num_warps=self.warps)  # fmt: skip
        return out

    def update(self, address, groups, gradient, dropped, numbers):
        """One step. groups: of the gradients; None: there is one per id. dropped: int64, a counter."""
        u = address.shape[0]
        if not u:
            return
        rate, eps, beta1, beta2 = (*numbers, 0.0, 0.0, 0.0)[:4]
        partial = gradient if groups is None else self._partial(groups, gradient)
        start, order = (address, address) if groups is None else (groups.start, groups.order)
        floats = torch.empty(4, dtype=torch.float32, device=gradient.device)
        weights = self.new(floats, 1)
        _update[(u,)](
            address, start, order, gradient, partial, weights, weights.data_ptr(), floats, floats.data_ptr(), dropped,
            rate, eps, beta1, beta2, SUMMED=groups is None, RULE=self.rule, DIM=self.layout.dim, BLOCK=self.block,
            ROWS=self.rows, PER_16=self.per_16, STATE_AT=self.layout.state_at, num_warps=self.warps)  # fmt: skip


def _kind_of(initial):
    """(kind, first, second), or None for a function of the caller."""
    if isinstance(initial, _initial.Constant):
        return CONSTANT.value, float(initial.value), 0.0
    if isinstance(initial, _initial.Uniform):
        return UNIFORM.value, float(initial.half), float(initial.middle)
    if isinstance(initial, _initial.Normal):
        return NORMAL.value, float(initial.std), float(initial.mean)
    return None

