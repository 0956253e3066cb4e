"""What passes would add to gradients, kept for somebody who adds it later.

Nets that share their gradient tensors, as replicas on one device do, cannot go back at once and add
to them: the sums would be wrong, and their order another one each time. Each keeps what it has to
add instead; of a large matrix the two factors of its gradient, which are smaller.
"""

from __future__ import annotations

import threading

from torch import Tensor


class Contributions:
    """What the passes in a thread would add to gradients while its ``with`` block lasts.

    Fields: ``values``, each a gradient tensor, what to add to it, and a factor of that; and
    ``products``, each the gradient tensor of a matrix, two matrices of which the product is to be
    added, and a factor of that. ``announced``, the parameters whose post-accumulate hooks are to be
    called when that is done.
    """

    def __init__(self) -> None:
        self.values: list[tuple[Tensor, Tensor, float]] = []
        self.products: list[tuple[Tensor, Tensor, Tensor, float]] = []
        self.announced: list[Tensor] = []
        # By gradient and factor, where in ``values``; those that no other part of a net can read.
        self._places: dict[tuple[object, ...], int] = {}
        self._own: set[int] = set()
        self._outer: Contributions | None = None

    def __enter__(self) -> None:
        self._outer, _state.current = _state.current, self

    def __exit__(self, *_: object) -> None:
        _state.current, self._outer = self._outer, None

    def add(self, gradients: dict[Tensor, Tensor], scale: float = 1) -> None:
        """Keep ``scale`` times the gradient of each parameter, summed with what is kept for it."""
        for parameter, gradient in gradients.items():
            into = parameter.grad
            if into is None:
                continue
            # Clones of a layer have tensors of their own over one memory.
            place = into.data_ptr(), into.shape, into.stride(), scale
            i = self._places.setdefault(place, len(self.values))
            if i == len(self.values):
                self.values.append((into, gradient, scale))
            elif i in self._own:
                self.values[i][1].add_(gradient)
            else:
                into, first, _ = self.values[i]
                self.values[i] = into, first + gradient, scale
                self._own.add(i)

    def add_product(self, weight: Tensor, first: Tensor, second: Tensor, scale: float = 1) -> None:
        """Keep the factors of ``scale * first.mm(second)``, the gradient of a weight."""
        assert weight.grad is not None
        self.products.append((weight.grad, first, second, scale))

    def to(self, gradient: Tensor) -> list[Tensor]:
        """What is kept for a gradient tensor: values, and factors of products."""
        place = gradient.data_ptr()
        found = [value for grad, value, _ in self.values if grad.data_ptr() == place]
        for grad, first, second, _ in self.products:
            if grad.data_ptr() == place:
                found += [first, second]
        return found


class _State(threading.local):
    current: Contributions | None = None


_state = _State()


def contributions() -> Contributions | None:
    """Who keeps what passes in this thread would add to gradients; None: they add it."""
    return _state.current
