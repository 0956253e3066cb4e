"""Results read, and gradients taken, after an update of the parameters, as in Torch7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.paths import GOLDEN
from torch import Tensor

from compat import cutorch, nn, optim, t7
from dptable import DataParallelTable


def gan(wrap: Callable[[Any], Any]) -> tuple[Any, list[dict[str, Any]]]:
    """The nets of ``tests/golden/gan``, and its steps as they go here."""
    record = t7.load(GOLDEN / "gan" / "steps.t7", plain=True)
    netG, netD = wrap(record["netG"]), wrap(record["netD"])
    first = netD.get(1) if isinstance(netD, DataParallelTable) else netD
    criterion = nn.BCECriterion()
    (xD, dD), (xG, dG) = netD.getParameters(), netG.getParameters()
    configD = {"learningRate": 0.01, "beta1": 0.5}
    configG = dict(configD)

    def go(given: dict[str, Tensor]) -> dict[str, Any]:
        step: dict[str, Any] = {}
        input = torch.empty_like(given["real"])
        label = input.new_empty(len(input), 1)

        def discriminate(_: Tensor) -> Any:
            dD.zero_()
            input.copy_(given["real"])
            label.fill_(1)
            output = netD.forward(input)
            loss = criterion.forward(output, label)
            netD.backward(input, criterion.backward(output, label))
            input.copy_(netG.forward(given["noise"]))
            label.fill_(0)
            output = netD.forward(input)
            step["lossD"] = loss + criterion.forward(output, label)
            netD.backward(input, criterion.backward(output, label))
            return step["lossD"], dD

        def generate(_: Tensor) -> Any:
            dG.zero_()
            label.fill_(1)
            step["lossG"] = criterion.forward(netD.output, label)
            down = netD.updateGradInput(input, criterion.backward(netD.output, label))
            step["down"] = down.clone()
            netG.backward(given["noise"], down)
            return step["lossG"], dG

        optim.adam(discriminate, xD, configD)
        step["output"] = first.get(3).output.clone()
        step["gradInput"] = first.get(4).gradInput.clone()
        optim.adam(generate, xG, configG)
        step["xD"], step["xG"] = xD.clone(), xG.clone()
        return step

    return record["steps"], [go(given) for given in record["steps"]]


@pytest.mark.parametrize("keep", [None, True])
def test_a_gan_goes_as_in_torch7(keep: bool | None) -> None:
    expected, found = gan(lambda net: net.keepResults(keep))
    for theirs, ours in zip(expected, found, strict=True):
        torch.testing.assert_close(
            ours, {name: theirs[name] for name in ours}, rtol=1e-8, atol=1e-10
        )


@pytest.mark.parametrize("threads", [False, True])
def test_a_gan_goes_as_in_torch7_in_a_container(threads: bool) -> None:
    def wrap(net: Any) -> Any:
        table = DataParallelTable(1).add(net, [1])
        return table.threads() if threads else table

    expected, found = gan(wrap)
    for theirs, ours in zip(expected, found, strict=True):
        torch.testing.assert_close(
            ours, {name: theirs[name] for name in ours}, rtol=1e-8, atol=1e-10
        )


def test_replicas_that_share_their_parameters_go_back_at_once() -> None:
    cutorch.configure(["cpu"] * 4)
    net: Any = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 6)).double()
    table: Any = DataParallelTable(1).add(net.clone(), [1, 2, 3, 4]).threads()
    input, gradient = torch.randn(8, 6).double(), torch.randn(8, 6).double()
    found = []
    for module in (net, table):
        x, _ = module.getParameters()
        module.zeroGradParameters()
        module.forward(input)
        module.backward(input, gradient)
        x.mul_(0.5)
        if module is table:
            table.syncParameters()
        found.append(module.updateGradInput(input, gradient).clone())
    torch.testing.assert_close(*found)


INPUT, GRADIENT = torch.randn(6, 4).double(), torch.randn(6, 3).double()


def net() -> Any:
    made = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3), nn.Identity()).double()
    made.getParameters()
    return made


def step(module: Any, *read: str) -> list[Tensor]:
    """A step of training; what is read after the update of the parameters."""
    module.zeroGradParameters()
    module.forward(INPUT)
    module.backward(INPUT, GRADIENT)
    module.updateParameters(0.1)
    return [getattr(module.get(2), name).clone() for name in read]


def expected(module: Any) -> dict[str, Tensor]:
    """What Torch7's buffers of the second module hold after a step, by the formulas."""
    first, last = module.get(1), module.get(3)
    output = torch.tanh(INPUT @ first.weight.T + first.bias)
    return {"output": output, "gradInput": (GRADIENT @ last.weight) * (1 - output**2)}


@pytest.mark.parametrize("keep", [None, True])
@pytest.mark.parametrize("batch", [1, 20000])
def test_what_is_read_after_an_update_is_of_before(keep: bool | None, batch: int) -> None:
    module = net().keepResults(keep)
    for _ in range(3):
        known = expected(module)
        output, gradInput = step(module, "output", "gradInput")
        torch.testing.assert_close(output, known["output"])
        torch.testing.assert_close(gradInput, known["gradInput"])


@pytest.mark.parametrize("update", ["flat", "own"])
def test_going_back_takes_kept_outputs_and_new_parameters(update: str) -> None:
    module = net()
    for i in range(3):
        module.zeroGradParameters()
        module.forward(INPUT)
        module.backward(INPUT, GRADIENT)
        hidden = expected(module)["output"]
        if update == "flat":
            module.updateParameters(0.1)
        else:
            for parameter in module.parameters()[0]:
                parameter.mul_(0.9)
        first, last = module.get(1), module.get(3)
        down = (GRADIENT @ last.weight) * (1 - hidden**2)
        module.zeroGradParameters()
        if i == 1:
            found = module.backward(INPUT, GRADIENT)
            torch.testing.assert_close(last.gradWeight, GRADIENT.T @ hidden)
            torch.testing.assert_close(first.gradWeight, down.T @ INPUT)
        else:
            found = module.updateGradInput(INPUT, GRADIENT)
            module.accGradParameters(INPUT, GRADIENT, 2)
            torch.testing.assert_close(last.gradWeight, 2 * GRADIENT.T @ hidden)
        torch.testing.assert_close(found, down @ first.weight)
        torch.testing.assert_close(module.get(2).gradInput, down)


def test_a_net_that_nobody_reads_stops_to_note_its_parameters() -> None:
    module = net()
    step(module)
    assert module.latest_tape.earlier is not None
    step(module)
    assert module.latest_tape.earlier is None and module.latest_tape.spent
    with pytest.raises(RuntimeError) as refused:
        _ = module.get(2).output
    message = str(refused.value)
    assert "the parameters have changed since backward" in message
    assert "output of nn.Tanh needs; call keepResults()" in message
    assert "nn.Sequential[2] nn.Tanh" in message
    known = expected(module)["output"]
    [output] = step(module, "output")
    torch.testing.assert_close(output, known)
    with pytest.raises(RuntimeError, match=r"gradInput of nn\.Tanh"):
        _ = module.get(2).gradInput
    for _ in range(2):
        known = expected(module)["gradInput"]
        [gradInput] = step(module, "gradInput")
        torch.testing.assert_close(gradInput, known)


def test_a_net_that_is_told_so_notes_and_keeps_nothing() -> None:
    module = net().keepResults(False)
    step(module)
    assert module.latest_tape.earlier is None and module.latest_tape.spent
    with pytest.raises(RuntimeError, match=r"updateGradInput of nn\.Sequential"):
        module.updateGradInput(INPUT, GRADIENT)
    assert module.clone().keep_results is False
    assert t7.loads(t7.dumps(module)).keep_results is None
    with pytest.raises(TypeError, match="keep is 1; True, False or None is accepted"):
        module.keepResults(1)


def test_steps_of_an_unrolled_net_share_one_copy() -> None:
    first = nn.Linear(300, 300)
    first.getParameters()
    steps = [first, *(first.clone("weight", "bias", "gradWeight", "gradBias") for _ in range(3))]
    input = torch.randn(2, 300)
    for module in steps:
        module.forward(input)
        module.backward(input, input)
    noted = {module.latest_tape.earlier[module.weight].data_ptr() for module in steps}
    assert len(noted) == 1
    first.weight.zero_()  # seen by all, though only one tensor knows
    steps[1].backward(input, input)
    torch.testing.assert_close(steps[1].gradInput, torch.zeros(2, 300))


def test_for_all_nets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.Module, "keep_results", True)
    module = net()
    for _ in range(3):
        step(module)
    assert not module.latest_tape.spent
    assert module.get(2).output.shape == (6, 5) and module.get(2).gradInput.shape == (6, 5)
