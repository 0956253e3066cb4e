"""Runs for sizes give those of real runs, and need none of PyTorch's compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from compat import nn, t7
from compat.nn.source.input.trial import Sizes, Trial, tried

t = torch.nn
LAYERS: list[tuple[t.Module, tuple[int, ...]]] = [
    (t.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 9)),
    (t.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(2, 1)), (2, 4, 9, 8)),
    (t.Conv2d(4, 8, 3, groups=4), (4, 7, 7)),
    (t.Conv3d(1, 2, 2), (2, 1, 4, 4, 4)),
    (t.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), (2, 4, 5, 5)),
    (t.ConvTranspose1d(4, 6, 3), (2, 4, 5)),
    (t.Linear(5, 3), (2, 4, 5)),
    (t.Linear(5, 3, bias=False), (5,)),
    (t.LSTM(5, 3, num_layers=2), (4, 2, 5)),
    (
        t.Sequential(t.Conv2d(1, 2, 3), t.ReLU(inplace=True), t.Flatten(), t.Linear(8, 3)),
        (2, 1, 4, 4),
    ),
]


@pytest.mark.parametrize(("net", "sizes"), LAYERS)
@pytest.mark.parametrize("large", [False, True])
def test_sizes_are_those_of_a_real_run(net: Any, sizes: tuple[int, ...], large: bool) -> None:
    def first(output: Any) -> Tensor:
        return output[0] if isinstance(output, tuple) else output

    value = torch.randn(sizes)
    with torch.no_grad():
        wanted = first(net.eval()(value))
    assert first(tried(net, value, large=large)).shape == wanted.shape


def test_multiply_adds_of_a_layer_with_a_state() -> None:
    mode = Sizes()
    tried(t.LSTM(5, 3, num_layers=2), torch.randn(4, 2, 5), mode)
    assert mode.multiply_adds == 4 * 2 * (12 * 5 + 12 * 3 + 12 * 3 + 12 * 3)


@pytest.mark.parametrize(
    ("net", "sizes"), [pair for pair in LAYERS if not isinstance(pair[0], t.LSTM)]
)
def test_multiply_adds_are_those_that_pytorch_counts(net: Any, sizes: tuple[int, ...]) -> None:
    mode, value = Sizes(), torch.randn(sizes)
    tried(net, value, mode)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net(value)
    assert mode.multiply_adds == counter.get_total_flops() // 2 > 0


@pytest.mark.parametrize(
    ("net", "sizes"),
    [
        (t.Conv2d(4, 6, 3), (2, 3, 9, 9)),
        (t.Conv2d(4, 6, 3), (2, 4, 2, 2)),
        (t.Conv2d(4, 6, 3), (4, 9)),
        (t.ConvTranspose2d(4, 6, 3), (2, 6, 9, 9)),
        (t.Linear(4, 6), (2, 3)),
        (t.Linear(4, 6).double(), (2, 4)),
    ],
)
def test_what_a_layer_refuses_does_not_fit(net: Any, sizes: tuple[int, ...]) -> None:
    value = torch.randn(sizes)
    with pytest.raises((RuntimeError, ValueError)):
        net(value)
    assert Trial(net, value).samples == 0


def test_the_value_stays_as_it_is() -> None:
    value = torch.randn(2, 3)
    before = value.clone()
    tried(t.ReLU(inplace=True), value)
    assert torch.equal(value, before)


def test_a_small_net_is_converted_without_pytorchs_compiler(tmp_path: Path) -> None:
    net = nn.Sequential().add(nn.SpatialConvolution(1, 2, 3, 3)).add(nn.ReLU(True))
    net.add(nn.View(-1).setNumInputDims(3)).add(nn.Linear(2 * 26 * 26, 3)).add(nn.LogSoftMax())
    t7.save(tmp_path / "net.t7", net)
    program = (
        "import sys; from dptable.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "assert not {'sympy', 'torch._dynamo'} & set(sys.modules)"
    )
    for command in (
        ["convert", f"{tmp_path}/net.t7", f"{tmp_path}/net.py"],
        ["view", f"{tmp_path}/net.t7", "-o", f"{tmp_path}/net.html", "--no-browser"],
    ):
        subprocess.run([sys.executable, "-c", program, *command], check=True)
