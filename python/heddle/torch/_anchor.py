# SPDX-License-Identifier: Apache-2.0
"""What PyTorch sees of an embedding's rows: one parameter of one element, `_anchor`.

- It is frozen with its module: then lookups are as in evaluation.
- A backward pass that reaches the rows gives it a gradient, PROBE per lookup, which is too small to show in a norm. If
  it is gone at the next pass or step, zero_grad() was called. If it has another value, PyTorch has scaled gradients.
- Its value is another one in each module. So it tells that a module was made an average of others (AveragedModel).
"""

import functools
import warnings
import weakref

import torch

from heddle._core import Error

PROBE = 2.0**-60


class _Scalers:
    """The use of torch.amp.GradScaler in this process: nothing else tells that a loss was scaled."""

    count = 0  # how often a loss was scaled
    # of each scaler, the scale of its last loss; update() changes its own
    last: weakref.WeakKeyDictionary[object, float] = weakref.WeakKeyDictionary()

    @classmethod
    def watch(cls):
        original = torch.amp.GradScaler.scale

        @functools.wraps(original)
        def scale(scaler, outputs):
            scaled = original(scaler, outputs)
            if scaler.is_enabled():
                cls.count += 1
                cls.last[scaler] = scaler._scale.clone()
            return scaled

        torch.amp.GradScaler.scale = scale


_Scalers.watch()


class _Seen:
    """What an embedding knows of its anchor and of its backward passes."""

    def __init__(self, anchor, value):
        self.value, self.written = value, anchor._version
        self.trained = False  # whether a backward pass has ever reached the rows
        self.told = set()  # warnings are given once
        self.scaled = _Scalers.count
        self.forget()

    def forget(self):
        self.task, self.stream, self.arrived = None, None, 0  # arrived: how often the anchor has got a gradient


def _ranks():
    d = torch.distributed
    return d.get_world_size() if d.is_available() and d.is_initialized() else 1


class Anchored:
    """The methods of an embedding that keep it in step with what PyTorch does to parameters."""

    def _start_anchor(self):
        if self._anchor.is_inference():
            self._anchor = torch.nn.Parameter(torch.empty_like(self._anchor), self._anchor.requires_grad)
        self._seen = _Seen(self._anchor, float(self._number))
        self._keep_anchor()
        embedding = weakref.ref(self)

        def arrived(unused):
            if (at := embedding()) is not None:
                at._seen.arrived += 1

        wanted = self._anchor.requires_grad
        self._anchor.requires_grad_(True).register_post_accumulate_grad_hook(arrived)
        self._anchor.requires_grad_(wanted)

    def _keep_anchor(self, gradient=None):
        """In a new module, and after it has moved, or got another type of weights, which its rows have not. gradient:
        what _gradient_of_anchor gave before."""
        with torch.no_grad():
            self._anchor.data = torch.full((1,), self._seen.value, device=self._anchor.device)
        if self._anchor.grad is not None and self._anchor.grad.dtype != torch.float32:
            self._go_on_with(gradient)
        self._seen.written = self._anchor._version

    def _gradient_of_anchor(self):
        gradient = self._anchor.grad
        return None if gradient is None else gradient.detach().clone()

    def _go_on_with(self, gradient):
        """Gives the anchor the gradient that it had. PyTorch copies none with a parameter. It counts as written by
        other code, so the next step looks whether it was scaled."""
        if gradient is not None:
            with torch.inference_mode(False), torch.no_grad():
                self._anchor.grad = torch.zeros_like(self._anchor).add_(gradient.to(self._anchor.device))
            self._seen.arrived = 1

    def _learns(self):
        """Whether lookups are those of training."""
        return self.training and self._anchor.requires_grad

    def _check_anchor(self):
        anchor = self._parameters.get("_anchor")
        if type(anchor) is not torch.nn.Parameter:
            raise Error("module: other code has replaced the parameter of an embedding, as FSDP does, which shards no "
                        "rows of tables; leave embeddings out (FSDP: ignored_states)")  # fmt: skip
        seen = self._seen
        if anchor._version == seen.written or seen.trained or self._capturing() or _ranks() > 1:
            return
        if anchor.detach().item() != self._seen.value:
            raise Error("module: other code has written the parameter of this copy of an embedding, as AveragedModel "
                        "does; it averages no rows of tables; share the module instead of a copy")  # fmt: skip
        self._seen.written = anchor._version

    def _tell(self, name, text):
        if name not in self._seen.told:
            self._seen.told.add(name)
            warnings.warn(text, stacklevel=3)

    # ---- Gradients --------------------------------------------------------------------------------------------------

    def _forget(self):
        """The gradients that wait for a step are gone."""
        self._pending = []
        self._seen.forget()
        self._anchor.grad = None

    def _written(self):
        """Whether more was written to the anchor's gradient than gradients. Nothing is read in a capture."""
        gradient = self._anchor.grad
        return gradient is not None and gradient._version >= max(1, self._seen.arrived) and not self._capturing()

    def _was_zeroed(self):
        """Whether zero_grad() came after the last backward pass. This waits for the GPU if _written()."""
        if self._seen.arrived == 0 or self._anchor.grad is None:
            return self._seen.arrived > 0
        return self._written() and self._anchor.grad.detach().item() == 0

    def _add_gradient(self, gradient):
        """Keeps a gradient for `step`. Returns that of the anchor."""
        with self._in_turn():
            seen, task = self._seen, torch._C._current_graph_task_id()
            if task != seen.task and self._pending:
                if self._was_zeroed():
                    self._pending = []
                    seen.forget()
                else:
                    self._tell("waiting", "backward: gradients of an earlier backward pass wait for step(); those of "
                               "both passes will be added")  # fmt: skip
            seen.task, seen.trained, seen.stream = task, True, self._last
            self._pending = [*self._pending, gradient]  # a list that the caller has stays as it is
            return torch.full((1,), PROBE, device=self.device)

    def _keep_for_this_stream(self):
        """Memory of gradients that another stream made is not used again before this one has read them."""
        if self._seen.stream is None or self._seen.stream == self._last:
            return
        for pending in self._pending:
            tensors = pending if isinstance(pending, tuple) else (pending.gradient, *pending.groups.tensors())
            for tensor in tensors:
                tensor.record_stream(self._last)

    # ---- Steps ------------------------------------------------------------------------------------------------------

    def _may_step(self, scale, max_norm):
        """Whether there are gradients to apply. Fails if applying them would be wrong."""
        seen = self._seen
        if not self._pending:
            if not self.training:
                self._tell("evaluation", "step: the embedding is in evaluation, whose lookups collect no gradients; "
                           "call train() for training")  # fmt: skip
            return False
        self._check_anchor()
        if self._was_zeroed():
            self._forget()
            self._tell("zeroed", "step: zero_grad() came between backward() and step(), so there is nothing to apply")
            return False
        if not self.optimizer.trains():
            raise Error("optimizer: there is none, so a step would change nothing; make the embedding with "
                        "optimizer=ht.SGD(lr), or use torch.no_grad() for lookups that are not to train")  # fmt: skip
        if self.group is None and _ranks() > 1:
            raise Error(f"group: there is a process group of {_ranks()} ranks, and rows and gradients are not shared "
                        "with other ranks (DistributedDataParallel does not see them); group='apart' says that each "
                        "rank is to have rows of its own")  # fmt: skip
        if scale is None and _Scalers.count != seen.scaled:
            raise Error("scale: a GradScaler has scaled a loss since the last step; call step(scale=scaler), or "
                        "step(scale=1) if it was another loss")  # fmt: skip
        if scale is None and max_norm is None:
            self._check_scaled()
        seen.scaled = _Scalers.count
        return True

    def _check_scaled(self):
        """Fails if PyTorch has changed the anchor's gradient: it is no whole number of probes. This waits for the GPU
        if more was written there than gradients."""
        if not self._written():
            return
        probes = self._anchor.grad.detach().item() / PROBE
        if probes < 0.5 or abs(probes - round(probes)) > 1e-3:
            raise Error(f"step: the gradients of this module's parameters were multiplied, {probes:.4g} is left of 1, "
                        "as by clip_grad_norm_ and GradScaler.unscale_, which do not see the gradients of rows; call "
                        "step(max_norm=...) or step(scale=...)")  # fmt: skip

    @staticmethod
    def _scale_of(scale):
        if isinstance(scale, torch.amp.GradScaler):
            known = _Scalers.last.get(scale)
            scale = scale.get_scale() if known is None else float(known)
        scale = float(scale)
        if not 0 < scale < float("inf"):
            raise ValueError(f"scale: {scale} is not a number above 0")
        return scale
