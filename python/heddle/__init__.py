# SPDX-License-Identifier: Apache-2.0
"""Heddle: hash tables with cache semantics, on CPUs and NVIDIA GPUs.

    import heddle
    t = heddle.Table(capacity=1 << 20, value=("float32", 16), policy="lru")
    fate = t.insert(keys, values)      # a heddle.Outcome per key
    found = t.find(keys)               # found.value, found.found, found.score

Arrays may be NumPy's, PyTorch's, CuPy's, JAX's, or any with DLPack or the buffer protocol. Importing heddle imports
none of these, and touches no GPU.
"""

from heddle import _arrays, _core

_core.use_helpers(vars(_arrays))

from heddle._arrays import Listed  # noqa: E402
from heddle._core import Error, Result  # noqa: E402
from heddle._policy import Policy  # noqa: E402
from heddle._table import Table, inspect, load  # noqa: E402
from heddle._types import Accum, Op, Outcome, rows  # noqa: E402

TYPE_CHECKING = False  # as that of typing, which takes long to import
if TYPE_CHECKING:
    from typing import Any

    from heddle._command import classify, command, curve, kmers, letters, run, sim, stat, sweep, write_trace
    from heddle._explain import Story, explain
    from heddle._report import Report
    from heddle._site import site

# Names that are imported when they are used: what they need takes longer to import than the rest of the package.
_LATER = {
    "classify": "_command", "command": "_command", "curve": "_command", "kmers": "_command", "letters": "_command",
    "run": "_command", "sim": "_command", "stat": "_command", "sweep": "_command", "write_trace": "_command",
    "Story": "_explain", "explain": "_explain", "Report": "_report", "site": "_site",
}  # fmt: skip


def __getattr__(name: str) -> "Any":
    if name not in _LATER:
        raise AttributeError(f"module 'heddle' has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module("heddle." + _LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__version__ = _core.version
__all__ = [
    "Accum", "Error", "Listed", "Op", "Outcome", "Policy", "Report", "Result", "Story", "Table", "classify", "command",
    "curve", "explain", "inspect", "kmers", "letters", "load", "rows", "run", "sim", "site", "stat", "sweep",
    "write_trace",
]  # fmt: skip
