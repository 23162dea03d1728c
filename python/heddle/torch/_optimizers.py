# SPDX-License-Identifier: Apache-2.0
"""Optimizers of embeddings. Their state is in the row of each key, behind its weights.

An optimizer updates only the rows of keys that have a gradient. A row that is evicted loses its state. State is
float32, whatever the type of the weights is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from torch import Tensor


class Optimizer:
    """The base: `lr` may be changed at any time, for example by a schedule."""

    name = "none"
    rule = 0  # of the kernel (_kernels.py)

    def __init__(self, lr: float) -> None:
        if not lr >= 0:
            raise ValueError(f"lr: {lr} is not a number from 0 on")
        self.lr = lr

    def state_floats(self, dim: int) -> int:
        """Elements of state per row."""
        return 0

    def state_initial(self) -> float:
        """The value of every element of state of a new row."""
        return 0.0

    def update(self, weights: Tensor, gradients: Tensor, state: Tensor, steps: int) -> None:
        """One step. weights, gradients: float32 (n, dim); state: float32 (n, state_floats); steps: 1 in the first.

        Changes weights and state.
        """
        raise NotImplementedError

    def numbers(self, steps: int) -> tuple[float, ...]:
        """The numbers that the kernel's rule uses in this step."""
        return ()

    def trains(self) -> bool:
        """Whether steps are meant to change rows."""
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


class SGD(Optimizer):
    """weight -= lr * gradient, as torch.optim.SGD without momentum. It has no state."""

    name, rule = "sgd", 1

    def __init__(self, lr: float) -> None:
        super().__init__(lr)

    def update(self, weights: Tensor, gradients: Tensor, state: Tensor, steps: int) -> None:
        weights.add_(gradients, alpha=-self.lr)

    def numbers(self, steps: int) -> tuple[float, ...]:
        return (self.lr,)


class Adagrad(Optimizer):
    """As torch.optim.Adagrad for sparse gradients. State: the sum of squares, dim elements."""

    name, rule = "adagrad", 2

    def __init__(self, lr: float = 1e-2, eps: float = 1e-10, initial_accumulator_value: float = 0.0) -> None:
        super().__init__(lr)
        self.eps, self.initial_accumulator_value = eps, initial_accumulator_value

    def state_floats(self, dim: int) -> int:
        return dim

    def state_initial(self) -> float:
        return self.initial_accumulator_value

    def update(self, weights: Tensor, gradients: Tensor, state: Tensor, steps: int) -> None:
        state.addcmul_(gradients, gradients)
        weights.addcdiv_(gradients, state.sqrt().add_(self.eps), value=-self.lr)

    def numbers(self, steps: int) -> tuple[float, ...]:
        return (self.lr, self.eps)


class RowWiseAdagrad(Optimizer):
    """Adagrad with one number per row: the sum of the means of squares. State: 1 element."""

    name, rule = "rowwise_adagrad", 3

    def __init__(self, lr: float = 1e-2, eps: float = 1e-8) -> None:
        super().__init__(lr)
        self.eps = eps

    def state_floats(self, dim: int) -> int:
        return 1

    def update(self, weights: Tensor, gradients: Tensor, state: Tensor, steps: int) -> None:
        state.add_(gradients.square().mean(1, keepdim=True))
        weights.addcdiv_(gradients, state.sqrt().add_(self.eps).expand_as(gradients), value=-self.lr)

    def numbers(self, steps: int) -> tuple[float, ...]:
        return (self.lr, self.eps)


class Adam(Optimizer):
    """As torch.optim.SparseAdam: moments decay only in steps in which the key has a gradient; the correction of the
    bias counts all steps of the embedding. State: two moments, 2 * dim elements."""

    name, rule = "adam", 4

    def __init__(self, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8) -> None:
        super().__init__(lr)
        self.betas, self.eps = tuple(betas), eps

    def state_floats(self, dim: int) -> int:
        return 2 * dim

    def update(self, weights: Tensor, gradients: Tensor, state: Tensor, steps: int) -> None:
        dim = weights.shape[1]
        first, second = state[:, :dim], state[:, dim:]
        rate, root = self._rates(steps)
        first.mul_(self.betas[0]).add_(gradients, alpha=1 - self.betas[0])
        second.mul_(self.betas[1]).addcmul_(gradients, gradients, value=1 - self.betas[1])
        weights.addcdiv_(first, second.sqrt().add_(self.eps), value=-rate * root)

    def _rates(self, steps):
        return self.lr / (1 - self.betas[0] ** steps), (1 - self.betas[1] ** steps) ** 0.5

    def numbers(self, steps: int) -> tuple[float, ...]:
        rate, root = self._rates(steps)
        return (rate * root, self.eps, *self.betas)


class Untrained(SGD):
    """What None stands for: rows as those of SGD, and no steps until somebody sets a rate."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def trains(self) -> bool:
        return self.lr > 0


def check_optimizer(optimizer: Any) -> Optimizer:
    """The optimizer of an argument."""
    if optimizer is None:
        return Untrained()
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer: {type(optimizer).__name__} is not a heddle.torch.Optimizer, for example ht.Adam()")
    return optimizer
