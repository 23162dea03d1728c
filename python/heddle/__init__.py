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
from heddle._command import command, kmers, letters, run, sim, stat, sweep, write_trace  # noqa: E402
from heddle._core import Error, Result  # noqa: E402
from heddle._explain import Story, explain  # noqa: E402
from heddle._policy import Policy  # noqa: E402
from heddle._report import Report  # noqa: E402
from heddle._table import Table, inspect, load  # noqa: E402
from heddle._types import Accum, Op, Outcome, rows  # noqa: E402

__version__ = _core.version
__all__ = [
    "Accum", "Error", "Listed", "Op", "Outcome", "Policy", "Report", "Result", "Story", "Table", "command", "explain",
    "inspect", "kmers", "letters", "load", "rows", "run", "sim", "stat", "sweep", "write_trace",
]  # fmt: skip
