"""nn.Inception and nn.Serial of Torch7's package dpnn."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import compat.nn as nn
from compat import t7

CONFIG: dict[str, Any] = {"inputSize": 4, "outputSize": [3, 5], "reduceSize": [2, 2, 3, 4]}


def columns(net: Any, input: torch.Tensor) -> list[torch.Tensor]:
    return [column.clone().forward(input) for column in net.get(1).modules]


def test_columns_are_joined() -> None:
    net = nn.Inception(CONFIG)
    images = torch.randn(2, 4, 9, 9)
    output = net.forward(images)
    five, three, pooled, one = columns(net, images)
    assert output.shape == (2, 3 + 5 + 3 + 4, 9, 9)
    torch.testing.assert_close(output[:, :3], five)
    torch.testing.assert_close(output[:, 3:8], three)
    # The pooling has no padding: its planes lie in the middle.
    torch.testing.assert_close(output[:, 8:11, 1:8, 1:8], pooled)
    assert output[:, 8:11, 0].abs().sum() == 0
    torch.testing.assert_close(output[:, 11:], one)
    gradInput = net.backward(images, torch.ones_like(output))
    assert gradInput.shape == images.shape
    torch.testing.assert_close(net.forward(images[0]), output[0])


def test_a_sample_goes_back_as_a_batch_of_one() -> None:
    net = nn.Inception(CONFIG)
    _, gradients = net.getParameters()
    image = torch.randn(4, 9, 9)
    gradOutput = torch.randn_like(net.forward(image))
    net.zeroGradParameters()
    gradInput = net.backward(image, gradOutput, 2)
    kept = gradients.clone()
    net.zeroGradParameters()
    net.forward(image[None])
    torch.testing.assert_close(net.updateGradInput(image[None], gradOutput[None])[0], gradInput)
    net.accGradParameters(image[None], gradOutput[None], 2)
    torch.testing.assert_close(gradients, kept)


def test_settings_shape_the_columns() -> None:
    more = {"reduceStride": [2, 2, 2], "transfer": nn.Tanh(), "batchNorm": True}
    more |= {"kernelSize": [3, 1], "kernelStride": [1, 1], "pool": nn.SpatialMaxPooling(2, 2, 1, 1)}
    net = nn.Inception(CONFIG | more | {"reduceSize": [2, 2, 3]})
    kinds = [[m.typename for m in column.modules] for column in net.get(1).modules]
    block = ["nn.SpatialConvolution", "nn.SpatialBatchNormalization", "nn.Tanh"]
    assert kinds == [block * 2, block * 2, ["nn.SpatialMaxPooling", *block]]
    assert net.get(1).get(1).get(1).dW == 2 and net.get(1).get(1).get(4).padW == 1
    with pytest.raises(ValueError, match="config has no reduceSize"):
        nn.Inception({"inputSize": 1, "outputSize": [1]})


@pytest.mark.parametrize(
    ("more", "printed"),
    [
        ({}, [" in pooling."]),
        ({"pool": nn.SpatialMaxPooling(3, 3, 1, 1, 1, 1)}, []),
        ({"padding": False}, [".", " in pooling.", " in 1x1 conv."]),
        ({"reduceStride": [1, 1, 1, 2], "pool": nn.ReLU()}, [" in 1x1 conv."]),
    ],
)
def test_columns_of_several_sizes_are_told(
    more: dict[str, Any], printed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    nn.Inception(CONFIG | more)
    warning = "dpnn.Inception: Warning: Inconsistent output sizes"
    assert capsys.readouterr().out.splitlines() == [warning + end for end in printed]


@pytest.mark.parametrize("field", ["module", "depthConcat"])
def test_files_of_both_versions(field: str) -> None:
    net = nn.Inception(CONFIG)
    images = torch.randn(1, 4, 6, 6)
    fields = t7.loads(t7.dumps(net), raw=True).fields
    fields[field] = fields.pop("module")
    assert fields[field] is fields["modules"][1]
    again = t7.loads(t7.dumps(t7.TorchObject("nn.Inception", 1, fields)))
    torch.testing.assert_close(again.forward(images), net.forward(images))
    assert field not in vars(again) and again.reduceSize == [2, 2, 3, 4]


def test_it_leads_out_of_torch7() -> None:
    net = nn.Sequential(nn.Inception(CONFIG), nn.Serial(nn.ReLU(), "torch.FloatTensor"))
    images = torch.randn(2, 4, 6, 6)
    torch.testing.assert_close(net.to_torch()(images), net.forward(images))
    again = t7.loads(t7.dumps(net))
    torch.testing.assert_close(again.forward(images), net.forward(images))
