"""Whatever the batch, the devices and the shape of the table: the results are the bare net's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import equal, given_to
from torch import Tensor
from torch.nn import functional as F

from compat import nn, random
from compat.nn.core.parameter import Parameter
from compat.tensor_tables import map_tensors, tensors
from dptable import DataParallelTable

pytestmark = pytest.mark.devices(8)


class _EveryTensor(nn.Module):
    """A trained affine function, then tanh, of the last dimension of each tensor in a table."""

    weight = Parameter()
    bias = Parameter()

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = torch.randn(3, 2).double(), torch.randn(3).double()

    def compute(self, input: Any) -> Any:
        return map_tensors(
            lambda t: F.linear(t, self.weight, self.bias).tanh() if t.numel() else t, input
        )


def nested(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Tables of tables: lists, tuples and dicts, down to leaves."""
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3),
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
        ),
        max_leaves=5,
    )


@st.composite
def batches(draw: st.DrawFn) -> tuple[int, Any]:
    """A dimension to split, and a table of tensors that agree in its size."""
    dimension = draw(st.sampled_from([1, 2, -2]))
    size = draw(st.integers(0, 17))
    kinds = st.sampled_from(["tensor", "tensor", "longer tensor", "strided", "empty"])
    shapes = draw(nested(kinds))
    torch.manual_seed(draw(st.integers(0, 100)))

    def leaf(kind: str) -> Tensor:
        if kind == "empty":
            return torch.empty(0, dtype=torch.float64)
        before = {1: [], 2: [2], -2: [3]}[dimension]
        after = [2] if dimension == -2 or kind != "longer tensor" else [3, 2]
        t = torch.randn(*before, size, *after, dtype=torch.float64)
        return t.transpose(0, -1).contiguous().transpose(0, -1) if kind == "strided" else t

    def fill(shape: Any) -> Any:
        if isinstance(shape, str):
            return leaf(shape)
        if isinstance(shape, dict):
            return {key: fill(value) for key, value in shape.items()}
        return [fill(value) for value in shape]

    return dimension, fill(shapes)


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-10, atol=1e-12)


def gradients(net: nn.Module) -> list[Tensor]:
    return [g.clone() for g in net.parameters()[1]]


@given(
    batch=batches(),
    replicas=st.integers(1, 8),
    flat=st.booleans(),
    threads=st.booleans(),
    scale=st.sampled_from([1, 0.5]),
    split=st.booleans(),
)
def test_results_are_those_of_the_bare_net(
    batch: Any, replicas: int, flat: bool, threads: bool, scale: float, split: bool
) -> None:
    dimension, input = batch
    bare = nn.Sequential().add(_EveryTensor())
    dpt = DataParallelTable(dimension, flat).add(bare.clone(), list(range(1, replicas + 1)))
    if threads:
        dpt.threads()
    try:
        for step in range(2):
            gradOutput = map_tensors(torch.randn_like, bare.forward(input))
            close(dpt.forward(input), bare.output)
            # The second time the gradients add up.
            for net in (bare, dpt):
                if split:
                    net.updateGradInput(input, gradOutput)
                    net.accGradParameters(input, gradOutput, scale)
                else:
                    net.backward(input, gradOutput, scale)
            close(dpt.gradInput, bare.gradInput)
            close(dpt.parameters()[1], bare.parameters()[1])
            for replica in dpt.exec(lambda module, i: module)[1:]:
                assert not any(g.any() for g in replica.parameters()[1])
            if step == 0:
                bare.updateParameters(0.1)
                dpt.updateParameters(0.1)
                close(dpt.parameters()[0], bare.parameters()[0])
    finally:
        dpt.close()


@given(
    size=st.integers(1, 9),
    replicas=st.integers(1, 4),
    flat=st.booleans(),
    threads=st.booleans(),
    embedded=st.booleans(),
)
def test_training_is_that_of_the_bare_net(
    size: int, replicas: int, flat: bool, threads: bool, embedded: bool
) -> None:
    random.manualSeed(1)
    bare = nn.Sequential().add(nn.Linear(4, 5)).add(nn.Tanh()).add(nn.Linear(5, 3)).double()
    dpt: Any = DataParallelTable(1, flat).add(bare.clone(), list(range(1, replicas + 1)))
    if threads:
        dpt.threads()
    nets = [nn.Sequential().add(net).add(nn.LogSoftMax()) for net in (bare, dpt)]
    if not embedded:
        nets = [bare, dpt]
    input, gradOutput = torch.randn(size, 4).double(), torch.randn(size, 3).double()
    try:
        flats = [net.getParameters() for net in nets]
        for _ in range(3):
            for net, (x, dx) in zip(nets, flats, strict=True):
                net.zeroGradParameters()
                net.forward(input)
                net.backward(input, given_to(net, gradOutput))
                x -= 0.1 * dx
            close(nets[1].output, nets[0].output)
            close(flats[1], flats[0])
    finally:
        dpt.close()


@given(
    size=st.integers(1, 12),
    replicas=st.integers(1, 8),
    names=st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True),
)
def test_string_keys_and_other_types_reach_the_replicas(
    size: int, replicas: int, names: list[str]
) -> None:
    dpt = DataParallelTable(1).add(nn.Identity(), list(range(1, replicas + 1)))
    kinds = [torch.int64, torch.uint8, torch.float32, torch.float64]
    input = {
        name: (torch.arange(size * 2).view(size, 2) % 3).to(kind)
        for name, kind in zip(names, kinds, strict=False)
    }
    output = dpt.forward(input)
    assert list(output) == names
    for name in names:
        assert equal(output[name], input[name]) and output[name].dtype == input[name].dtype
    assert dpt.maxUsedGpu == min(size, replicas)
    rows = [len(tensors(part)[0]) for part in dpt.inputGpu]
    assert max(rows) - min(rows) <= 1 and rows == sorted(rows, reverse=True)
