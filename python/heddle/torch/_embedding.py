# SPDX-License-Identifier: Apache-2.0
"""Embedding and EmbeddingBag: modules whose rows are in a table.

In training, a forward pass groups equal ids, fetches the row of each distinct id, and gives a new id its initial row.
`step` sums the gradients of equal ids, and applies the optimizer to the rows. Nothing else changes rows.

There are two ways to do this. With kernels (_kernels.py), the table gives addresses, and kernels read and change rows
in place. Without them, the operations of the table copy rows, and PyTorch's functions do the rest.

PyTorch meets the rows in one parameter of one element, `_anchor`: freezing, zero_grad and what scales gradients act on
it, and the embedding sees that (_anchor.py). A call holds the embedding's lock, and its stream follows the streams of
the calls before it (_Turn).
"""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

import heddle
from heddle._core import Error
from heddle._table import saved
from heddle.torch import _initial, _ops, _optimizers, _rows
from heddle.torch._anchor import PROBE, Anchored
from heddle.torch._evictions import Evictions
from heddle.torch._state import Stored

# Numbers in Embedding._counts. UNPLACED: listed by kernels. HITS, MISSES: distinct ids of forward passes in training.
REFUSED, RESERVED, DROPPED, UNPLACED, STEPS, HITS, MISSES = COUNTS = range(7)
UNPLACED_MOST = 1 << 20
LFU = ("lfu", "epoch_lfu")


def _summed(gradients, inverse, count):
    """Sums of rows by number, in the order of the rows: (count, dim). The same in every run, on a GPU too."""
    return torch.ops.aten.embedding_dense_backward(gradients, inverse, count, -1, False)


def _no_second_derivatives():
    if torch.is_grad_enabled():
        raise Error("backward: an embedding has no second derivatives (create_graph=True)")


def _traced(ids):
    """Whether a compiler runs, or the tensor is a fake one: then operators stand for what the table does."""
    return torch.compiler.is_compiling() or type(ids) is not torch.Tensor


_NOTHING = contextlib.nullcontext()


def _on(device):
    """Makes a GPU the current one for a while."""
    if device.type != "cuda" or torch.cuda.current_device() == device.index:
        return _NOTHING
    return torch.cuda.device(device)


def _aligned(gradient):
    """The same gradient at an address that is a multiple of 16 bytes, on which kernels rely."""
    gradient = gradient.contiguous()
    return gradient.clone() if gradient.data_ptr() % 16 else gradient


def _normal_tensors():
    """Tensors that stay with a module must not be inference tensors, which nothing may change in place later."""
    return torch.inference_mode(False)


class _Turn:
    """A call on an embedding: one at a time, and behind the calls before it on the GPU, too."""

    __slots__ = ("embedding",)

    def __init__(self, embedding):
        self.embedding = embedding

    def __enter__(self):
        self.embedding._lock.acquire()
        try:
            self.begin()
        except BaseException:
            self.embedding._lock.release()
            raise

    def begin(self):
        self.embedding._follow()

    def __exit__(self, *unused):
        self.embedding._lock.release()


class _Whole(_Turn):
    """A call that concerns all rows: what was put on streams before is done first."""

    __slots__ = ()

    def begin(self):
        self.embedding._settle()


class _Fetch(torch.autograd.Function):
    """The weights of distinct keys, or of items by the number of their key (inverse). Its backward pass hands the
    gradient to the embedding, with float32 sums of equal ids."""

    @staticmethod
    def forward(ctx, anchor, embedding, keys, counts, inverse):
        ctx.embedding, ctx.keys, ctx.inverse = embedding, keys, inverse
        rows = embedding._fetch(keys, counts)
        return rows if inverse is None else rows.index_select(0, inverse)

    @staticmethod
    def backward(ctx, gradient):
        _no_second_derivatives()
        if ctx.inverse is not None:
            gradient = _summed(gradient.float(), ctx.inverse, ctx.keys.shape[0])
        return ctx.embedding._add_gradient((ctx.keys, gradient)), None, None, None, None


class _Looked(torch.autograd.Function):
    """The rows of ids, by kernels. The gradients of equal ids are summed by `step`."""

    @staticmethod
    def forward(ctx, anchor, embedding, ids):
        out, groups = embedding._looked(ids)
        ctx.embedding, ctx.groups = embedding, groups
        return out

    @staticmethod
    def backward(ctx, gradient):
        _no_second_derivatives()
        embedding = ctx.embedding
        gradient = _aligned(gradient.reshape(-1, embedding.dim))
        return embedding._add_gradient(embedding._fast().grouped(ctx.groups, gradient)), None, None


class _Compiled(torch.autograd.Function):
    """The rows of ids, for compilers: the shapes of all tensors follow from the shape of `ids`."""

    @staticmethod
    def forward(ctx, anchor, number, state, ids):
        rows, inverse, count = _ops.call["embedding_train"](number, state, ids)
        ctx.save_for_backward(state, ids, inverse, count)
        ctx.number = number
        return rows

    @staticmethod
    def backward(ctx, gradient):
        _ops.call["embedding_gradient"](ctx.number, *ctx.saved_tensors, gradient)
        return gradient.new_full((1,), PROBE, dtype=torch.float32), None, None, None


class _TableModule(Anchored, Evictions, Stored, torch.nn.Module):
    """What Embedding and EmbeddingBag have in common."""

    _state: torch.Tensor

    def __init__(self, capacity: int, dim: int, *, init: str | Callable[..., torch.Tensor] = "uniform",
                 optimizer: _optimizers.Optimizer | None = None, policy: str = "lru", dtype: torch.dtype = torch.float32,
                 seed: int = 0, absent: float | None = None, evicted: int = 0, backend: str | None = None,
                 device: str | torch.device | None = None, kernels: bool | None = None,
                 table: dict[str, Any] | None = None, group: str | None = None) -> None:  # fmt: skip
        super().__init__()
        if group not in (None, "apart"):
            raise Error(f"group: {group!r}; there are None and 'apart'")
        if policy == "custom":
            raise Error("policy: custom needs a score for every id, which an embedding does not have")
        self.capacity, self.dim, self.dtype = int(capacity), int(dim), dtype
        self.policy, self.seed, self.absent = policy, int(seed), absent
        self.optimizer = _optimizers.check_optimizer(optimizer)
        self._steps, self.group, self.skipped = 0, group, 0
        self.evicted_most = int(evicted)
        self._layout = _rows.Layout(self.dim, dtype, self.optimizer.state_floats(self.dim))
        self._initial = _initial.initial(init, self.dim)
        self._backend, self._options, self._kernels = backend, dict(table or {}), kernels
        self._table, self._table_device, self._clock, self._known_policy = None, None, None, None
        self._pending = []
        with _normal_tensors():
            self._anchor = torch.nn.Parameter(torch.zeros(1, device=device))
            self.register_buffer("_state", torch.zeros(1, dtype=torch.int64, device=device), persistent=False)
        self._start()

    def _start(self):
        """What a copy of the module does not have in common with it."""
        self._lock, self._last = threading.RLock(), None  # _last: the stream that the last call was on
        self._evictions, self._evictions_rows = collections.deque(), 0
        self._unplaced, self._unplaced_rows = collections.deque(), 0
        self._counts, self._side, self._fast_known = None, None, None
        self._ring = None  # the ids that kernels found without a place: int64 (UNPLACED_MOST)
        self._device_steps = False  # whether a graph may count steps, in _counts
        self._number = _ops.enter(self)
        self._start_anchor()

    @property
    def steps(self) -> int:
        """How often `step` has changed rows. After a step in a CUDA graph, reading it waits for the GPU."""
        return int(self._counts[STEPS]) if self._device_steps else self._steps

    @steps.setter
    def steps(self, steps: int) -> None:
        self._steps = steps
        if self._counts is not None:
            self._counts[STEPS] = steps

    @property
    def number(self) -> int:
        """What operators call this embedding. Set it to the number in an exported program of another process."""
        return self._number

    @number.setter
    def number(self, number: int) -> None:
        self._number = _ops.enter(self, number)

    # ---- The table --------------------------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        """Where the table is, and where ids must be."""
        return self._state.device

    def _backend_of(self, device):
        if device.type not in ("cpu", "cuda"):
            raise Error(f"device: {device}; an embedding is on the CPU or on a GPU")
        on_gpu = device.type == "cuda"
        backend = self._backend or ("cuda" if on_gpu else "ref")
        if (backend == "cuda") != on_gpu:
            raise Error(f"backend: {backend}, but the module is on {device}")
        return backend

    @property
    def table(self) -> heddle.Table:
        """The heddle.Table. The first use opens it. Its values are rows: see `weights_of` and `state_of`. What is
        called on it next follows the calls of the embedding so far, on the current stream and on the default one."""
        with _Turn(self):
            table = self._own()
            if self._last is not None:
                usual = torch.cuda.default_stream(self.device)
                if usual != self._last and not self._capturing():
                    usual.wait_stream(self._last)
            return table

    def _own(self):
        if self._table is None:
            self._open()
        return self._table

    def _clock_on(self, device):
        """The clock of a table there: a graph that repeats logical times would ruin the order of entries."""
        return self._options.get("clock") or ("device" if device.type == "cuda" else "logical")

    def _open(self, **more):
        device = self.device
        options = {"capacity": self.capacity, **self._options, "clock": self._clock_on(device), **more}
        with _on(device):
            self._table = heddle.Table(value=("float32", self._layout.width), policy=self.policy,
                                       backend=self._backend_of(device), **options)  # fmt: skip
        self._table_device, self._clock = device, options["clock"]

    def _gives_counts(self):
        """Whether scores count how often ids occur."""
        return self._resolved() in LFU or "given" in self._resolved()

    def _resolved(self):
        """The policy as the table calls it: the name of an expression that is one."""
        if self._known_policy is None:
            self._known_policy = self._own().info["policy"]
        return self._known_policy

    @property
    def epoch(self) -> int:
        """The table's epoch: it may be set between steps, and policies with epochs count by it."""
        return self._own().epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._own().epoch = epoch

    # ---- Order ------------------------------------------------------------------------------------------------------

    def _follow(self):
        """The current stream waits for the stream of the last call, if it is another. Nothing waits in a capture."""
        if self.device.type != "cuda" or self._capturing():
            return
        now, last = torch.cuda.current_stream(self.device), self._last
        if last is not None and last != now:
            now.wait_stream(last)
        self._last = now

    def _settle(self):
        """Waits for what was put on streams so far: that of the last call, and the current one."""
        if self.device.type == "cuda" and self._capturing():
            raise Error("stream: it is being captured, and a call that concerns all rows waits")
        if self._last is not None:
            self._last.synchronize()
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def _in_turn(self):
        return _Turn(self)

    def _whole(self):
        return _Whole(self)

    def _fast(self):
        """The kernels (_kernels.py), or None."""
        if self._fast_known is None:
            self._fast_known = self._find_kernels() or False
        return self._fast_known or None

    def _find_kernels(self):
        wanted = self.device.type == "cuda" if self._kernels is None else self._kernels
        if not wanted:
            return None
        try:
            from heddle.torch import _kernels
        except ImportError:
            if self._kernels:
                raise
            return None
        if not _kernels.Kernels.can(self._layout, self._initial, self.optimizer.rule):
            return None
        with _normal_tensors():
            return _kernels.Kernels(self._layout, self._initial, self.seed, self.optimizer.rule,
                                    self.optimizer.state_initial(), self.device, UNPLACED_MOST)  # fmt: skip

    def _move(self):
        """Moves an open table to the device of the module."""
        if self._table is None or self.device in (self._table_device, torch.device("meta")):
            return
        with self._whole(), _normal_tensors():
            self._move_table()
            self._move_counts()

    def _move_table(self):
        """With scores, epoch and clock. By a snapshot, or by parts to a table with another clock, where scores allow
        that."""
        device, old = self.device, self._table
        backend, clock = self._backend_of(device), self._clock_on(device)
        if clock != self._clock and self._converts():
            self._open(capacity=old.info["capacity"])
            for part in _rows.parts(old, self._layout, 1 << 16, self._times_of(old)):
                self.insert_part(part)
        else:
            with saved(old) as path, _on(device):
                self._table = heddle.load(path, value=old.value, **{**old._beside_snapshot(), "backend": backend})
            self._table_device = device
        old.close()

    def _move_counts(self):
        device = self.device
        self._pending = [(keys.to(device), gradient.to(device)) for keys, gradient in self.gradients]
        self._counts = None if self._counts is None else self._counts.to(device)
        self._ring = None if self._ring is None else self._ring.to(device)
        self._side, self._fast_known, self._last = None, None, None

    def _apply(self, fn, recurse=True):
        gradient = self._gradient_of_anchor()
        super()._apply(fn, recurse)
        with torch.no_grad():
            self._keep_anchor(gradient)
        self._move()
        return self

    def __getstate__(self):
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        own = ("_evictions", "_evictions_rows", "_unplaced", "_unplaced_rows", "_counts", "_side", "_number",
               "_fast_known", "_device_steps", "_pending", "_ring", "_lock", "_last", "_seen")  # fmt: skip
        with self._whole():  # so the table, which goes as a snapshot, is of the same moment
            kept = {name: value for name, value in state.items() if name not in own}
            table = self._table and self._table.__reduce__()
            return {**kept, "_table": table, "_steps": self.steps, "_pending": list(self.gradients),
                    "_gradient": self._gradient_of_anchor()}  # fmt: skip

    def __setstate__(self, state):
        if isinstance(state["_table"], tuple):
            opens, arguments, own = state["_table"]
            table = opens(*arguments)
            vars(table).update(own)
            state = {**state, "_table": table}
        gradient = state.get("_gradient")
        super().__setstate__({name: value for name, value in state.items() if name != "_gradient"})
        with _normal_tensors():
            self._start()
            self._go_on_with(gradient)

    def __len__(self) -> int:
        """The number of ids that have a row."""
        return len(self._own())

    def weights_of(self, rows: torch.Tensor) -> torch.Tensor:
        """The weights in rows of the table: a view of shape (n, dim)."""
        return self._layout.weights(rows)

    def state_of(self, rows: torch.Tensor) -> torch.Tensor:
        """The optimizer's state in rows of the table: a view, float32."""
        return self._layout.state(rows)

    # ---- Ids --------------------------------------------------------------------------------------------------------

    def _check_ids(self, ids, convert=True):
        """The ids, as int64 if `convert`."""
        if ids.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"ids: {ids.dtype}; int64 or int32 is needed")
        if ids.device != self.device:
            raise Error(f"ids: on {ids.device}, but the embedding is on {self.device}")
        return ids.to(torch.int64) if convert else ids

    def _group(self, ids, distinct):
        """(keys, inverse, counts): distinct ids, and for each id the number of its key. counts: only for LFU."""
        flat = ids.reshape(-1)
        if distinct:
            return flat.contiguous(), None, None
        if self._gives_counts():
            return torch.unique(flat, return_inverse=True, return_counts=True)
        return (*torch.unique(flat, return_inverse=True), None)

    def _initial_rows(self, keys):
        weights = self._initial(keys, self.dim, self.seed)
        if self._layout.only_weights and weights.dtype == torch.float32:
            return weights.contiguous()
        rows = self._layout.new(keys).fill_(self.optimizer.state_initial())
        self._layout.weights(rows).copy_(weights)
        return rows

    # ---- Training ---------------------------------------------------------------------------------------------------

    def _capturing(self):
        return self.device.type == "cuda" and torch.cuda.is_current_stream_capturing()

    def _tally(self):
        """int64 (7), where the table is: REFUSED and so on."""
        if self._counts is None:
            with _normal_tensors():
                self._counts = torch.tensor([self._steps if i == STEPS else 0 for i in COUNTS], device=self.device)
        return self._counts

    def _count(self, which, mask):
        self._tally()[which] += mask.sum()

    def _insert(self, keys, rows, scores):
        """Inserts absent distinct keys. Afterwards `rows` has the row of each key: its own if it found no place."""
        if self.evicted_most:
            result = self._insert_and_record(keys, rows, scores, distinct=True)
        else:
            result = self._own().find_or_insert(keys, rows, scores, out=rows, distinct=True)
        outcome = result.outcome
        self._count(REFUSED, outcome == heddle.Outcome.REFUSED)
        self._count(RESERVED, outcome == heddle.Outcome.RESERVED)
        self._note_outcomes(keys, outcome)

    def _note_outcomes(self, keys, outcome):
        if self._capturing():
            return
        self._unplaced.append((keys, outcome.clone()))  # a view would keep the whole result, evicted rows too
        self._unplaced_rows += keys.shape[0]
        while self._unplaced_rows > UNPLACED_MOST and len(self._unplaced) > 1:
            self._unplaced_rows -= self._unplaced.popleft()[0].shape[0]

    def _addresses(self, keys, distinct=True):
        """The addresses of the rows of keys, int64 (n); 0 for absent keys. They hold until the next insert."""
        return self._own().find_ptr(keys, distinct=distinct).ptr.view(torch.int64)

    def _bring_in(self, fast, keys, counts, address, count=None, told=True):
        """Marks distinct keys as used, then gives absent ones a place and their initial row. So no row that the batch
        uses is evicted before its turn. address: of `keys`, by _addresses. count: of Groups. told: hits and misses are
        counted."""
        if self._ring is None:
            with _normal_tensors():
                self._ring = torch.empty(UNPLACED_MOST, dtype=torch.int64, device=self.device)
        absent = torch.where(address == 0, keys, -1)  # the others are a reserved key, which no table takes
        self._own().touch(keys, counts, out={"found": torch.empty_like(keys, dtype=torch.bool)}, distinct=True)
        result = self._own().find_or_insert_ptr(absent, counts, distinct=True)
        fast.enter(result.ptr.view(torch.int64), result.outcome, keys, address, count, self._tally(), self._ring, told)

    def _looked(self, ids):
        """(rows of ids, their groups), by kernels. Rows are read first, because a key that is brought in may evict one
        of them."""
        with _Turn(self), _on(self.device):
            fast = self._fast()
            groups = fast.groups(ids.reshape(-1))
            address = self._addresses(groups.key)
            out = fast.gather(address, groups.key, groups)
            self._bring_in_groups(fast, groups, address)
            return out.view(*ids.shape, self.dim), groups

    def _bring_in_groups(self, fast, groups, address, told=True):
        counts = groups.occurrences() if self._gives_counts() else None
        self._bring_in(fast, groups.key, counts, address, groups.count, told)

    def _fetch(self, keys, counts, told=True):
        """The weights of distinct keys, (n, dim). Absent keys get their initial row, and a place if there is one."""
        with _Turn(self), _on(self.device):
            fast = self._fast()
            if not fast or self.evicted_most:
                return self._layout.weights(self._fetched_rows(keys, counts, told))
            address = self._addresses(keys)
            out = fast.gather(address, keys)  # first, as in _looked
            self._bring_in(fast, keys, counts, address, told=told)
            return out

    def _fetched_rows(self, keys, counts, told):
        table = self._own()
        if self._capturing():  # nothing may wait: all initial rows are computed, and most of them dropped
            rows, found = self._initial_rows(keys), torch.empty_like(keys, dtype=torch.bool)
            table.touch(keys, counts, out={"value": rows, "found": found}, distinct=True)
            table.find_or_insert(torch.where(found, -1, keys), rows, counts, out={"value": rows}, distinct=True)
            return rows
        rows = self._layout.new(keys)
        found = table.touch(keys, counts, out=rows, distinct=True).found
        absent = (~found).nonzero().squeeze(1)
        if told:
            self._count(HITS, found)
            self._count(MISSES, ~found & ((keys < -3) | (keys > -1)))
        if absent.shape[0]:
            new = keys[absent]
            fresh = self._initial_rows(new)
            self._insert(new, fresh, None if counts is None else counts[absent])
            rows.index_copy_(0, absent, fresh)
        return rows

    def _train_rows(self, ids, distinct, by_item):
        """(weights, inverse): of distinct ids and the number of each item's, or by_item: of the items, and None."""
        keys, inverse, counts = self._group(ids, distinct)
        inside, outside = (inverse, None) if by_item else (None, inverse)
        if torch.is_grad_enabled():
            return _Fetch.apply(self._anchor, self, keys, counts, inside), outside
        rows = self._fetch(keys, counts)
        return rows if inside is None else rows.index_select(0, inside), outside

    def train_rows(self, ids):
        """What the operator embedding_train gives."""
        if self._fast() and not self.evicted_most:
            rows, groups = self._looked(self._check_ids(ids, False))
            return rows, groups.inverse(), torch.tensor(groups.size)
        keys, inverse, counts = self._group(self._check_ids(ids), False)
        rows = self._fetch(keys, counts).index_select(0, inverse).view(*ids.shape, self.dim)
        return rows, inverse, torch.tensor(keys.shape[0])

    def take_gradient(self, ids, inverse, count, gradient):
        """What the operator embedding_gradient does."""
        count = int(count)
        keys = ids.new_empty(count, dtype=torch.int64).scatter_(0, inverse, ids.reshape(-1).long())
        gradient = gradient.reshape(-1, self.dim).float()
        self._add_gradient((keys, _summed(gradient, inverse, count)))

    def _gathered(self):
        """(keys, gradients) of all backward passes since the last step: distinct keys, float32 sums."""
        pairs = self.gradients
        if len(pairs) == 1:
            keys, gradient = pairs[0]
            return keys, _aligned(gradient.float())
        keys, inverse = torch.unique(torch.cat([k for k, _ in pairs]), return_inverse=True)
        gradients = torch.cat([g.float() for _, g in pairs])
        return keys, _summed(gradients, inverse, keys.shape[0])

    @torch.no_grad()
    def step(self, *, scale: Any = None, max_norm: float | None = None, skip_nonfinite: bool | None = None) -> None:
        """Applies the optimizer to the rows of all ids that have a gradient since the last step.

        The gradient of an id without a row (it was evicted since, or never found a place) is dropped, and counted in
        `dropped`. Kernels read the gradients of outputs here, not before: do not overwrite these in place meanwhile.

        scale: what the loss was multiplied by: a number, or a torch.amp.GradScaler: that of its last `scale`.
        max_norm: the most that the 2-norm of all these gradients may be; they are scaled down to it.
        skip_nonfinite: an infinity or nan makes this step change nothing, and count in `skipped`; None: if `scale` is
            given. With one of these three, a step waits for the GPU.
        """
        with _Turn(self):
            if self._may_step(scale, max_norm):
                if (scale, max_norm, skip_nonfinite) == (None, None, None) or self._treat(
                        scale, max_norm, skip_nonfinite):  # fmt: skip
                    self._keep_for_this_stream()
                    with _on(self.device):
                        self._step_by_address(self._fast()) if self._fast() else self._step_by_key()
                else:
                    self.skipped += 1
                self._forget()

    def _treat(self, scale, max_norm, skip_nonfinite):
        """Replaces the gradients by scaled ones. Whether they are to be applied."""
        keys, gradients = self._gathered()
        if scale is not None:
            gradients = gradients / self._scale_of(scale)
        skip = scale is not None if skip_nonfinite is None else skip_nonfinite
        if skip and not bool(torch.isfinite(gradients).all()):
            return False
        if max_norm is not None:
            norm = torch.linalg.vector_norm(gradients)
            gradients = gradients * torch.clamp(max_norm / (norm + 1e-6), max=1.0)
        self._pending = [(keys, gradients)]
        return True

    def _step_by_address(self, fast):
        groups = None
        if len(self._pending) == 1 and not isinstance(self._pending[0], tuple):
            groups, gradients = self._pending[0].groups, self._pending[0].gradient
            keys = groups.key
        else:
            keys, gradients = self._gathered()
        address, steps = self._addresses(keys), None
        device_steps = self._device_steps or self._capturing()
        if device_steps or not fast.advanced:  # the first step too, so that a graph finds these kernels compiled
            fast.advance(self._tally(), self.optimizer)
        else:
            steps = self._steps + 1
        fast.update(address, groups, gradients, self._tally(), steps, self.optimizer.numbers(steps or 1))
        self._steps, self._device_steps = self._steps + 1, device_steps

    def _step_by_key(self):
        keys, gradients = self._gathered()
        table, layout = self._own(), self._layout
        rows = layout.new(keys)
        found = table.find(keys, out=rows, distinct=True).found
        weights = layout.weights(rows)
        exact = weights.float()
        self.optimizer.update(exact, gradients, layout.state(rows), self._steps + 1)
        if exact is not weights:
            weights.copy_(exact)
        table.assign_values(keys, rows, distinct=True)
        self._count(DROPPED, ~found)
        self._steps += 1

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of backward passes since the last step."""
        with self._lock:
            self._forget()
        super().zero_grad(set_to_none)

    @property
    def gradients(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """The gradients since the last step: a list of (keys, gradient), one pair per lookup, with distinct keys.

        They may be changed in place, for example to clip them, until the next backward pass or step.
        """
        with _Turn(self):
            if self._was_zeroed():
                self._forget()
            self._pending = [p if isinstance(p, tuple) else (p.groups.keys(), self._fast().sums(p.groups, p.gradient))
                             for p in self._pending]  # fmt: skip
            return self._pending

    # ---- Evaluation -------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def look_up(self, ids: torch.Tensor) -> torch.Tensor:
        """The rows of ids, (*ids.shape, dim), as in evaluation: nothing in the table changes."""
        keys = self._check_ids(ids).reshape(-1).contiguous()
        self._check_anchor()
        with _Turn(self), _on(self.device):
            if self._fast():
                address = self._addresses(keys, distinct=False)
                return self._fast().gather(address, keys, absent=self.absent).view(*ids.shape, self.dim)
            weights = self._layout.weights(self._found_rows(keys))
            return weights.reshape(*ids.shape, self.dim).contiguous()

    def _found_rows(self, keys):
        constant = self.absent
        if constant is None and isinstance(self._initial, _initial.Constant):
            constant = self._initial.value
        if constant is not None:
            rows = self._layout.new(keys)
            self._layout.weights(rows).fill_(constant)
            self._own().find(keys, out={"value": rows})
            return rows
        if self._capturing():
            rows = self._initial_rows(keys)
            self._own().find(keys, out={"value": rows})
            return rows
        rows = self._layout.new(keys)
        absent = (~self._own().find(keys, out=rows).found).nonzero().squeeze(1)
        if absent.shape[0]:
            rows.index_copy_(0, absent, self._initial_rows(keys[absent]))
        return rows

    def _look_up_op(self, ids):
        if _traced(ids) or torch._C._len_torch_dispatch_stack():
            return _ops.call["embedding"](self._number, self._state, ids)
        return self.look_up(ids)

    # ---- Ahead of time ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def prefetch(self, ids: torch.Tensor, distinct: bool = False) -> None:
        """Brings ids in that the next forward passes need, so that these find them. Nothing is returned.

        On a GPU it works on a stream of its own, after the work that the current stream has now. The next forward pass
        or step waits for it there.
        """
        ids = self._check_ids(ids, False)
        if not self._anchor.requires_grad:
            return
        with self._lock:
            if self.device.type != "cuda":
                self._prefetch_now(ids, distinct)
                return
            if self._side is None:
                self._side = torch.cuda.Stream(self.device)
            side = self._side
            side.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(side):  # the calls in it follow the last call, and the next call follows them
                self._prefetch_now(ids, distinct)
                ids.record_stream(side)

    def _prefetch_now(self, ids, distinct):
        fast = self._fast()
        if not fast or self.evicted_most:
            keys, _, counts = self._group(self._check_ids(ids), distinct)
            self._fetch(keys, counts, told=False)
            return
        with _Turn(self), _on(self.device):
            if distinct:
                keys = self._check_ids(ids).reshape(-1).contiguous()
                self._bring_in(fast, keys, None, self._addresses(keys), told=False)
            else:
                groups = fast.groups(ids.reshape(-1))
                self._bring_in_groups(fast, groups, self._addresses(groups.key), told=False)

    # ---- What happened ----------------------------------------------------------------------------------------------

    def _counted(self, which):
        return 0 if self._counts is None else int(self._counts[which])

    @property
    def refused(self) -> int:
        """How often a new id found no place: its bucket was full of more valuable entries. It got its initial row."""
        return self._counted(REFUSED)

    @property
    def reserved(self) -> int:
        """How often the distinct ids of a lookup had one of -1, -2 and -3, which no table can contain."""
        return self._counted(RESERVED)

    @property
    def dropped(self) -> int:
        """How many rows of gradients were dropped, because their id had no row at `step`."""
        return self._counted(DROPPED)

    def counters(self) -> dict[str, int]:
        """What happened so far: a dict. hits, misses: distinct ids of forward passes in training that had a row, or
        had none. On a GPU it waits for all work of the table."""
        with self._whole():
            outcomes = self._own().counters()["outcomes"]
            inserted, evicted = outcomes["inserted"] + outcomes["evicted"], outcomes["evicted"]
            return {"size": len(self._own()), "steps": self.steps, "skipped": self.skipped,
                    "hits": self._counted(HITS), "misses": self._counted(MISSES),
                    "refused": self.refused, "reserved": self.reserved, "dropped": self.dropped,
                    "inserted": inserted, "evicted": evicted}  # fmt: skip

    @property
    def hit_rate(self) -> float | None:
        """hits / (hits + misses) of `counters`, or None before the first forward pass in training. (What the table
        counts itself has the lookups of `step`, too.)"""
        hits, misses = self._counted(HITS), self._counted(MISSES)
        return hits / (hits + misses) if hits + misses else None

    def unplaced(self) -> torch.Tensor:
        """The ids that found no place since the last call: int64 (n), distinct. The last 2^20 new ids are looked at;
        kernels list the last 2^20 of those that found no place."""
        with self._whole():
            none = torch.empty(0, dtype=torch.int64, device=self.device)
            ids = [keys[(outcome == heddle.Outcome.REFUSED) | (outcome == heddle.Outcome.RESERVED)]
                   for keys, outcome in self._unplaced]  # fmt: skip
            self._unplaced.clear()
            self._unplaced_rows = 0
            if self._ring is not None and self._counted(UNPLACED):
                ids.append(self._ring[: self._counted(UNPLACED)].clone())
                self._counts[UNPLACED] = 0
            return torch.unique(torch.cat([none, *ids]))

    def extra_repr(self) -> str:
        return (f"{self.capacity}, {self.dim}, optimizer={self.optimizer}, policy={self.policy!r}, dtype={self.dtype}, "
                f"seed={self.seed}")  # fmt: skip


_ARGUMENTS = """

    capacity: entries; a full bucket of the table evicts its least valuable entry, or refuses the new id.
    init: initial rows: "uniform" in +-1/sqrt(dim), "normal", "zeros", ht.Uniform, ht.Normal, ht.Constant, or a function
        of int64 keys (n) that gives (n, dim). They depend on key and seed alone.
    optimizer: what `step` does: ht.SGD, ht.Adagrad, ht.RowWiseAdagrad or ht.Adam. None: the rows are not trained, and
        a `step` with gradients is an error.
    policy: which entries are valuable: "lru", "lfu", "epoch_lru" or "epoch_lfu", another one of hkv, or an expression.
    dtype: of weights: torch.float32, float16 or bfloat16. The optimizer's state is float32.
    absent: what an absent id gives in evaluation: None: its initial row; a number: a row of it.
    evicted: how many evicted entries may wait to be read by `evicted`; 0: they are not recorded.
    kernels: whether kernels in Triton work on the rows in place; None: on a GPU, if Triton is installed.
    backend: of the table; None: "ref" on the CPU and "cuda" on a GPU.
    table: further parameters of heddle.Table, for example {"dual": True}. The clock is the device's on a GPU.
    group: what it shares with other ranks of torch.distributed. None: nothing, and where there are several, a step is
        an error; "apart": each rank has rows of its own.

    The ids -1, -2 and -3 cannot have a row: they get their initial row, and count in `reserved`."""


class Embedding(_TableModule):
    """Rows for any int64 ids: as torch.nn.Embedding, but ids need no range, and the memory has a limit."""

    __doc__ += _ARGUMENTS

    def forward(self, ids: torch.Tensor, distinct: bool = False) -> torch.Tensor:
        """The rows of ids: shape (*ids.shape, dim). distinct: the promise that no id occurs twice."""
        if not self._learns():
            return self._look_up_op(ids)
        if _traced(ids):
            return _Compiled.apply(self._anchor, self._number, self._state, ids)
        self._check_anchor()
        if not distinct and self._fast() and not self.evicted_most:
            ids = self._check_ids(ids, False)
            if torch.is_grad_enabled():
                return _Looked.apply(self._anchor, self, ids)
            return self._looked(ids)[0]
        weights, _ = self._train_rows(self._check_ids(ids), distinct, True)
        return weights.reshape(*ids.shape, self.dim)


class EmbeddingBag(_TableModule):
    """Sums or means of the rows of bags of ids: as torch.nn.EmbeddingBag.

    mode: "sum" or "mean". include_last_offset: the last of `offsets` is the number of ids."""

    __doc__ += _ARGUMENTS

    def __init__(self, capacity: int, dim: int, *, mode: str = "mean", include_last_offset: bool = False,
                 **arguments: Any) -> None:  # fmt: skip
        super().__init__(capacity, dim, **arguments)
        if mode not in ("sum", "mean"):
            raise ValueError(f"mode: {mode!r}; there are sum and mean")
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor | None = None,
                per_sample_weights: torch.Tensor | None = None, distinct: bool = False) -> torch.Tensor:  # fmt: skip
        """One row per bag, (bags, dim). ids: (bags, n), or (n) with `offsets`, the first id of each bag."""
        self._check_bags(ids, offsets, per_sample_weights)
        if not self._learns():
            rows, inverse = self._look_up_op(ids.reshape(-1)), None
        elif _traced(ids):
            if offsets is not None:
                _ops.call["embedding_offsets"](self._number, self._state, offsets, ids.numel())
            rows, inverse = _Compiled.apply(self._anchor, self._number, self._state, ids.reshape(-1)), None
        else:
            self._check_anchor()
            by_item = self.dtype != torch.float32  # so that gradients are summed in float32
            rows, inverse = self._train_rows(self._check_ids(ids), distinct, by_item)
        if inverse is None:
            inverse = torch.arange(ids.numel(), device=ids.device)
        return F.embedding_bag(inverse.view(ids.shape), rows, offsets, mode=self.mode,
                               per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset)  # fmt: skip

    def _check_bags(self, ids, offsets, weights):
        """Fails before an id enters the table. On a GPU, offsets are waited for, but not in a capture."""
        if ids.dim() not in (1, 2) or (ids.dim() == 1) != (offsets is not None):
            raise ValueError(f"offsets: ids of {ids.dim()} dimensions; 1 needs offsets, and 2 has none")
        if weights is not None:
            if self.mode != "sum" or weights.shape != ids.shape or weights.dtype != self.dtype:
                raise ValueError(f"per_sample_weights: they need mode='sum', the shape of ids and {self.dtype}")
        if offsets is None or _traced(offsets):
            return
        if offsets.dim() != 1 or offsets.dtype not in (torch.int64, torch.int32) or offsets.device != ids.device:
            raise ValueError("offsets: int64 or int32 of one dimension, where the ids are, is needed")
        if not self._capturing():
            self.check_offsets(offsets, ids.numel())

    def check_offsets(self, offsets, n):
        """What the operator embedding_offsets does: fails if offsets do not divide n ids into bags."""
        if not offsets.shape[0]:
            if self.include_last_offset or n:
                raise ValueError(f"offsets: there are none for {n} ids")
            return
        inside = (offsets[0] == 0) & (offsets.diff() >= 0).all() & (offsets[-1] <= n)
        if self.include_last_offset:
            inside &= offsets[-1] == n
        if not bool(inside):
            last = f", and the last must be {n}" if self.include_last_offset else ""
            raise ValueError(f"offsets: they must begin with 0 and not fall, up to the number of ids, {n}{last}")


def step(module: torch.nn.Module, **options: Any) -> None:
    """Calls `step` of every embedding in a module, with these options."""
    for part in module.modules():
        if isinstance(part, _TableModule):
            part.step(**options)
