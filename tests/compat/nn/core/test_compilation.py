"""Compiled nets compute what the net computes, and are the net in every other way."""

from __future__ import annotations

import pickle
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from compat.nn.core.compilation import FORMS, CompiledTape
from compat.nn.core.tape import Tape
from support.nn_golden import case_names, copied, load_case, restored
from torch import Tensor

from compat import nn, nngraph, random, t7
from compat.nn.core import operators
from compat.tensor_tables import tensors

pytestmark = pytest.mark.usefixtures("double_by_default")

X = torch.linspace(-1, 1, 20).double().view(4, 5)
G = torch.linspace(1, -2, 12).double().view(4, 3)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the graphs operator by operator: what a compiler makes of them is PyTorch's matter."""
    monkeypatch.setattr(operators, "inductor", lambda graph, inputs: graph)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "compile:")
        yield


def net() -> Any:
    module = nn.Sequential().add(nn.Linear(5, 7)).add(nn.BatchNormalization(7)).add(nn.Tanh())
    return (
        module.add(nn.Dropout(0.3))
        .add(nn.ConcatTable().add(nn.Linear(7, 3)).add(nn.Linear(7, 3)))
        .add(nn.CMulTable())
    )


def both(make: Any = net) -> tuple[Any, Any]:
    random.manualSeed(1)
    plain = make()
    return plain, plain.clone().compile()


def went(module: Any, x: Any = X, g: Any = G, scale: float = 1) -> list[Tensor]:
    """A pass: results, gradients, and what the net holds afterwards."""
    random.manualSeed(7)
    module.zeroGradParameters()
    output = copied(module.forward(x))
    gradInput = copied(module.backward(x, g, scale))
    held = [v for m in module.listModules() for n, v in sorted(vars(m).items()) if n[0] != "_"]
    found = [output, gradInput, module.parameters()[1], [v for v in held if isinstance(v, Tensor)]]
    return [t.clone() for t in tensors(found)]


def is_compiled(module: Any) -> bool:
    return isinstance(module.latest_tape, CompiledTape)


def settle(*modules: Any, x: Any = X, g: Any = G) -> None:
    for module in modules:
        for _ in range(3):
            went(module, x, g)


def assert_same(one: list[Tensor], other: list[Tensor]) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)


CLASSES = sorted(dict(reversed(case_names("nn"))).items())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), CLASSES, ids=[name for name, _ in CLASSES])
def test_every_module_computes_as_ever(name: str, case: str, interpreted: None) -> None:
    warnings.filterwarnings("ignore", "compile:")  # some decide by values
    recorded = load_case("nn", name, case)
    plain = restored(recorded, "module")
    plain.evaluate() if recorded["mode"] == "evaluate" else plain.training()
    compiled = plain.clone().compile()
    for _ in range(3):
        x, y = copied(recorded["input"]), copied(recorded["input"])
        g = copied(recorded.get("gradOutput"))
        if g is None:
            one, other = ([*tensors(copied(m.forward(i)))] for m, i in ((plain, x), (compiled, y)))
        else:
            one, other = went(plain, x, g), went(compiled, y, copied(g))
        assert_same([*one, *tensors(x)], [*other, *tensors(y)])


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no compiler")
@pytest.mark.slow
def test_a_net_computes_the_same_through_the_compiler() -> None:
    plain, compiled = both()
    for _ in range(4):
        assert_same(went(plain), went(compiled))
    assert is_compiled(compiled)


def test_results_and_what_is_held_are_the_same(interpreted: None) -> None:
    plain, compiled = both()
    for _ in range(4):
        assert_same(went(plain), went(compiled))
    assert is_compiled(compiled)
    for module in (plain, compiled):
        module.evaluate()
    for _ in range(3):
        assert_same([plain.forward(X)], [compiled.forward(X)])
        with torch.no_grad():
            assert_same([plain.forward(X)], [compiled.forward(X)])
    assert is_compiled(compiled)


def test_results_inside_are_there_for_who_reads_them(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)
    assert is_compiled(compiled)
    for place in (1, 3, 4):
        a, b = plain.get(place), compiled.get(place)
        assert_same([a.output, a.gradInput, a.output], [b.output, b.gradInput, b.output])
    assert not is_compiled(compiled)
    random.manualSeed(3)
    one = plain.forward(X)
    random.manualSeed(3)
    other = compiled.forward(X)
    assert is_compiled(compiled)
    # Before backward; the noise is that of the pass.
    assert_same([one, plain.get(4).output], [other, compiled.get(4).output])
    assert_same([plain.backward(X, G)], [compiled.backward(X, G)])


def test_results_set_inside_stay_with_their_module(interpreted: None) -> None:
    _, compiled = both()
    settle(compiled)
    compiled.get(1).output = G
    assert compiled.get(1).output is G
    assert compiled.get(3).output.shape == (4, 7)


def test_backward_in_parts_and_with_a_scale(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)
    assert_same(went(plain, scale=0.5), went(compiled, scale=0.5))
    for module in (plain, compiled):
        random.manualSeed(1)
        module.forward(X)
        module.updateGradInput(X, G)
        module.accGradParameters(X, G, 2)
        module.accGradParameters(X, G)
    assert is_compiled(compiled)
    assert_same(plain.parameters()[1], compiled.parameters()[1])
    assert_same([plain.gradInput], [compiled.gradInput])
    # Once more, when results were freed.
    for module in (plain, compiled):
        went(module)
        module.backward(X, G)
    assert_same(plain.parameters()[1], compiled.parameters()[1])


def test_gradients_are_added_in_the_flat_storage(interpreted: None) -> None:
    _, compiled = both(lambda: nn.Sequential().add(nn.Linear(300, 300)).add(nn.Linear(300, 3)))
    parameters, gradients = compiled.getParameters()
    x, g = torch.randn(4, 300), torch.randn(4, 3)
    settle(compiled, x=x, g=g)
    assert is_compiled(compiled)
    first = gradients.clone()
    compiled.forward(x)
    compiled.backward(x, g)
    torch.testing.assert_close(gradients, 2 * first)
    held = zip(*compiled.parameters(), strict=True)
    for parameter, gradient in held:
        assert parameter.untyped_storage().data_ptr() == parameters.untyped_storage().data_ptr()
        assert gradient.untyped_storage().data_ptr() == gradients.untyped_storage().data_ptr()


def test_what_is_changed_in_the_net_counts(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)

    def replace(m: Any) -> None:
        m.get(1).weight = torch.ones(7, 5)

    def freeze(m: Any) -> None:
        m.get(1).gradWeight = None

    def cut(m: Any) -> None:
        m.get(3).gradInput = None

    def add(m: Any) -> None:
        m.modules.insert(3, nn.Sigmoid())

    def drop(m: Any) -> None:
        m.get(5).p = 0.8

    def move(m: Any) -> None:
        m.getParameters()

    def alone(m: Any) -> None:
        m.gradInput = None

    for change in (replace, move, add, drop, freeze, cut, alone):
        for module in (plain, compiled):
            change(module)
        for _ in range(3):
            for module in (plain, compiled):
                random.manualSeed(5)
                module.zeroGradParameters()
                module.forward(X)
                module.backward(X, G)
            assert_same([plain.output], [compiled.output])
            grads = [
                [p.grad for p in m.parameters()[0] if p.grad is not None] for m in (plain, compiled)
            ]
            assert_same(*grads)
        assert is_compiled(compiled), change.__name__
    assert_same([*tensors(plain.gradInput)], [*tensors(compiled.gradInput)])


def test_types_change(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)
    for module in (plain, compiled):
        module.float()
    for _ in range(3):
        one, other = went(plain, X.float(), G.float()), went(compiled, X.float(), G.float())
        for a, b in zip(one, other, strict=True):
            torch.testing.assert_close(a, b)
    assert is_compiled(compiled)
    assert compiled.output.dtype == torch.float32


def test_copies_are_compiled_and_files_are_plain(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)
    assert t7.dumps(compiled.clearState()) == t7.dumps(plain.clearState())
    assert t7.loads(t7.dumps(compiled)).compilation is None
    for copy in (compiled.clone(), pickle.loads(pickle.dumps(compiled))):
        assert copy.compilation is not None
        assert copy.compilation is not compiled.compilation
        settle(copy)
        assert is_compiled(copy)
    compiled.clearState()
    assert compiled.output.numel() == 0
    assert not is_compiled(compiled.compile(False))
    assert_same(went(compiled), went(plain))


def test_clones_that_share_parameters_share_code_too(
    interpreted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(operators, "inductor", lambda graph, inputs: made.append(graph) or graph)
    first = nn.Sequential().add(nn.Linear(5, 3)).compile()
    shared = [first.clone("weight", "bias", "gradWeight", "gradBias") for _ in range(3)]
    for _ in range(3):
        for module in shared:
            module.forward(X)
        for module in shared:
            module.backward(X, G)
    assert all(map(is_compiled, shared))
    assert len(made) == 2
    reference = first.clone().compile(False)
    reference.zeroGradParameters()
    reference.forward(X)
    for _ in range(9):
        reference.backward(X, G)
    assert_same(reference.parameters()[1], shared[0].parameters()[1])


def test_parameters_that_share_memory_in_one_net(interpreted: None) -> None:
    def graph() -> Any:
        x, cell = nn.Identity()(), nn.Linear(5, 5)
        node = x
        for _ in range(3):
            node = nn.Tanh()(cell.clone("weight", "bias", "gradWeight", "gradBias")(node))
        return nngraph.gModule([x], [nn.Linear(5, 3)(node)])

    plain, _ = both(graph)
    compiled = t7.loads(t7.dumps(plain)).compile()
    for _ in range(3):
        assert_same(went(plain)[:2], went(compiled)[:2])
        assert_same(plain.parameters()[1], compiled.parameters()[1])
    assert is_compiled(compiled)


def test_hooks_of_parameters_are_called(interpreted: None) -> None:
    _, compiled = both()
    settle(compiled)
    weight = compiled.get(1).weight
    expected = weight.grad.clone()
    seen: list[Any] = []
    weight.requires_grad_(True)
    weight.register_hook(lambda gradient: 2 * gradient)
    weight.register_post_accumulate_grad_hook(seen.append)
    weight.requires_grad_(False)
    settle(compiled)
    assert is_compiled(compiled)
    torch.testing.assert_close(weight.grad, 2 * expected)
    assert seen[-1] is weight


def test_an_input_that_was_changed_is_refused(interpreted: None) -> None:
    _, compiled = both()
    settle(compiled)
    x = X.clone()
    compiled.forward(x)
    x.zero_()
    with pytest.raises(RuntimeError, match="changed in place since forward"):
        compiled.backward(x, G)
    with pytest.raises(ValueError, match="gradOutput has size"):
        compiled.forward(X)
        compiled.backward(X, G[:2])


def test_so_many_forms_are_compiled(interpreted: None) -> None:
    compiled = nn.Sequential().add(nn.Linear(5, 3)).compile()
    for rows in range(1, FORMS + 1):
        settle(compiled, x=torch.ones(rows, 5), g=torch.ones(rows, 3))
        assert is_compiled(compiled)
    x, g = torch.ones(FORMS + 1, 5), torch.ones(FORMS + 1, 3)
    with pytest.warns(UserWarning, match="compile: there have been 8 forms"):
        settle(compiled, x=x, g=g)
    settle(compiled, x=x, g=g)
    assert not is_compiled(compiled)
    settle(compiled, x=torch.ones(1, 5), g=torch.ones(1, 3))
    assert is_compiled(compiled)


class _Own(nn.Module):
    """Computes its own gradients."""

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = 2 * input
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = 2 * gradOutput
        return self.gradInput


class _Deciding(nn.Module):
    def compute(self, input: Tensor) -> Tensor:
        return input if bool(input.sum() > 0) else -input


class _Counting(nn.Module):
    count = 0

    def compute(self, input: Tensor) -> Tensor:
        self.count += 1
        return self.count * input


class _Noise(nn.Module):
    def compute(self, input: Tensor) -> Tensor:
        return input + torch.rand_like(input)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (_Own(), "_Own computes its own gradients"),
        (_Deciding(), "a module decides by values"),
        (_Counting(), "the net or its input is another one in every pass"),
        (_Noise(), "a module draws PyTorch's random numbers"),
        (nn.TotalDropout(0.5), "a module draws single random numbers"),
    ],
)
def test_what_cannot_be_compiled_is_computed_normally_and_says_so(
    module: Any, message: str, interpreted: None
) -> None:
    plain, compiled = both(lambda: nn.Sequential().add(nn.Linear(5, 3)).add(module.clone()))

    def passes(module: Any) -> list[Any]:
        found = []
        for i in range(25):
            torch.manual_seed(i)
            found += went(module)
        return found

    expected = passes(plain)
    with pytest.warns(UserWarning, match=message) as seen:
        assert_same(expected, passes(compiled))
    assert len([w for w in seen if "compile:" in str(w.message)]) == 1
    assert not is_compiled(compiled)


def test_without_a_compiler_nets_are_computed_normally(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config

    compiled = nn.Sequential().add(nn.Linear(5, 3)).add(nn.Tanh()).compile()
    expected = went(compiled.clone().compile(False))
    with (
        config.patch({"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True}),
        pytest.warns(UserWarning, match=r"compile: .*compiler.*computed normally"),
    ):
        for _ in range(3):
            assert_same(went(compiled), expected)
    assert not is_compiled(compiled)


def test_modules_that_compute_their_own_gradients_hand_it_on(interpreted: None) -> None:
    inner = nn.Linear(5, 3)
    outer = _Own()
    outer.modules = [inner]
    outer.compile()
    assert outer.compilation is None
    assert inner.compilation is not None
    with pytest.raises(TypeError, match="on is"):
        inner.compile("yes")


def test_torch_modules_compute_as_ever(interpreted: None) -> None:
    def make() -> Any:
        layers = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7))
        return nn.Sequential().add(layers.double()).add(nn.Linear(7, 3))

    plain, compiled = both(make)
    for _ in range(4):
        assert_same(went(plain), went(compiled))
    for own, other in zip(
        plain.get(1).module.buffers(), compiled.get(1).module.buffers(), strict=True
    ):
        torch.testing.assert_close(own, other)
    assert is_compiled(compiled)
    assert isinstance(plain.latest_tape, Tape)
