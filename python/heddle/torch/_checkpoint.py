# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.checkpoint: loading into a module whose tables have another number of rows."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner

from heddle.torch._state import COLUMNS_OF_STATES


class LoadPlanner(DefaultLoadPlanner):
    """Gives the columns of embeddings in a state_dict the sizes that the checkpoint has, before it is read.

        state = {"model": net.state_dict()}
        dcp.load(state, checkpoint_id=path, planner=ht.LoadPlanner())
        net.load_state_dict(state["model"])
    """

    def set_up_planner(self, state_dict: Any, metadata: Any = None, is_coordinator: bool = False) -> None:
        super().set_up_planner(state_dict, metadata, is_coordinator)
        for name, tensor in self.state_dict.items():
            saved = metadata.state_dict_metadata.get(name)
            if isinstance(tensor, torch.Tensor) and tensor in COLUMNS_OF_STATES and hasattr(saved, "size"):
                tensor.resize_(saved.size)
