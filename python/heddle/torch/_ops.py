# SPDX-License-Identifier: Apache-2.0
"""The operators torch.ops.heddle.*, which torch.compile and torch.export accept, and the numbers that name tables.

An operator names its table by a number, because graphs contain numbers but no tables. The registry of numbers keeps no
table alive. The argument `state` is a tensor of one element that stands for the contents of the table: operators that
change the table declare that they write it. So a compiler neither removes, nor merges, nor reorders them. Nothing reads
or writes its element.
"""

from __future__ import annotations

import functools
import itertools
import os
import weakref
from typing import Any

import torch

from heddle import _arrays, _core, _types
from heddle._core import Error
from heddle._table import Table

# ---- Numbers -------------------------------------------------------------------------------------------------------

_objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # tables and embeddings by number
_numbers = itertools.count(1)


def enter(thing, number=None):
    """Gives a table or an embedding a number, and returns it. `number`: this one, which must be free."""
    if number is None:
        number = next(n for n in _numbers if n not in _objects)
    elif _objects.get(number, thing) is not thing:
        raise Error(f"number: {number} is another object's")
    _objects[number] = thing
    if type(thing) is Table and not thing.closed:
        _core.use_number(thing, number)  # a subclass may have methods of its own, which kernels in C do not call
    return number


def find_object(number):
    """The table or embedding of a number."""
    found = _objects.get(number)
    if found is None:
        raise Error(f"table: there is no table of number {number} in this process; it was closed, or never opened here")
    return found


def handle_of(table: Table, number: int | None = None) -> int:
    """The number of a table for operators. A table keeps its number.

    number: the number to give it. So a table that is opened again in another process can take the number that an
    exported program contains.
    """
    if "_torch_number" not in vars(table):
        table._torch_number = enter(table, number)
    elif number not in (None, table._torch_number):
        raise Error(f"number: the table has the number {table._torch_number}")
    return table._torch_number


def table_of(number: int) -> Table:
    """The table of a number; heddle.Error if there is none."""
    return find_object(number)


def value_of(table):
    """(dtype, shape) of one value of a table."""
    if "_torch_value" not in vars(table):
        spec = _types.value_type(table.value) or (_arrays.UINT, 8, (table.info["value_bytes"],))
        table._torch_value = _arrays.torch_dtype(spec[0], spec[1]), tuple(spec[2])
    return table._torch_value


# ---- Operators -----------------------------------------------------------------------------------------------------

library = torch.library.Library("heddle", "DEF")


def _new_values(table, keys):
    dtype, shape = value_of(table)
    return keys.new_empty((keys.shape[0], *shape), dtype=dtype)


def _new_bools(keys):
    return keys.new_empty(keys.shape[0], dtype=torch.bool)


def _new_outcomes(keys):
    return keys.new_empty(keys.shape[0], dtype=torch.uint8)


def find(number, state, keys):
    """(values, found): rows of zeros for absent keys."""
    result = find_object(number).find(keys)
    return result.value, result.found


def find_out(number, state, keys, *, out):
    """Writes the rows of present keys to `out`; other rows keep their contents. Can be captured in a CUDA graph."""
    find_object(number).find(keys, out={"value": out})


def contains(number, state, keys):
    return find_object(number).contains(keys, out={"found": _new_bools(keys)})["found"]


def touch(number, state, keys):
    result = find_object(number).touch(keys)
    return result.value, result.found


def find_or_insert(number, state, keys, values):
    out = values.detach().clone()
    return out, find_object(number).find_or_insert(keys, out, out=out).outcome


def insert_or_assign(number, state, keys, values):
    return find_object(number).insert_or_assign(keys, values)


def assign(number, state, keys, values):
    return find_object(number).assign(keys, values)


def accum_or_assign(number, state, keys, values):
    return find_object(number).accum_or_assign(keys, values)


def erase(number, state, keys):
    return find_object(number).erase(keys)


# On a GPU outputs are tensors of PyTorch's own allocator, so that record_stream counts for them. It does nothing for
# tensors over a table's memory.


def _look_up_on_gpu(name):
    def look_up(number, state, keys):
        table = find_object(number)
        values, found = _new_values(table, keys), _new_bools(keys)
        getattr(table, name)(keys, out={"value": values, "found": found}, zero=True)
        return values, found

    return look_up


def _write_on_gpu(name):
    def write(number, state, keys, *values):
        outcome = _new_outcomes(keys)
        getattr(find_object(number), name)(keys, *values, out={"outcome": outcome})
        return outcome

    return write


def _find_or_insert_on_gpu(number, state, keys, values):
    out, outcome = values.detach().clone(), _new_outcomes(keys)
    find_object(number).find_or_insert(keys, out, out={"value": out, "outcome": outcome})
    return out, outcome


_ON_GPU = {
    **{name: _look_up_on_gpu(name) for name in ("find", "touch")},
    **{name: _write_on_gpu(name) for name in ("insert_or_assign", "assign", "accum_or_assign", "erase")},
    "find_or_insert": _find_or_insert_on_gpu,
}


def _fake_values_found(number, state, keys, *unused):
    return _new_values(find_object(number), keys), _new_bools(keys)


def _fake_values_outcome(number, state, keys, values):
    return torch.empty_like(values), _new_outcomes(keys)


def _fake_found(number, state, keys):
    return _new_bools(keys)


def _fake_outcome(number, state, keys, *unused):
    return _new_outcomes(keys)


def _fake_nothing(number, state, keys, *, out):
    return None


def embedding(number, state, ids):
    """What an embedding gives in evaluation: rows of shape (*ids.shape, dim)."""
    return find_object(number).look_up(ids)


def _fake_embedding(number, state, ids):
    e = find_object(number)
    return ids.new_empty((*ids.shape, e.dim), dtype=e.dtype)


def embedding_train(number, state, ids):
    """(rows, inverse, count) of an embedding in training: rows (*ids.shape, dim); inverse, int64 (n): for each id the
    number of its distinct id; count: of distinct ids, on the CPU."""
    return find_object(number).train_rows(ids)


def _fake_embedding_train(number, state, ids):
    rows = _fake_embedding(number, state, ids)
    return rows, ids.new_empty(ids.numel()), torch.empty((), dtype=torch.int64)


def embedding_gradient(number, state, ids, inverse, count, gradient):
    """Hands the gradient of what embedding_train gave to the embedding."""
    find_object(number).take_gradient(ids, inverse, count, gradient)


def _fake_embedding_gradient(number, state, ids, inverse, count, gradient):
    return None


def embedding_offsets(number, state, offsets, n):
    """Fails if offsets do not divide n ids into bags, before these enter the table."""
    e = find_object(number)
    if not e._capturing():
        e.check_offsets(offsets, n)


def _fake_embedding_offsets(number, state, offsets, n):
    return None


READS, WRITES = "int table, Tensor state, Tensor keys", "int table, Tensor(s!) state, Tensor keys"
_ROWS = (
    (find, READS, "(Tensor, Tensor)", _fake_values_found),
    (find_out, READS + ", *, Tensor(a!) out", "()", _fake_nothing),
    (contains, READS, "Tensor", _fake_found),
    (touch, WRITES, "(Tensor, Tensor)", _fake_values_found),
    (find_or_insert, WRITES + ", Tensor values", "(Tensor, Tensor)", _fake_values_outcome),
    (insert_or_assign, WRITES + ", Tensor values", "Tensor", _fake_outcome),
    (assign, WRITES + ", Tensor values", "Tensor", _fake_outcome),
    (accum_or_assign, WRITES + ", Tensor values", "Tensor", _fake_outcome),
    (erase, WRITES, "Tensor", _fake_outcome),
    (embedding, READS.replace("keys", "ids"), "Tensor", _fake_embedding),
    (embedding_train, WRITES.replace("keys", "ids"), "(Tensor, Tensor, Tensor)", _fake_embedding_train),
    (embedding_gradient, WRITES.replace("keys", "ids") + ", Tensor inverse, Tensor count, Tensor gradient", "()",
     _fake_embedding_gradient),
    (embedding_offsets, WRITES.replace("keys", "offsets") + ", SymInt n", "()", _fake_embedding_offsets),
)
NAMES = tuple(row[0].__name__ for row in _ROWS)

for _function, _takes, _gives, _fake in _ROWS:
    _name = _function.__name__
    library.define(f"{_name}({_takes}) -> {_gives}", tags=(torch.Tag.pt2_compliant_tag,))
    torch.library.register_fake(f"heddle::{_name}", _fake, lib=library)

# ---- Kernels -------------------------------------------------------------------------------------------------------

# Kernels in C (python/src/operators.c), where PyTorch is of a version that they know: they cost a third of the
# functions above. They leave to torch.ops.heddle_python.* what is out of the ordinary, and all that is wrong.

in_c: dict[str, list[str]] = {"CPU": [], "CUDA": []}  # names of operators whose kernels are in C
if os.environ.get("HEDDLE_TORCH_OPERATORS") != "python":
    in_c = _core.register_operators()
python_library = torch.library.Library("heddle_python", "DEF")


def _for_kernels(function, results):
    """A function for kernels in C, which no exception can pass: they get it by _core.operator_failed."""

    @functools.wraps(function)
    def call(*args, **options):
        try:
            return function(*args, **options)
        except BaseException as error:
            _core.operator_failed(error.with_traceback(None))
        nothing = tuple(torch.empty(0) for _ in range(results))
        return nothing[0] if results == 1 else nothing or None

    return call


def _guard(packet):
    """Calls of an operator raise the exception that its kernel in C meant."""
    for callee in (packet.default, packet):
        original = callee._op
        callee._op = _core.guard_operator(original)
    torch.jit._builtins._register_builtin(packet._op, packet._qualified_op_name)


for _function, _takes, _gives, _ in _ROWS:
    _name = _function.__name__
    if any(_name in names for names in in_c.values()):
        python_library.define(f"{_name}({_takes}) -> {_gives}")
        python_library.impl(_name, torch.library.fallthrough_kernel, "Autograd")
        _guard(getattr(torch.ops.heddle, _name))
    for _key, _kernel in (("CPU", _function), ("CUDA", _ON_GPU.get(_name, _function))):
        if _name in in_c[_key]:
            python_library.impl(_name, _for_kernels(_kernel, _gives.count("Tensor")), _key)
        else:
            library.impl(_name, _kernel, _key)

call = {name: getattr(torch.ops.heddle, name).default for name in NAMES}
_direct = {name: operator._op for name, operator in call.items()}  # what they call, without their frame in Python


def _operators():
    """The operators by name: in the form that a compiler knows, or in the one that costs less."""
    return call if torch.compiler.is_dynamo_compiling() else _direct


class Handle:
    """The operations of a table as operators, for functions that torch.compile or torch.export reads.

    keys: int64, shape (n). Every method may be called on tensors of the CPU, or, if the table is on a GPU, of it. The
    operators have no gradients. The handle keeps the table; torch.ops.heddle.* with `number` and `state` do not.

        h = ht.Handle(table)
        values, found = h.find(keys)
    """

    def __init__(self, table: Table, number: int | None = None) -> None:
        self.table = table
        self.number = handle_of(table, number)
        device = "cuda" if table.info["backend"] == "cuda" else "cpu"
        self.state = torch.zeros(1, dtype=torch.int64, device=device)

    def find(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(values, found): shape (n, ...) and bool (n). Rows of absent keys are zeros."""
        return _operators()["find"](self.number, self.state, keys)

    def find_out(self, keys: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Writes the rows of present keys to `out`, and keeps the others. It waits for nothing on a GPU."""
        _operators()["find_out"](self.number, self.state, keys, out=out)
        return out

    def contains(self, keys: torch.Tensor) -> torch.Tensor:
        """bool (n): which keys are in the table."""
        return _operators()["contains"](self.number, self.state, keys)

    def touch(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As find; the present entries count as used."""
        return _operators()["touch"](self.number, self.state, keys)

    def find_or_insert(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(values, outcome): the row that each key has now; the row given if the key found no place."""
        return _operators()["find_or_insert"](self.number, self.state, keys, values)

    def insert_or_assign(self, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """A heddle.Outcome per key: uint8 (n)."""
        return _operators()["insert_or_assign"](self.number, self.state, keys, values)

    def assign(self, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Replaces the values of present keys. A heddle.Outcome per key."""
        return _operators()["assign"](self.number, self.state, keys, values)

    def accum_or_assign(self, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Adds to the values of present keys, and inserts the others. A heddle.Outcome per key."""
        return _operators()["accum_or_assign"](self.number, self.state, keys, values)

    def erase(self, keys: torch.Tensor) -> torch.Tensor:
        """A heddle.Outcome per key."""
        return _operators()["erase"](self.number, self.state, keys)
