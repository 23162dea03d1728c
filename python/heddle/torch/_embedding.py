# SPDX-License-Identifier: Apache-2.0
"""Embedding and EmbeddingBag: modules whose rows are in a table.

In training, a forward pass groups equal ids, fetches the row of each distinct id, and gives a new id its initial row.
`step` sums the gradients of equal ids, and applies the optimizer to the rows. Nothing else changes rows.

There are two ways to do this. With kernels (_kernels.py), the table gives addresses, and kernels read and change rows
in place. Without them, the operations of the table copy rows, and PyTorch's functions do the rest.
"""

import collections
import contextlib

import torch
import torch.nn.functional as F

import heddle
from heddle._core import Error
from heddle._table import saved
from heddle.torch import _initial, _ops, _optimizers, _rows
from heddle.torch._evictions import Evictions
from heddle.torch._state import Stored

REFUSED, RESERVED, DROPPED, UNPLACED, STEPS = range(5)  # numbers in Embedding._counts; UNPLACED: listed by kernels
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


class _Fetch(torch.autograd.Function):
    """The weights of distinct keys. Its backward pass hands the gradient to the embedding."""

    @staticmethod
    def forward(ctx, anchor, embedding, keys, counts):
        ctx.embedding, ctx.keys = embedding, keys
        return embedding._fetch(keys, counts)

    @staticmethod
    def backward(ctx, gradient):
        _no_second_derivatives()
        ctx.embedding._pending.append((ctx.keys, gradient))
        return None, None, None, None


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
        gradient = gradient.reshape(-1, embedding.dim).contiguous()
        if gradient.data_ptr() % 16:  # kernels rely on it
            gradient = gradient.clone()
        embedding._pending.append(embedding._fast().grouped(ctx.groups, gradient))
        return None, None, None


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
        return None, None, None, None


class _TableModule(Evictions, Stored, torch.nn.Module):
    """What Embedding and EmbeddingBag have in common."""

    def __init__(self, capacity, dim, *, init="uniform", optimizer=None, policy="lru", dtype=torch.float32, seed=0,
                 absent=None, evicted=0, backend=None, device=None, kernels=None, table=None):  # fmt: skip
        super().__init__()
        if policy == "custom":
            raise Error("policy: custom needs a score for every id, which an embedding does not have")
        self.capacity, self.dim, self.dtype = int(capacity), int(dim), dtype
        self.policy, self.seed, self.absent = policy, int(seed), absent
        self.optimizer = _optimizers.check_optimizer(optimizer)
        self._steps = 0
        self.evicted_most = int(evicted)
        self._layout = _rows.Layout(self.dim, dtype, self.optimizer.state_floats(self.dim))
        self._initial = _initial.initial(init, self.dim)
        self._backend, self._options, self._kernels = backend, dict(table or {}), kernels
        self._table, self._table_device = None, None
        self._pending = []
        self._start()
        self.register_buffer("_state", torch.zeros(1, dtype=torch.int64, device=device), persistent=False)

    def _start(self):
        """What a copy of the module does not have in common with it."""
        self._evictions, self._evictions_rows = collections.deque(), 0
        self._unplaced, self._unplaced_rows = collections.deque(), 0
        self._counts, self._side, self._fast_known = None, None, None
        self._ring = None  # the ids that kernels found without a place: int64 (UNPLACED_MOST)
        self._device_steps = False  # whether a graph may count steps, in _counts
        self._number = _ops.enter(self)
        self._anchor = torch.empty(0, requires_grad=True)  # what autograd finds that the rows depend on

    @property
    def steps(self):
        """How often `step` has changed rows. After a step in a CUDA graph, reading it waits for the GPU."""
        return int(self._counts[STEPS]) if self._device_steps else self._steps

    @steps.setter
    def steps(self, steps):
        self._steps = steps
        if self._counts is not None:
            self._counts[STEPS] = steps

    @property
    def number(self):
        """What operators call this embedding. Set it to the number in an exported program of another process."""
        return self._number

    @number.setter
    def number(self, number):
        self._number = _ops.enter(self, number)

    # ---- The table --------------------------------------------------------------------------------------------------

    @property
    def device(self):
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
    def table(self):
        """The heddle.Table. The first use opens it. Its values are rows: see `weights_of` and `state_of`."""
        if self._table is None:
            self._open()
        return self._table

    def _open(self):
        device = self.device
        backend = self._backend_of(device)
        with _on(device):
            self._table = heddle.Table(self.capacity, ("float32", self._layout.width), policy=self.policy,
                                       backend=backend, **self._options)  # fmt: skip
        self._table_device = device

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
        return _kernels.Kernels(self._layout, self._initial, self.seed, self.optimizer.rule,
                                self.optimizer.state_initial(), self.device, UNPLACED_MOST)  # fmt: skip

    def _move(self):
        """Moves an open table to the device of the module, with scores and clock."""
        if self._table is None or self.device in (self._table_device, torch.device("meta")):
            return
        device, value = self.device, self._table.value
        backend = self._backend_of(device)
        with saved(self._table) as path, _on(device):
            moved = heddle.load(path, value=value, backend=backend)
        self._table.close()
        self._table, self._table_device = moved, device
        self._pending = [(keys.to(device), gradient.to(device)) for keys, gradient in self.gradients]
        self._counts = None if self._counts is None else self._counts.to(device)
        self._ring = None if self._ring is None else self._ring.to(device)
        self._side, self._fast_known = None, None

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self._move()
        return self

    def __getstate__(self):
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        own = ("_evictions", "_evictions_rows", "_unplaced", "_unplaced_rows", "_counts", "_side", "_number",
               "_anchor", "_fast_known", "_device_steps", "_pending",
               "_ring")  # fmt: skip
        kept = {name: value for name, value in state.items() if name not in own}
        return {**kept, "_steps": self.steps, "_pending": list(self.gradients)}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._start()

    def __len__(self):
        """The number of ids that have a row."""
        return len(self.table)

    def weights_of(self, rows):
        """The weights in rows of the table: a view of shape (n, dim)."""
        return self._layout.weights(rows)

    def state_of(self, rows):
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
        if self.policy in LFU:
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
        """Counts of refused, reserved, dropped and listed ids, and of steps: int64 (5), where the table is."""
        if self._counts is None:
            self._counts = torch.tensor([0, 0, 0, 0, self._steps], dtype=torch.int64, device=self.device)
        return self._counts

    def _count(self, which, mask):
        self._tally()[which] += mask.sum()

    def _insert(self, keys, rows, scores):
        """Inserts absent distinct keys. Afterwards `rows` has the row of each key: its own if it found no place."""
        if self.evicted_most:
            result = self._insert_and_record(keys, rows, scores, distinct=True)
        else:
            result = self.table.find_or_insert(keys, rows, scores, out=rows, distinct=True)
        outcome = result.outcome
        self._count(REFUSED, outcome == heddle.Outcome.REFUSED)
        self._count(RESERVED, outcome == heddle.Outcome.RESERVED)
        self._note_outcomes(keys, outcome)

    def _note_outcomes(self, keys, outcome):
        if self._capturing():
            return
        self._unplaced.append((keys, outcome))
        self._unplaced_rows += keys.shape[0]
        while self._unplaced_rows > UNPLACED_MOST and len(self._unplaced) > 1:
            self._unplaced_rows -= self._unplaced.popleft()[0].shape[0]

    def _addresses(self, keys, distinct=True):
        """The addresses of the rows of keys, int64 (n); 0 for absent keys. They hold until the next insert."""
        return self.table.find_ptr(keys, distinct=distinct).ptr.view(torch.int64)

    def _bring_in(self, fast, keys, counts, count=None):
        """Marks distinct keys as used, and gives absent ones a place and their initial row. count: of Groups."""
        if self._ring is None:
            self._ring = torch.empty(UNPLACED_MOST, dtype=torch.int64, device=self.device)
        result = self.table.find_or_insert_ptr(keys, counts, distinct=True)
        fast.enter(result.ptr.view(torch.int64), result.outcome, keys, count, self._tally(),
                   self._ring)  # fmt: skip

    def _looked(self, ids):
        """(rows of ids, their groups), by kernels. Rows are read first, because a key that is brought in may evict one
        of them."""
        self._wait_for_prefetch()
        fast = self._fast()
        with _on(self.device):
            groups = fast.groups(ids.reshape(-1))
            out = fast.gather(self._addresses(groups.key), groups.key, groups)
            self._bring_in_groups(fast, groups)
            return out.view(*ids.shape, self.dim), groups

    def _bring_in_groups(self, fast, groups):
        counts = groups.occurrences() if self.policy in LFU else None
        self._bring_in(fast, groups.key, counts, groups.count)

    def _fetch(self, keys, counts):
        """The weights of distinct keys, (n, dim). Absent keys get their initial row, and a place if there is one."""
        self._wait_for_prefetch()
        table, layout, fast = self.table, self._layout, self._fast()
        if fast and not self.evicted_most:
            with _on(self.device):
                out = fast.gather(self._addresses(keys), keys)  # first, as in _looked
                self._bring_in(fast, keys, counts)
                return out
        if self._capturing():  # nothing may wait: all initial rows are computed, and most of them dropped
            rows = self._initial_rows(keys)
            table.find_or_insert(keys, rows, counts, out=rows, distinct=True)
            return layout.weights(rows)
        rows = layout.new(keys)
        found = table.touch(keys, counts, out=rows, distinct=True).found
        absent = (~found).nonzero().squeeze(1)
        if absent.shape[0]:
            new = keys[absent]
            fresh = self._initial_rows(new)
            self._insert(new, fresh, None if counts is None else counts[absent])
            rows.index_copy_(0, absent, fresh)
        return layout.weights(rows)

    def _train_rows(self, ids, distinct):
        """(weights of distinct ids, inverse); inverse is None if the ids are distinct."""
        keys, inverse, counts = self._group(ids, distinct)
        if not torch.is_grad_enabled():
            return self._fetch(keys, counts), inverse
        return _Fetch.apply(self._anchor, self, keys, counts), inverse

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
        self._pending.append((keys, _summed(gradient, inverse, count)))

    def _gathered(self):
        """(keys, gradients) of all backward passes since the last step: distinct keys, float32 sums."""
        pairs = self.gradients
        if len(pairs) == 1:
            keys, gradient = pairs[0]
            return keys, gradient.float().contiguous()
        keys, inverse = torch.unique(torch.cat([k for k, _ in pairs]), return_inverse=True)
        gradients = torch.cat([g.float() for _, g in pairs])
        return keys, _summed(gradients, inverse, keys.shape[0])

    @torch.no_grad()
    def step(self):
        """Applies the optimizer to the rows of all ids that have a gradient since the last step.

        The gradient of an id without a row (it was evicted since, or never found a place) is dropped, and counted in
        `dropped`. Kernels read the gradients of outputs here, not before: do not overwrite these in place meanwhile.
        """
        if not self._pending:
            return
        self._wait_for_prefetch()
        if self._fast():
            with _on(self.device):
                self._step_by_address(self._fast())
        else:
            self._step_by_key()
        self._pending.clear()

    def _step_by_address(self, fast):
        groups = None
        if len(self._pending) == 1 and not isinstance(self._pending[0], tuple):
            groups, gradients = self._pending[0].groups, self._pending[0].gradient
            keys = groups.key
        else:
            keys, gradients = self._gathered()
        address, steps = self._addresses(keys), None
        self._device_steps = self._device_steps or self._capturing()
        if self._device_steps or not fast.advanced:  # the first step too, so that a graph finds these kernels compiled
            fast.advance(self._tally(), self.optimizer)
        else:
            steps = self._steps + 1
        self._steps += 1
        fast.update(address, groups, gradients, self._tally(), steps, self.optimizer.numbers(steps or 1))

    def _step_by_key(self):
        self._steps += 1
        keys, gradients = self._gathered()
        table, layout = self.table, self._layout
        rows = layout.new(keys)
        found = table.find(keys, out=rows, distinct=True).found
        self._count(DROPPED, ~found)
        weights = layout.weights(rows)
        exact = weights.float()
        self.optimizer.update(exact, gradients, layout.state(rows), self._steps)
        if exact is not weights:
            weights.copy_(exact)
        table.assign_values(keys, rows, distinct=True)

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of backward passes since the last step."""
        self._pending.clear()
        super().zero_grad(set_to_none)

    @property
    def gradients(self):
        """The gradients since the last step: a list of (keys, gradient), one pair per lookup, with distinct keys.

        They may be changed in place, for example to clip them.
        """
        self._pending = [p if isinstance(p, tuple) else (p.groups.keys(), self._fast().sums(p.groups, p.gradient))
                         for p in self._pending]  # fmt: skip
        return self._pending

    # ---- Evaluation -------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def look_up(self, ids):
        """The rows of ids, (*ids.shape, dim), as in evaluation: nothing in the table changes."""
        keys = self._check_ids(ids).reshape(-1).contiguous()
        self._wait_for_prefetch()
        if self._fast():
            address = self._addresses(keys, distinct=False)
            with _on(self.device):
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
            self.table.find(keys, out={"value": rows})
            return rows
        if self._capturing():
            rows = self._initial_rows(keys)
            self.table.find(keys, out={"value": rows})
            return rows
        rows = self._layout.new(keys)
        absent = (~self.table.find(keys, out=rows).found).nonzero().squeeze(1)
        if absent.shape[0]:
            rows.index_copy_(0, absent, self._initial_rows(keys[absent]))
        return rows

    def _look_up_op(self, ids):
        if _traced(ids) or torch._C._len_torch_dispatch_stack():
            return _ops.call["embedding"](self._number, self._state, ids)
        return self.look_up(ids)

    # ---- Ahead of time ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def prefetch(self, ids, distinct=False):
        """Brings ids in that the next forward passes need, so that these find them. Nothing is returned.

        On a GPU it works on a stream of its own, after the work that the current stream has now. The next forward pass
        or step waits for it there.
        """
        ids = self._check_ids(ids, False)
        if self.device.type != "cuda":
            self._prefetch_now(ids, distinct)
            return
        if self._side is None:
            self._side = torch.cuda.Stream(self.device), torch.cuda.Event()
        self._tally()
        side, done = self._side
        side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(side):
            self._prefetch_now(ids, distinct)
            ids.record_stream(side)
            done.record(side)

    def _prefetch_now(self, ids, distinct):
        fast = self._fast()
        if not fast or self.evicted_most:
            keys, _, counts = self._group(self._check_ids(ids), distinct)
            self._fetch(keys, counts)
            return
        with _on(self.device):
            if distinct:
                self._bring_in(fast, self._check_ids(ids).reshape(-1).contiguous(), None)
            else:
                self._bring_in_groups(fast, fast.groups(ids.reshape(-1)))

    def _wait_for_prefetch(self):
        if self._side is not None and not self._capturing():
            torch.cuda.current_stream(self.device).wait_event(self._side[1])

    # ---- What happened ----------------------------------------------------------------------------------------------

    def _counted(self, which):
        return 0 if self._counts is None else int(self._counts[which])

    @property
    def refused(self):
        """How often a new id found no place: its bucket was full of more valuable entries. It got its initial row."""
        return self._counted(REFUSED)

    @property
    def reserved(self):
        """How often the distinct ids of a lookup had one of -1, -2 and -3, which no table can contain."""
        return self._counted(RESERVED)

    @property
    def dropped(self):
        """How many rows of gradients were dropped, because their id had no row at `step`."""
        return self._counted(DROPPED)

    def counters(self):
        """What happened so far: a dict. On a GPU it waits for all work of the table."""
        outcomes = self.table.counters()["outcomes"]
        inserted, evicted = outcomes["inserted"] + outcomes["evicted"], outcomes["evicted"]
        return {"size": len(self.table), "steps": self.steps, "refused": self.refused, "reserved": self.reserved,
                "dropped": self.dropped, "inserted": inserted, "evicted": evicted}  # fmt: skip

    def unplaced(self):
        """The ids that found no place since the last call: int64 (n), distinct. The last 2^20 new ids are looked at;
        kernels list the last 2^20 of those that found no place."""
        self._wait_for_prefetch()
        none = torch.empty(0, dtype=torch.int64, device=self.device)
        ids = [keys[(outcome == heddle.Outcome.REFUSED) | (outcome == heddle.Outcome.RESERVED)]
               for keys, outcome in self._unplaced]  # fmt: skip
        self._unplaced.clear()
        self._unplaced_rows = 0
        if self._ring is not None and self._counted(UNPLACED):
            ids.append(self._ring[: self._counted(UNPLACED)].clone())
            self._counts[UNPLACED] = 0
        return torch.unique(torch.cat([none, *ids]))

    def extra_repr(self):
        return (f"{self.capacity}, {self.dim}, optimizer={self.optimizer}, policy={self.policy!r}, dtype={self.dtype}, "
                f"seed={self.seed}")  # fmt: skip


_ARGUMENTS = """

    capacity: entries; a full bucket of the table evicts its least valuable entry, or refuses the new id.
    init: initial rows: "uniform" in +-1/sqrt(dim), "normal", "zeros", ht.Uniform, ht.Normal, ht.Constant, or a function
        of int64 keys (n) that gives (n, dim). They depend on key and seed alone.
    optimizer: what `step` does: ht.SGD, ht.Adagrad, ht.RowWiseAdagrad or ht.Adam. None: `step` changes nothing.
    policy: which entries are valuable: "lru", "lfu", "epoch_lru" or "epoch_lfu".
    dtype: of weights: torch.float32, float16 or bfloat16. The optimizer's state is float32.
    absent: what an absent id gives in evaluation: None: its initial row; a number: a row of it.
    evicted: how many evicted entries may wait to be read by `evicted`; 0: they are not recorded.
    kernels: whether kernels in Triton work on the rows in place; None: on a GPU, if Triton is installed.
    backend: of the table; None: "ref" on the CPU and "cuda" on a GPU.
    table: further parameters of heddle.Table, for example {"dual": True}.

    The ids -1, -2 and -3 cannot have a row: they get their initial row, and count in `reserved`."""


class Embedding(_TableModule):
    """Rows for any int64 ids: as torch.nn.Embedding, but ids need no range, and the memory has a limit."""

    __doc__ += _ARGUMENTS

    def forward(self, ids, distinct=False):
        """The rows of ids: shape (*ids.shape, dim). distinct: the promise that no id occurs twice."""
        if not self.training:
            return self._look_up_op(ids)
        if _traced(ids):
            return _Compiled.apply(self._anchor, self._number, self._state, ids)
        if not distinct and self._fast() and not self.evicted_most:
            ids = self._check_ids(ids, False)
            if torch.is_grad_enabled():
                return _Looked.apply(self._anchor, self, ids)
            return self._looked(ids)[0]
        weights, inverse = self._train_rows(self._check_ids(ids), distinct)
        if inverse is None:
            return weights.reshape(*ids.shape, self.dim)
        return F.embedding(inverse.view(ids.shape), weights)


class EmbeddingBag(_TableModule):
    """Sums or means of the rows of bags of ids: as torch.nn.EmbeddingBag.

    mode: "sum" or "mean". include_last_offset: the last of `offsets` is the number of ids."""

    __doc__ += _ARGUMENTS

    def __init__(self, capacity, dim, *, mode="mean", include_last_offset=False, **arguments):
        super().__init__(capacity, dim, **arguments)
        if mode not in ("sum", "mean"):
            raise ValueError(f"mode: {mode!r}; there are sum and mean")
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, ids, offsets=None, per_sample_weights=None, distinct=False):
        """One row per bag, (bags, dim). ids: (bags, n), or (n) with `offsets`, the first id of each bag."""
        if not self.training:
            rows, inverse = self._look_up_op(ids.reshape(-1)), None
        elif _traced(ids):
            rows, inverse = _Compiled.apply(self._anchor, self._number, self._state, ids.reshape(-1)), None
        else:
            rows, inverse = self._train_rows(self._check_ids(ids), distinct)
        if inverse is None:
            inverse = torch.arange(ids.numel(), device=ids.device)
        return F.embedding_bag(inverse.view(ids.shape), rows, offsets, mode=self.mode,
                               per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset)  # fmt: skip


def step(module):
    """Calls `step` of every embedding in a module."""
    for part in module.modules():
        if isinstance(part, _TableModule):
            part.step()
