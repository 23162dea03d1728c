# SPDX-License-Identifier: Apache-2.0
"""Kernels of embeddings on a GPU, in Triton, which PyTorch's CUDA builds bring along. They reach rows by address.

    _name     for each item, an item with the same id: a number of 32 bits, which is sorted in half the time
    _starts   how many distinct ids begin in each block of a sorted batch
    _group    the distinct ids of a sorted batch, and where each begins
    _enter    initial rows, into the places that find_or_insert_ptr has made
    _gather   weights, from rows by address
    _chunks   sums of gradients of ids that occur often
    _advance  the number of the step, and the rate of that step, in memory of the GPU
    _update   the sum of the gradients of one id, and the optimizer's rule, in place

The host never needs the number of distinct ids. Arrays of distinct ids have room for n of them; the rest of the keys is
PAD, which no table contains. Kernels read the number from memory. So nothing waits, and a step fits in a CUDA graph.

Addresses become offsets in 16-byte units from the array that the kernel writes. So the compiler knows the alignment,
and moves 16 bytes per access. `_enter` and `_gather` compute initial rows as _initial.py does, bit for bit (Uniform).

With TRITON_INTERPRET=1 the same kernels run on the CPU, for tests.
"""

import math

import torch
import triton
import triton.language as tl

from heddle import Outcome
from heddle.torch import _initial

BLOCK_IDS = 1024  # sorted ids per program
NAMED_FROM = 1 << 16  # a batch of as many int64 ids is sorted by _name's numbers
PAD = tl.constexpr(-1)  # a reserved key
CHUNK = tl.constexpr(64)  # gradients per partial sum
LONG = tl.constexpr(256)  # an id that occurs more often is summed by chunks
INSERTED, EVICTED = tl.constexpr(int(Outcome.INSERTED)), tl.constexpr(int(Outcome.EVICTED))
REFUSED, RESERVED = tl.constexpr(int(Outcome.REFUSED)), tl.constexpr(int(Outcome.RESERVED))
CONSTANT, UNIFORM, NORMAL = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
SGD, ADAGRAD, ROWWISE, ADAM = tl.constexpr(1), tl.constexpr(2), tl.constexpr(3), tl.constexpr(4)

# An embedding's numbers in memory of the device: int64 (7).
AT_REFUSED, AT_RESERVED, AT_DROPPED, AT_UNPLACED, AT_STEPS, AT_HITS, AT_MISSES = (tl.constexpr(i) for i in range(7))


def _kernel(function):
    """Compiles a kernel once for all numbers of items, and wherever the small arrays begin."""
    unsure = {"do_not_specialize": [a for a in ("n", "steps") if a in function.__code__.co_varnames]}
    arrays = ("address", "before", "outcome", "key", "tally", "count", "batch")
    small = [a for a in arrays if a in function.__code__.co_varnames]
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


@triton.jit
def _enter_rows(i, last, address, outcome, key, weights, weights_at, floats, floats_at, seed, first, second, state,
                KIND: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, PER_16: tl.constexpr,
                STATE_AT: tl.constexpr, STATE: tl.constexpr, STATE_BLOCK: tl.constexpr):  # fmt: skip
    """Writes the rows of those of the items i that entered."""
    at = tl.load(address + i, mask=i < last, other=0)
    fate = tl.load(outcome + i, mask=i < last, other=0)
    new = (at != 0) & ((fate == INSERTED) | (fate == EVICTED))
    if tl.sum(new.to(tl.int32), 0) > 0:
        k = tl.load(key + i, mask=i < last, other=0)
        columns = tl.arange(0, BLOCK)
        x = _initial_of(k, seed, columns, first, second, KIND, DIM)
        to = weights + _offset(at, weights_at, PER_16)[:, None] + columns[None, :]
        tl.store(to, x.to(weights.dtype.element_ty), mask=new[:, None] & (columns < DIM)[None, :])
        if STATE > 0:
            columns = tl.arange(0, STATE_BLOCK)
            to = floats + _offset(at, floats_at, 4)[:, None] + STATE_AT + columns[None, :]
            x = tl.zeros((ROWS, STATE_BLOCK), tl.float32) + state
            tl.store(to, x, mask=new[:, None] & (columns < STATE)[None, :])


@_kernel
def _enter(address, outcome, key, before, count, tally, unplaced, weights, weights_at, floats, floats_at, n, seed,
           first, second, state, COUNTED: tl.constexpr, TOLD: tl.constexpr, MOST: tl.constexpr, SPAN: tl.constexpr,
           KIND: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, PER_16: tl.constexpr,
           STATE_AT: tl.constexpr, STATE: tl.constexpr, STATE_BLOCK: tl.constexpr):  # fmt: skip
    """Writes the row of each key that entered; find_or_insert_ptr has filled it with zeros. Counts those that did not,
    and lists them in `unplaced`, a ring of MOST keys. before: the address that a key had, or 0; one that had a row was
    not asked to enter. COUNTED: there are `count` keys, not n. TOLD: counts keys with a row, and those without."""
    last = n
    if COUNTED:
        last = tl.load(count)
    begin = tl.program_id(0).to(tl.int64) * SPAN
    i = begin + tl.arange(0, SPAN)
    fate = tl.load(outcome + i, mask=i < last, other=0)
    absent = (i < last) & (tl.load(before + i, mask=i < last, other=1) == 0)
    bad = ((fate == REFUSED) | (fate == RESERVED)) & absent
    if TOLD:
        misses = tl.sum((absent & (fate != RESERVED)).to(tl.int64), 0)
        hits = tl.sum(((i < last) & (absent == 0)).to(tl.int64), 0)
        if hits > 0:
            tl.atomic_add(tally + AT_HITS, hits)
        if misses > 0:
            tl.atomic_add(tally + AT_MISSES, misses)
    if tl.sum(bad.to(tl.int32), 0) > 0:
        tl.atomic_add(tally + tl.where(fate == RESERVED, AT_RESERVED, AT_REFUSED), bad.to(tl.int64), mask=bad)
        slot = tl.atomic_add(tally + AT_UNPLACED + tl.zeros_like(i), bad.to(tl.int64), mask=bad)
        tl.store(unplaced + slot % MOST, tl.load(key + i, mask=bad, other=0), mask=bad)
    new = ((fate == INSERTED) | (fate == EVICTED)) & (i < last)
    if tl.sum(new.to(tl.int32), 0) > 0:
        for j in range(0, SPAN, ROWS):
            _enter_rows(begin + j + tl.arange(0, ROWS), last, address, outcome, key, weights, weights_at, floats,
                        floats_at, seed, first, second, state, KIND, DIM, BLOCK, ROWS, PER_16, STATE_AT, STATE,
                        STATE_BLOCK)  # fmt: skip


# ---- Forward -------------------------------------------------------------------------------------------------------


@_kernel
def _name(ids, slots, names, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """names[i]: an item with the same id as item i, the same one for all items with this id.

    slots: zeros (SIZE), a hash table of items + 1, and behind it one element per item, for those that have nothing to
    claim. A slot is claimed once, so a load that is too early reads 0, and the claim after it gives what is there.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(ids + i, mask=i < n, other=0)
    h = x.to(tl.uint64) * 0x9E3779B97F4A7C15
    slot = ((h ^ (h >> 32)) * 0xD6E8FEB86659FD93 >> 32).to(tl.int32) & (SIZE - 1)
    name = i
    looks = i < n
    while tl.sum(looks.to(tl.int32), 0) > 0:
        there = tl.load(slots + slot, mask=looks, other=1)
        before = tl.atomic_cas(slots + tl.where(there == 0, slot, SIZE + i), tl.zeros_like(i), i + 1, sem="relaxed")
        holder = tl.where(there == 0, tl.where(before == 0, i + 1, before), there) - 1
        same = looks & (tl.load(ids + holder, mask=looks, other=0) == x)
        name = tl.where(same, holder, name)
        looks = looks & (same == 0)
        slot = (slot + 1) & (SIZE - 1)
    tl.store(names + i, name, mask=i < n)


@triton.jit
def _begins(ids, n, BLOCK: tl.constexpr):
    """(i, ids[i], whether this is the first of its id) of the sorted ids of this program."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(ids + i, mask=i < n, other=0)
    before = tl.load(ids + i - 1, mask=(i < n) & (i > 0), other=0)
    return i, x, (i < n) & ((x != before) | (i == 0))


@_kernel
def _starts(ids, blocks, n, BLOCK: tl.constexpr):
    """blocks[b]: how many distinct ids begin in block b of the sorted ids."""
    i, x, begins = _begins(ids, n, BLOCK)
    tl.store(blocks + tl.program_id(0), tl.sum(begins.to(tl.int32), 0))


@_kernel
def _group(ids, batch, blocks, key, start, number, count, n, NAMED: tl.constexpr, BLOCK: tl.constexpr):
    """The arrays of Groups, of sorted ids. NAMED: of sorted items instead, whose ids are in `batch`."""
    b = tl.program_id(0)
    before = tl.zeros((BLOCK,), tl.int32)
    for c in range(0, b, BLOCK):
        j = c + tl.arange(0, BLOCK)
        before += tl.load(blocks + j, mask=j < b, other=0)
    i, x, begins = _begins(ids, n, BLOCK)
    u = tl.sum(before, 0) + tl.cumsum(begins.to(tl.int32), 0) - 1
    tl.store(number + i, u, mask=i < n)
    tl.store(start + u, i, mask=begins)
    if NAMED:
        x = tl.load(batch + x, mask=begins, other=0)
    other = n - i + u  # as many items do not begin an id as keys are padding
    tl.store(key + tl.where(begins, u, other), tl.where(begins, x.to(tl.int64), PAD), mask=i < n)
    tl.store(start + u + 1, i + 1, mask=i == n - 1)
    tl.store(count + tl.zeros_like(i), u + 1, mask=i == n - 1)


@_kernel
def _gather(address, number, order, key, out, weights, weights_at, n, seed, first, second, ORDERED: tl.constexpr,
            KIND: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
            PER_16: tl.constexpr):  # fmt: skip
    """out[i] = the weights at address[i], or the initial weights of key[i] if that is 0. ORDERED: out[order[i]] = those
    at address[number[i]]; so equal ids are neighbours, and their row is read once."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    here = i < n
    u = i
    to = i
    if ORDERED:
        u = tl.load(number + i, mask=here, other=0).to(tl.int64)
        to = tl.load(order + i, mask=here, other=0)
    at = tl.load(address + u, mask=here, other=0)
    columns = tl.arange(0, BLOCK)
    there = here & (at != 0)
    x = tl.load(weights + _offset(at, weights_at, PER_16)[:, None] + columns[None, :],
                mask=there[:, None] & (columns < DIM)[None, :], other=0.0)  # fmt: skip
    if tl.sum((here & (at == 0)).to(tl.int32), 0) > 0:
        k = tl.load(key + u, mask=here, other=0)
        fresh = _initial_of(k, seed, columns, first, second, KIND, DIM).to(out.dtype.element_ty)
        x = tl.where(there[:, None], x, fresh)
    tl.store(out + to[:, None] * DIM + columns[None, :], x, mask=here[:, None] & (columns < DIM)[None, :])


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
    """partial[c] = the sum of the 64 gradients from q on, all of one id that occurs often: q is the one place of those
    c * 64 to c * 64 + 63 that is a multiple of 64 behind the start of the id. So sums do not depend on the start."""
    p = tl.program_id(0).to(tl.int64) * CHUNK
    u = tl.load(number + p + CHUNK - 1)  # if all 64 gradients have one id, this place has it too
    low, high = tl.load(start + u).to(tl.int64), tl.load(start + u + 1).to(tl.int64)
    q = low + tl.maximum(p - low + CHUNK - 1, 0) // CHUNK * CHUNK
    if high - low > LONG and q + CHUNK <= high:
        columns = tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        total = _sum_rows(total, gradient, order, q, q + CHUNK, columns, DIM, ROWS)
        tl.store(partial + p // CHUNK * DIM + columns, total, mask=columns < DIM)


@triton.jit
def _sum_of(u, start, order, gradient, partial, columns, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """The sum of the gradients of one id."""
    total = tl.zeros((BLOCK,), tl.float32)
    low, high = tl.load(start + u).to(tl.int64), tl.load(start + u + 1).to(tl.int64)
    if high - low > LONG:
        first, last = low // CHUNK, low // CHUNK + (high - low) // CHUNK
        for c in range(first, last, ROWS):
            i = c + tl.arange(0, ROWS)
            x = tl.load(partial + i[:, None] * DIM + columns[None, :],
                        mask=(i < last)[:, None] & (columns < DIM)[None, :], other=0.0)  # fmt: skip
            total += tl.sum(x, 0)
        total = _sum_rows(total, gradient, order, low + (last - first) * CHUNK, high, columns, DIM, ROWS)
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
def _advance(tally, rates, lr, log1_high, log1_low, log2_high, log2_low, ADAPTIVE: tl.constexpr):
    """Counts a step, and computes its rate, rates[0]. The logarithms of Adam's betas are sums of two float32."""
    steps = tl.load(tally + AT_STEPS) + 1
    tl.store(tally + AT_STEPS, steps)
    rate = lr
    if ADAPTIVE:
        t = steps.to(tl.float64)
        one = 1.0 - tl.exp(t * log1_high + t * log1_low)
        two = 1.0 - tl.exp(t * log2_high + t * log2_low)
        rate = (lr / one * tl.sqrt(two)).to(tl.float32)
    tl.store(rates, rate)


@triton.jit
def _update_row(u, address, start, order, gradient, partial, tally, weights, weights_at, floats, floats_at, rate, eps,
                beta1, beta2, SUMMED: tl.constexpr, RULE: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr,
                ROWS: tl.constexpr, PER_16: tl.constexpr, STATE_AT: tl.constexpr):  # fmt: skip
    """One step of the optimizer on the row of id u. SUMMED: gradient[u] is the sum. Without a row it is counted."""
    at = tl.load(address + u)
    if at == 0:
        tl.atomic_add(tally + AT_DROPPED, 1)
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


@_kernel
def _update(address, start, order, gradient, partial, count, tally, rates, weights, weights_at, floats, floats_at, n,
            steps, rate, eps, beta1, beta2, COUNTED: tl.constexpr, ADVANCED: tl.constexpr, SUMMED: tl.constexpr,
            RULE: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, PER_16: tl.constexpr,
            STATE_AT: tl.constexpr):  # fmt: skip
    """One step of the optimizer on the rows of n ids, or of `count` ids if COUNTED. Programs share them evenly.

    ADVANCED: _advance has counted the step, and its rate is rates[0].
    """
    p = tl.program_id(0)
    ids = n
    if COUNTED:
        ids = tl.load(count)
    if ADVANCED:
        rate = tl.load(rates)
    else:
        if p == 0:
            tl.store(tally + AT_STEPS, steps.to(tl.int64))
    each = (ids + tl.num_programs(0) - 1) // tl.num_programs(0)
    low = p.to(tl.int64) * each
    for u in range(low, tl.minimum(low + each, ids)):
        _update_row(u, address, start, order, gradient, partial, tally, weights, weights_at, floats,
                    floats_at, rate, eps, beta1, beta2, SUMMED, RULE, DIM, BLOCK, ROWS, PER_16, STATE_AT)  # fmt: skip


# ---- From Python ---------------------------------------------------------------------------------------------------

INTERPRETED = not isinstance(_update, triton.runtime.JITFunction)  # TRITON_INTERPRET=1
DIRECT = tuple(int(x) for x in triton.__version__.split(".")[:2]) >= (3, 3) and not INTERPRETED


class Launch:
    """A kernel with its constants. Calls after the first go to Triton's launcher directly: arguments that can differ
    in type or alignment must be named by `variant`."""

    def __init__(self, kernel, constants, **options):
        self.kernel, self.constants, self.options, self.compiled = kernel, constants, options, {}
        code = kernel.fn.__code__
        self.values = [constants[a] for a in code.co_varnames[: code.co_argcount] if a in constants]

    def __call__(self, programs, *arguments, variant=None, stream=None):
        known = self.compiled.get(variant)
        if known is None:
            made = self.kernel[(programs,)](*arguments, **self.constants, **self.options)
            if DIRECT:
                self.compiled[variant] = made.run, made.function, made.packed_metadata
        else:
            run, function, metadata = known
            run(programs, 1, 1, stream, function, metadata, None, None, None, *arguments, *self.values)


class Groups:
    """The distinct ids of a batch of n: u of them, a number that is only on the device.

    Ids are in ascending order, but those of a large batch are in the order of some item of each, unless PyTorch is to
    use deterministic algorithms. The items of one id are in ascending order, so the sums of gradients are the same
    bits in every run.

    order: int64 (n), the items of id 0, of id 1, and so on; number: int32 (n), of the id of each item in that order,
    from 0 on; key: int64 (n), the ids, then padding; start: int32 (n + 1), where each id begins in `order`, and the
    end of the last; count: int32 (1), u.
    """

    def __init__(self, ids, kernels):
        n = ids.shape[0]
        small = {"dtype": torch.int32, "device": ids.device}
        self.key = torch.empty(n, dtype=torch.int64, device=ids.device)
        self.start, self.number = torch.empty(n + 1, **small), torch.empty(n, **small)
        self.count, self._size = torch.empty(1, **small), None
        if not n:
            self.order, self._size = torch.empty_like(self.key), 0
            return
        stream, named = kernels.stream(), ids.dtype == torch.int64 and n >= NAMED_FROM
        named = named and not torch.are_deterministic_algorithms_enabled()
        in_order, self.order = torch.sort(kernels.names(ids, stream) if named else ids, stable=True)
        programs, kind = _blocks(n, BLOCK_IDS), in_order.dtype
        blocks = torch.empty(programs, **small)
        kernels.starts(programs, in_order, blocks, n, variant=kind, stream=stream)
        kernels.group[named](programs, in_order, ids, blocks, self.key, self.start, self.number, self.count, n,
                             variant=kind, stream=stream)  # fmt: skip

    @property
    def size(self):
        """u. The first read waits for the device."""
        if self._size is None:
            self._size = int(self.count)
        return self._size

    def tensors(self):
        return self.order, self.key, self.start, self.number, self.count

    def keys(self):
        """The distinct ids: (u)."""
        return self.key[: self.size]

    def inverse(self):
        """Of each item, the number of its id: int64 (n)."""
        return torch.empty_like(self.order).scatter_(0, self.order, self.number.long())

    def occurrences(self):
        """How often each id occurs: int64 (n). Those of padding are not defined."""
        return (self.start[1:] - self.start[:-1]).long()


class Grouped:
    """The gradient of a batch, not yet summed."""

    def __init__(self, groups, gradient):
        self.groups, self.gradient = groups, gradient


class Kernels:
    """The kernels for one embedding."""

    def __init__(self, layout, initial, seed, rule, state_initial, device, unplaced_most):
        self.layout, self.rule, self.state_initial = layout, rule, float(state_initial)
        self.device, self.unplaced_most = device, unplaced_most
        self.seed = _initial.seed_word(seed)
        self.kind, self.first, self.second = _kind_of(initial)
        self.block = triton.next_power_of_2(layout.dim)
        self.tile = max(1, 1024 // self.block)  # rows that a program gathers
        self.warps = min(8, max(1, self.block // 128))
        on_gpu = device.type == "cuda"
        self.programs = 256 // self.warps * _processors(device) if on_gpu else 7  # that share the rows of a step
        self.floats = torch.empty(4, dtype=torch.float32, device=device)
        self.weights, self.rates = self.floats.view(layout.dtype), torch.empty(1, device=device)
        self.base, self.advanced = self.floats.data_ptr(), False
        self._make_launches()

    def _make_launches(self):
        layout, state = self.layout, self.layout.state_floats if self.state_initial else 0  # the table wrote zeros
        rows = max(1, min(4, 1024 // self.block))  # gradients that a program adds at a time
        block, state_block = {"DIM": layout.dim, "BLOCK": self.block}, triton.next_power_of_2(max(1, state))
        self.starts, self.naming = Launch(_starts, {"BLOCK": BLOCK_IDS}), {}
        self.group = [Launch(_group, {"NAMED": named, "BLOCK": BLOCK_IDS}) for named in (False, True)]
        enter = {**block, "MOST": self.unplaced_most, "SPAN": 256, "KIND": self.kind, "PER_16": self.per_16(),
                 "ROWS": max(1, min(256, 1024 // max(self.block, state_block))), "STATE_AT": layout.state_at,
                 "STATE": state, "STATE_BLOCK": state_block}  # fmt: skip
        self._enter = {(c, t): Launch(_enter, {**enter, "COUNTED": c, "TOLD": t}, enable_fp_fusion=False)
                       for c in (False, True) for t in (False, True)}  # fmt: skip
        gather = {**block, "ROWS": self.tile, "PER_16": self.per_16()}
        self._gather = {(o, k): Launch(_gather, {**gather, "ORDERED": o, "KIND": k}, enable_fp_fusion=False)
                        for o in (False, True) for k in {self.kind, CONSTANT.value}}  # fmt: skip
        sums = {**block, "ROWS": rows}
        self._chunks, self._sums = (Launch(k, sums, num_warps=self.warps) for k in (_chunks, _sums))
        update = {**sums, "RULE": self.rule, "PER_16": self.per_16(), "STATE_AT": layout.state_at}
        self._update = {(grouped, advanced): Launch(_update, {**update, "COUNTED": grouped, "SUMMED": not grouped,
                                                              "ADVANCED": advanced}, num_warps=self.warps)
                        for grouped in (False, True) for advanced in (False, True)}  # fmt: skip
        self._advance = Launch(_advance, {"ADAPTIVE": self.rule == ADAM.value}, num_warps=1)

    def per_16(self):
        """Weights in 16 bytes."""
        return 16 // self.layout.dtype.itemsize

    @staticmethod
    def can(layout, initial, rule):
        """Whether there are kernels for such rows: their addresses must be multiples of 16."""
        return layout.width % 4 == 0 and _kind_of(initial) is not None and rule != 0 and layout.dim <= 8192

    def stream(self):
        """The current stream, as launchers take it."""
        return torch._C._cuda_getCurrentRawStream(self.device.index) if DIRECT else None

    def names(self, ids, stream):
        """Of each item, a number that only items with the same id have: int32 (n), n < 2^30."""
        n = ids.shape[0]
        size = 1 << (2 * n - 1).bit_length()
        if size not in self.naming:
            self.naming[size] = Launch(_name, {"SIZE": size, "BLOCK": 128}, num_warps=1)  # so it has no barriers
        programs = _blocks(n, 128)
        slots = torch.empty(size + 128 * programs, dtype=torch.int32, device=self.device)
        names = torch.empty(n, dtype=torch.int32, device=self.device)
        slots[:size].zero_()
        self.naming[size](programs, ids, slots, names, n, variant=ids.data_ptr() % 16, stream=stream)
        return names

    def groups(self, ids):
        """The Groups of ids: int64 or int32 (n), n < 2^30."""
        return Groups(ids, self)

    grouped = Grouped

    def enter(self, address, outcome, keys, before, count, tally, unplaced, told):
        """Initial rows for keys of a find_or_insert_ptr of those that had the address 0 before it. count: int32 (1), of
        keys before the padding; None: all. unplaced: int64 (unplaced_most), a ring. told: hits are counted."""
        n = keys.shape[0]
        if n:
            self._enter[count is not None, told](
                _blocks(n, 256), address, outcome, keys, before, tally if count is None else count, tally, unplaced,
                self.weights, self.base, self.floats, self.base, n, self.seed, self.first, self.second,
                self.state_initial, variant=count is None, stream=self.stream())  # fmt: skip

    def gather(self, address, keys, groups=None, absent=None):
        """The weights at addresses, or of the items of groups. absent: the weight of keys at address 0; None: their
        initial ones."""
        n = keys.shape[0]
        out = torch.empty((n, self.layout.dim), dtype=self.layout.dtype, device=self.device)
        kind, first = (self.kind, self.first) if absent is None else (CONSTANT.value, float(absent))
        number, order = (address, address) if groups is None else (groups.number, groups.order)
        if n:
            self._gather[groups is not None, kind](
                _blocks(n, self.tile), address, number, order, keys, out, self.weights, self.base, n, self.seed,
                first, self.second, stream=self.stream())  # fmt: skip
        return out

    def _partial(self, groups, gradient, stream):
        chunks = gradient.shape[0] // CHUNK.value
        partial = torch.empty((max(1, chunks), self.layout.dim), dtype=torch.float32, device=self.device)
        if chunks:
            self._chunks(chunks, groups.number, groups.start, groups.order, gradient, partial,
                         variant=gradient.dtype, stream=stream)  # fmt: skip
        return partial

    def sums(self, groups, gradient):
        """The sum of the gradients of each id: float32 (u, dim). Waits for u."""
        u, stream = groups.size, self.stream()
        out = torch.empty((u, self.layout.dim), dtype=torch.float32, device=self.device)
        if u:
            partial = self._partial(groups, gradient, stream)
            self._sums(u, groups.start, groups.order, gradient, partial, out, variant=gradient.dtype, stream=stream)
        return out

    def advance(self, tally, optimizer):
        """Counts a step on the device, and computes its rate there."""
        logs = [math.log(b) if b else -math.inf for b in getattr(optimizer, "betas", ())] or [0.0, 0.0]
        self.advanced = True
        parts = [part for x in logs for part in _two_floats(x)]
        self._advance(1, tally, self.rates, float(optimizer.lr), *parts, stream=self.stream())

    def update(self, address, groups, gradient, tally, steps, numbers):
        """One step. groups: of the gradients; None: there is one per id. steps: the number of the step; None:
        `advance` has counted it."""
        n = address.shape[0]
        if not n:
            return
        stream = self.stream()
        rate, eps, beta1, beta2 = (*(float(x) for x in numbers), 0.0, 0.0, 0.0)[:4]
        partial, start, order, count = gradient, address, address, tally
        if groups is not None:
            partial = self._partial(groups, gradient, stream)
            start, order, count = groups.start, groups.order, groups.count
        self._update[groups is not None, steps is None](
            min(n, self.programs), address, start, order, gradient, partial, count, tally, self.rates, self.weights,
            self.base, self.floats, self.base, n, steps or 0, rate, eps, beta1, beta2,
            variant=gradient.dtype, stream=stream)  # fmt: skip


def _blocks(n, size):
    """n / size, rounded up. triton.cdiv takes 5 us."""
    return -(-n // size)


def _processors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count


def _two_floats(x):
    """Two numbers of float32 whose sum is x."""
    high = torch.tensor(x, dtype=torch.float32).item()
    return high, x - high if math.isfinite(x) else 0.0


def _kind_of(initial):
    """(kind, first, second), or None for a function of the caller."""
    if isinstance(initial, _initial.Constant):
        return CONSTANT.value, float(initial.value), 0.0
    if isinstance(initial, _initial.Uniform):
        return UNIFORM.value, float(initial.half), float(initial.middle)
    if isinstance(initial, _initial.Normal):
        return NORMAL.value, float(initial.std), float(initial.mean)
    return None

