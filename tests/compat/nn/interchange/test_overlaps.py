"""Parameters that are views of the same memory stay shared, or it is told that they do not."""

from __future__ import annotations

import warnings

import pytest
import torch

from compat import nn
from compat.nn.interchange.overlaps import Place, overlapping


@pytest.mark.parametrize("first", [0, 2])
def test_a_transposed_weight_stays_shared_there_and_back(first: int) -> None:
    layers = [nn.Linear(5, 3), nn.Sigmoid(), nn.Linear(3, 5)]
    other = 2 - first
    layers[other].weight = layers[first].weight.t()
    net, input = nn.Sequential(*layers), torch.randn(2, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = net.to_torch()
    assert len(list(plain.parameters())) == 3
    torch.testing.assert_close(plain(input), net.forward(input))
    back = nn.from_torch(plain)
    assert back.get(1).weight.data_ptr() == back.get(3).weight.data_ptr()
    torch.testing.assert_close(back.forward(input), net.forward(input))


def test_other_views_are_told() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 3))
    net.get(3).weight = net.get(1).weight.narrow(1, 0, 2)
    with pytest.warns(UserWarning, match=r"Sequential\[1\] nn.Linear and nn.Sequential\[3\] nn.L"):
        net.to_torch()


def test_places_meet_where_an_element_is_the_same() -> None:
    """For random views of one matrix, as their sets of elements say."""
    generator = torch.Generator().manual_seed(1)
    matrix = torch.arange(36.0).view(6, 6)
    draw = lambda high: int(torch.randint(high, (), generator=generator))  # noqa: E731
    for _ in range(100):
        views = []
        for _ in range(2):
            part = matrix[draw(5) :: draw(3) + 1, draw(5) :: draw(3) + 1]
            views.append(part.t() if draw(2) else part)
        one, other = (set(view.flatten().tolist()) for view in views)
        places = [Place.of(name, view) for name, view in zip("ab", views, strict=True)]
        assert (overlapping(places) is not None) == bool(one & other)
