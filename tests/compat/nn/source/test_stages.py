"""Runs that differ in how often they repeat a layer are one function with a number."""

from __future__ import annotations

import re

import pytest
import torch

from compat import nn
from compat.nn.source.script import module_from
from compat.nn.source.written import write


def vgg(stages: list[tuple[int, int]], planes: int = 3, batch_norm: bool = False) -> nn.Sequential:
    """Convolutions in stages of (number, planes), each with a pooling at its end."""
    net = nn.Sequential()
    for count, wider in stages:
        for _ in range(count):
            net.add(nn.SpatialConvolution(planes, wider, 3, 3, 1, 1, 1, 1))
            if batch_norm:
                net.add(nn.SpatialBatchNormalization(wider))
            net.add(nn.ReLU(True))
            planes = wider
        net.add(nn.SpatialMaxPooling(2, 2))
    return net


def residual(planes: int, wider: int) -> nn.Sequential:
    branch = nn.Sequential(
        nn.SpatialConvolution(planes, wider, 3, 3, 1, 1, 1, 1),
        nn.SpatialBatchNormalization(wider),
        nn.ReLU(),
        nn.SpatialConvolution(wider, wider, 3, 3, 1, 1, 1, 1),
    )
    return nn.Sequential(nn.ConcatTable(branch, nn.Identity()), nn.CAddTable())


def text_of(net: nn.Module, *sizes: int) -> str:
    found = write(net, torch.randn(sizes))
    again = module_from(found.text, "net.py")["Net"]()
    assert sorted(again.state_dict()) == sorted(
        name for name in found.tensors if not name.startswith("example.")
    )
    assert [tuple(v.shape) for v in again.state_dict().values()] == [
        tuple(found.tensors[name].shape) for name in again.state_dict()
    ]
    return found.text


@pytest.mark.parametrize("batch_norm", [False, True])
def test_stages_of_several_depths_are_one_function(batch_norm: bool) -> None:
    net = vgg([(2, 4), (2, 8), (3, 8), (4, 16), (3, 16)], batch_norm=batch_norm)
    text = text_of(net, 2, 3, 32, 32)
    assert text.count("def stage(") == 1
    assert re.findall(r"stage\((\d[^)]*)\)", text) == [
        *("3, 4, 2", "4, 8, 2", "8, 8, 3", "8, 16, 4", "16, 16, 3")
    ]


def test_a_stage_of_one_layer_is_no_obstacle() -> None:
    net = vgg([(1, 4), (2, 8), (3, 8), (4, 16), (3, 16)])
    text = text_of(net, 2, 3, 32, 32)
    stages = re.findall(r"stage\((\d[^)]*)\)", text)
    assert stages == ["4, 8, 2", "8, 8, 3", "8, 16, 4", "16, 16, 3"]


def test_stages_of_equal_depth_have_no_number() -> None:
    text = text_of(vgg([(2, 4), (2, 8), (2, 8), (2, 16)]), 2, 3, 32, 32)
    assert "depth" not in text


def test_blocks_are_repeated_as_layers_are() -> None:
    net = nn.Sequential()
    planes = 3
    for count, wider in [(3, 4), (4, 8), (6, 8), (3, 16)]:
        net.add(nn.SpatialConvolution(planes, wider, 1, 1, 2, 2))
        for _ in range(count):
            net.add(residual(wider, wider))
        planes = wider
    text = text_of(net, 2, 3, 32, 32)
    assert re.findall(r"stage\((\d[^)]*)\)", text) == ["3, 4, 3", "4, 8, 4", "8, 8, 6", "8, 16, 3"]
    assert "*[ResidualBlock(out_channels) for _ in range(depth)]" in text


def test_layers_that_differ_within_a_stage_are_not_counted() -> None:
    net = nn.Sequential()
    for count in (2, 3, 4, 3):
        for place in range(count):
            net.add(nn.Linear(6, 6)).add(nn.ReLU()).add(nn.Threshold(0.1 * place, 0))
        net.add(nn.Dropout(0.5))
    assert "depth" not in text_of(net, 2, 6)
