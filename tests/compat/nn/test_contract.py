"""What every module does, tried on every recorded case: gradients, files, clones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.nn_golden import assert_close, copied, each_case, load_case, restored
from torch import Tensor

from compat import random, t7
from compat.tensor_tables import map_tensors, tensors

CASES = each_case("nn", "dpnn")

# {class: why its gradient is not the derivative}
NOT_DERIVATIVES = {
    "ArgMax": "its output is an index",
    "CategoricalEntropy": "it adds the gradient of the entropy",
    "Clip": "it passes the gradient on beyond its bounds",
    "CriterionTable": "its output is a number, and what it is given as gradOutput is not used",
    "GradientReversal": "that is its purpose",
    "IndexLinear": "its gradInput has all features; see test_sparse_linear.py",
    "Kmeans": "it moves its centers to the middle of what is theirs",
    "L1Penalty": "it adds the gradient of a penalty",
    "LookupTable": "its input holds indices",
    "OneHot": "its input holds indices",
    "Reinforce": "its gradient is a reward",
    "ReinforceBernoulli": "its gradient is a reward",
    "ReinforceCategorical": "its gradient is a reward",
    "ReinforceNormal": "its gradient is a reward",
    "SpatialBinaryConvolution": "it is that of the signs of its weights",
    "SpatialGlimpse": "it has none for places",
    "SparseLinear": "its gradInput has all features; see test_sparse_linear.py",
    "ZeroGrad": "that is its purpose",
}
# Cases with inputs exactly at a kink or a jump, where there is no derivative.
KINKS = {"edge_values", "ties", "zero_gradient", "above_threshold"}


pytestmark = pytest.mark.usefixtures("double_by_default")


def ready(case: dict[str, Any]) -> Any:
    module = restored(case, "module")
    return module.evaluate() if case["mode"] == "evaluate" else module.training()


def forward(module: Any, input: Any) -> Any:
    random.manualSeed(1)
    return copied(module.forward(copied(input)))


def backward(module: Any, case: dict[str, Any]) -> list[Any]:
    random.manualSeed(1)
    input = copied(case["input"])
    module.forward(input)
    if "reward" in case:
        module.reinforce(case["reward"])
    module.zeroGradParameters()
    gradInput = module.backward(input, copied(case["gradOutput"]), case["scale"])
    return [copied(gradInput), [copied(g) for g in module.parameters()[1]]]


def dot(value: Any, other: Any) -> float:
    pairs = zip(tensors(value), tensors(other), strict=True)
    return sum((a * b).sum().item() for a, b in pairs if b.is_floating_point())


def random_like(value: Any) -> Any:
    return map_tensors(lambda t: torch.randn(t.shape) if t.dtype == torch.float64 else t, value)


@CASES
def test_gradients_are_the_derivative_of_the_output(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    if case["class"] in NOT_DERIVATIVES or case["name"] in KINKS or "gradOutput" not in case:
        return
    if "float" in case["name"] or not isinstance(case["input"], (Tensor, list)):
        return
    module, input, gradOutput = ready(case), case["input"], case["gradOutput"]
    torch.manual_seed(0)
    gradInput, gradients = backward(module, case | {"scale": 1})
    parameters = module.parameters()[0]
    step = random_like(input)
    moves = [torch.randn(p.shape) for p in parameters]

    def loss(h: float) -> float:
        moved = copied(input)
        for value, direction in zip(tensors(moved), tensors(step), strict=True):
            if value.dtype == torch.float64:
                value.add_(direction, alpha=h)
        for parameter, direction in zip(parameters, moves, strict=True):
            parameter.add_(direction, alpha=h)
        result = dot(forward(module, moved), gradOutput)
        for parameter, direction in zip(parameters, moves, strict=True):
            parameter.sub_(direction, alpha=h)
        return result

    h = 1e-6
    numeric = (loss(h) - loss(-h)) / (2 * h)
    found, steps = [gradInput, gradients], [step, moves]
    scale = dot(map_tensors(Tensor.abs, found), map_tensors(Tensor.abs, steps))
    assert dot(found, steps) == pytest.approx(numeric, abs=1e-6 * (1 + scale))


@CASES
def test_saved_modules_are_the_same(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    module = ready(case)
    again = t7.loads(t7.dumps(module))
    assert type(again) is type(module)
    assert repr(again) == repr(module)
    assert set(vars(again)) == set(vars(module))
    assert_close(forward(again, case["input"]), forward(module, case["input"]), 0, "output")
    if "gradOutput" in case:
        assert_close(backward(again, case), backward(module, case), 0, "gradients")


@CASES
def test_clones_are_equal_and_independent(which: tuple[str, str, str]) -> None:
    case = load_case(*which)
    module = ready(case)
    clone = module.clone()
    assert repr(clone) == repr(module)
    wanted = forward(module, case["input"])
    for parameter in module.parameters()[0]:
        parameter.fill_(7)
    assert_close(forward(clone, case["input"]), wanted, 0, "output")
