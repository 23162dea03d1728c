# SPDX-License-Identifier: Apache-2.0
"""heddle.torch: tables for PyTorch. Operators for torch.compile, and embeddings whose rows are in a table.

    import torch
    import heddle.torch as ht

    emb = ht.Embedding(capacity=1 << 20, dim=64, optimizer=ht.Adam(lr=1e-3))
    out = emb(ids)                     # any int64 ids; new ones get a row
    loss(out).backward()
    emb.step()                         # the rows of `ids` are updated in place

It needs PyTorch 2.4 or later. `import heddle` alone does not import PyTorch.
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("heddle.torch needs PyTorch 2.4 or later, and PyTorch is not installed") from error

if tuple(int(n) for n in _torch.__version__.split("+")[0].split(".")[:2]) < (2, 4):
    raise ImportError(
        f"heddle.torch needs PyTorch 2.4 or later (torch.library.register_fake); this is {_torch.__version__}. "
        "heddle.Table accepts the tensors of earlier versions."
    )

from heddle.torch._embedding import Embedding, EmbeddingBag, step  # noqa: E402
from heddle.torch._evictions import Evicted  # noqa: E402
from heddle.torch._initial import Constant, Normal, Uniform  # noqa: E402
from heddle.torch._ops import Handle, handle_of, table_of  # noqa: E402
from heddle.torch._ops import in_c as operators_in_c  # noqa: E402
from heddle.torch._optimizers import SGD, Adagrad, Adam, Optimizer, RowWiseAdagrad  # noqa: E402
from heddle.torch._rows import Part, Times  # noqa: E402

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "Constant",
    "Embedding",
    "EmbeddingBag",
    "Evicted",
    "Handle",
    "LoadPlanner",
    "Normal",
    "Optimizer",
    "Part",
    "RowWiseAdagrad",
    "Times",
    "Uniform",
    "handle_of",
    "operators_in_c",
    "step",
    "table_of",
]


def __getattr__(name: str) -> type:
    if name == "LoadPlanner":  # PyTorch's part for it takes time to import
        from heddle.torch._checkpoint import LoadPlanner

        return LoadPlanner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
