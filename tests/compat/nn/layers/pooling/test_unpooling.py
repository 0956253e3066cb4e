from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, t7


@pytest.mark.parametrize(
    ("pooling", "cls", "shape"),
    [
        (nn.SpatialMaxPooling(2, 2), nn.SpatialMaxUnpooling, (2, 3, 5, 6)),
        (nn.VolumetricMaxPooling(2, 1, 3), nn.VolumetricMaxUnpooling, (2, 3, 4, 5, 6)),
    ],
)
def test_maxima_return_to_their_places(pooling: Any, cls: Any, shape: Any) -> None:
    x = torch.rand(shape) + 1
    net = nn.Sequential().add(pooling).add(cls(pooling))
    output = net.forward(x)
    assert output.shape == x.shape
    kept = output != 0
    assert torch.equal(output[kept], x[kept])
    assert kept.sum() == pooling.output.numel()
    gradOutput = torch.randn(shape)
    assert torch.equal(net.backward(x, gradOutput), gradOutput * kept)


def test_saved_nets_keep_the_pair_together() -> None:
    pooling = nn.SpatialMaxPooling(2, 2)
    net = nn.Sequential().add(pooling).add(nn.SpatialMaxUnpooling(pooling))
    again = t7.loads(t7.dumps(net))
    assert again.get(2).pooling is again.get(1)
    copy = net.clone()
    assert copy.get(2).pooling is copy.get(1)
    x = torch.randn(1, 4, 5)
    wanted = net.forward(x)
    for other in (again, copy):
        assert torch.equal(other.forward(x), wanted)


def test_prints() -> None:
    module = nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2, 2))
    assert repr(module) == ("nn.SpatialMaxUnpooling associated to nn.SpatialMaxPooling(2x2, 2,2)")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: nn.SpatialMaxUnpooling(nn.SpatialAveragePooling(2, 2)),
            TypeError,
            "poolingModule is a SpatialAveragePooling; a nn.SpatialMaxPooling is accepted",
        ),
        (
            lambda: nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(3, 3, 2, 2)),
            ValueError,
            "one whose step is the size of its window",
        ),
        (
            lambda: nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2, 2)).forward(torch.zeros(1, 2)),
            RuntimeError,
            "unpooling needs a forward pass of the pooling first",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_an_input_of_another_size_is_refused() -> None:
    pooling = nn.SpatialMaxPooling(2, 2)
    pooling.forward(torch.zeros(1, 4, 4))
    with pytest.raises(
        ValueError, match=r"input has size \(1, 3, 3\); that of the pooling's output"
    ):
        nn.SpatialMaxUnpooling(pooling).forward(torch.zeros(1, 3, 3))


def test_back_to_a_size_other_than_the_pooling_had_is_refused() -> None:
    pooling = nn.SpatialMaxPooling(2, 2)
    module = nn.SpatialMaxUnpooling(pooling)
    x = pooling.forward(torch.rand(1, 5, 4)).clone()
    assert module.forward(x).shape == (1, 5, 4)
    with pytest.raises(RuntimeError, match=r"gradOutput has size \(1, 4, 4\); \(1, 5, 4\) is"):
        module.updateGradInput(x, torch.zeros(1, 4, 4))
    pooling.indices.fill_(21)
    with pytest.raises(RuntimeError, match="found an invalid max index"):
        module.forward(x)
