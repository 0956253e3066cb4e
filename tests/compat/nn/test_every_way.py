"""Each class computes the same however its passes are made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.golden_data import parts
from support.nn_golden import assert_close, case_names, copied, load_case, restored
from support.protocol_nets import Draw, cases
from torch import Tensor

from compat import nn, random, t7
from compat.nn.core.results import reuse_buffers
from compat.tensor_tables import map_tensors, tensors

pytestmark = pytest.mark.usefixtures("double_by_default")

STEPS = [torch.linspace(-1, 1, 6).double().view(2, 3) * k for k in (1, -0.5, 2)]
SEQUENCE = torch.stack(STEPS)
# Of package rnn: net, input.
RECURRENT: list[tuple[Callable[[], Any], Any]] = [
    (lambda: nn.Sequencer(nn.Linear(3, 2)), SEQUENCE),
    (lambda: nn.Sequencer(nn.FastLSTM(3, 2)), STEPS),
    (lambda: nn.Sequencer(nn.LSTM(3, 2)), SEQUENCE),
    (lambda: nn.Sequencer(nn.GRU(3, 2)), STEPS),
    (lambda: nn.Sequencer(nn.Sequential(nn.FastLSTM(3, 4), nn.Dropout(0.5), nn.Tanh())), STEPS),
    (lambda: nn.SeqLSTM(3, 2), SEQUENCE),
    (lambda: nn.SeqGRU(3, 2), SEQUENCE),
    (lambda: nn.SeqLSTMP(3, 4, 2), SEQUENCE),
    (lambda: nn.BiSequencer(nn.FastLSTM(3, 2), nn.GRU(3, 2)), STEPS),
    (lambda: nn.Repeater(nn.LinearNoBias(3, 3), 3), STEPS[0]),
    (
        lambda: nn.Sequencer(nn.Recurrence(nn.Sequential(nn.JoinTable(2), nn.Linear(5, 2)), 2, 1)),
        STEPS,
    ),
]


@cache
def names() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [
        (folder, names) for folder in ("nn", "dpnn", "composite") for names in case_names(folder)
    ]
    found += [("recurrent", i) for i in range(len(RECURRENT)) for _ in range(4)]
    recorded = {name: parts("rnn", "recurrent", name) for name in ("masked", "tensor")}
    return found + [(name, i) for name in recorded for i in range(len(recorded[name]))]


def made(draw: Draw) -> tuple[Any, Any, Any, dict[str, Any]]:
    """A module, an input, a gradOutput or None where it is not known, and the case."""
    folder, which = draw.chosen(names())
    if folder == "recurrent":
        make, input = RECURRENT[which]
        return make(), input, None, {"name": str(which)}
    if folder in ("masked", "tensor"):
        case = t7.loads(parts("rnn", "recurrent", folder)[which], plain=True)
        return case["net"], case["input"], case["gradOutput"], {"name": str(which)}
    case = load_case(folder, *which)
    module = restored(case, "module")
    module.evaluate() if case["mode"] == "evaluate" else module.training()
    return module, case["input"], case.get("gradOutput"), {**case, "class": which[0]}


def strided(value: Any) -> Any:
    """The same numbers in memory with gaps, the dimensions in another order."""

    def spread(t: Tensor) -> Tensor:
        if t.dim() < 2:
            return torch.stack([t, t], -1)[..., 0] if t.dim() else t
        order = list(range(t.dim()))[::-1]
        return t.permute(order).contiguous().permute(order)

    return map_tensors(spread, value)


class Run:
    """A module's passes, with random numbers of one seed."""

    def __init__(self, module: Any, case: dict[str, Any]) -> None:
        self.module, self.case = module, case

    def forward(self, input: Any) -> Any:
        random.manualSeed(5)
        torch.manual_seed(5)
        self.input = input
        self.module.zeroGradParameters()
        output = self.module.forward(input)
        if "reward" in self.case:
            self.module.reinforce(self.case["reward"])
        return output


WAYS = [
    "lean",
    "buffers",
    "clone",
    "file",
    "halves",
    "parameters",
    "twice",
    "strided",
    "cleared",
    "compiled",
    "replaced",
]


def every_way(draw: Draw) -> None:
    module, input, gradOutput, case = made(draw)
    way = draw.chosen(WAYS)
    one, other = Run(module, case), Run(module.clone(), case)
    if way == "lean":
        other.module.keepResults(False)
    if way == "compiled":
        other.module.compile()
    what = f"{case.get('class', '')} {case['name']} {way}: "
    for step in range(4 if way == "compiled" else draw.number(1, 3)):
        output = copied(one.forward(copied(input)))
        g = gradOutput
        if (
            g is None
            and all(t.is_floating_point() for t in tensors(output))
            and "gradOutput" not in case
        ):
            g = map_tensors(
                lambda t: torch.linspace(-1, 1, t.numel(), dtype=t.dtype).view(t.shape), output
            )
            g = None if "ctor" in case else g
        scale = draw.chosen([1, 0.5])
        if way == "file" and step:
            other.module = t7.loads(t7.dumps(other.module))
        if way == "cleared" and not isinstance(module, nn.SpatialFractionalMaxPooling):
            other.module.clearState()
        before = reuse_buffers(way == "buffers")
        try:
            given = strided(input) if way == "strided" else copied(input)
            found = copied(other.forward(given))
            close(found, output, what + "output")
            if way == "clone":
                other.module = other.module.clone()
            if g is None:
                continue
            gradInput = copied(one.module.backward(one.input, copied(g), scale))
            found = copied(backward(other, g, scale, way))
        finally:
            reuse_buffers(before)
        if way != "parameters":
            close(found, gradInput, what + "gradInput")
        gradients = [copied(m.parameters()[1]) for m in (other.module, one.module)]
        close(gradients[0], gradients[1], what + "gradients")
        if draw.flag():
            for run in (one, other):
                run.module.updateParameters(0.01)
            close(other.module.parameters()[0], one.module.parameters()[0], what + "parameters")


def close(found: Any, wanted: Any, what: str) -> None:
    if wanted is None or not tensors(wanted):
        return
    single = any(t.dtype == torch.float32 for t in tensors(wanted))
    assert_close(found, wanted, 1e-4 if single else 1e-9, what)


def backward(run: Run, g: Any, scale: float, way: str) -> Any:
    module, g = run.module, strided(g) if way == "strided" else copied(g)
    if way == "halves" and not is_in_place(module):
        found = copied(module.updateGradInput(run.input, g))
        module.accGradParameters(run.input, g, scale)
        return found
    if way == "parameters":
        return module.backward_parameters(run.input, g, scale)
    if way == "replaced" and type(module).backward is nn.Module.backward:
        return replaced(module, run.input, g, scale)
    if way == "twice" and not (is_in_place(module) or remembers(module)):
        module.backward(run.input, copied(g), scale / 2)
        return module.backward(run.input, g, scale / 2)
    return module.backward(run.input, g, scale)


def replaced(module: Any, input: Any, g: Any, scale: float) -> Any:
    """Backward with methods set on the object, which must be called, and do what the class does."""
    called: list[str] = []
    usual = type(module).updateGradInput

    def method(*arguments: Any) -> Any:
        called.append("updateGradInput")
        return usual(module, *arguments)

    module.updateGradInput = method
    try:
        found = copied(module.backward(input, g, scale))
    finally:
        del module.updateGradInput
    assert called == ["updateGradInput"], type(module).__name__
    return found


def remembers(module: Any) -> bool:
    """Whether it goes back once for each time forward, as package rnn's, or does not heed scale."""
    return any(
        isinstance(m, nn.AbstractRecurrent) or not m.heeds_scale for m in module.listModules()
    )


def is_in_place(module: Any) -> bool:
    return any(getattr(m, "inplace", False) for m in module.listModules())


@pytest.mark.filterwarnings("ignore:compile")
@cases(100)
@given(data=st.data())
def test_every_way(data: st.DataObject, interpreted: None) -> None:
    every_way(Draw(data))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
@cases(100)
@given(data=st.data())
def test_every_way_with_the_compiler(data: st.DataObject) -> None:
    every_way(Draw(data))
