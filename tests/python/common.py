# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share.

HEDDLE_NO_NUMPY=1 hides NumPy and what is built on it, so that the same tests run as on a system without it.
"""

import array
import ctypes
import os
import sys

class Hidden:
    """A finder that finds nothing in the place of some modules."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "torch", "array_api_strict"):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)


if os.environ.get("HEDDLE_NO_NUMPY"):
    sys.meta_path.insert(0, Hidden())


def optional(name):
    """A module, or None if it is not there."""
    try:
        return __import__(name)
    except ImportError:
        return None


numpy = optional("numpy")

import heddle  # noqa: E402

RESERVED = (2**64 - 1, 2**64 - 2, 2**64 - 3)


def u64(numbers):
    """An array of uint64."""
    return array.array("Q", numbers)


def rows_of(values, n):
    """An array of values as a list of n tuples of numbers; for tables of no bytes `values` is None."""
    if values is None:
        return [()] * n
    rows = values.tolist()
    return [tuple(r) if isinstance(r, list) else (r,) for r in rows]


def outcomes_of(result):
    """The outcomes that a call delivered, which is their array, or a Result that has it."""
    outcomes = result.outcome if isinstance(result, heddle.Result) else result
    return [heddle.Outcome(number) for number in outcomes.tolist()]


def entries_of(table):
    """All entries, {key: (value, score)}, by export; no key may come twice."""
    part = table.export()
    keys = part.key.tolist()
    values = rows_of(part.value, len(keys))
    entries = dict(zip(keys, zip(values, part.score.tolist()), strict=True))
    assert len(entries) == len(keys), "a key is in two slots"
    return entries


def memory_at(address, size):
    """The bytes at an address."""
    return ctypes.string_at(address, size)


def resident_bytes():
    """The memory of this process that is in RAM."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
