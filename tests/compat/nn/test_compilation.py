"""Compiled nets compute what the net computes, and are the net in every other way."""

from __future__ import annotations

import pickle
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.nn_golden import case_names, copied, load_case, restored
from torch import Tensor

from compat import nn, nngraph, random, t7
from compat.nn.compiled import operators
from compat.nn.compiled.passes import FORMS
from compat.nn.compiled.state import fields_of_passes
from compat.tensor_tables import tensors

pytestmark = pytest.mark.usefixtures("double_by_default")

X = torch.linspace(-1, 1, 20).double().view(4, 5)
G = torch.linspace(1, -2, 12).double().view(4, 3)


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
    """A pass: results, gradients, and what the net holds afterwards that is no result."""
    random.manualSeed(7)
    module.zeroGradParameters()
    output = copied(module.forward(x))
    gradInput = copied(module.backward(x, g, scale))
    held = [
        value
        for inner in module.listModules()
        for name, value in sorted(vars(inner).items())
        if name not in fields_of_passes(inner) and isinstance(value, Tensor)
    ]
    return [t.clone() for t in tensors([output, gradInput, module.parameters()[1], held])]


def is_compiled(module: Any) -> bool:
    """Whether the latest pass went through code: what is inside is not there."""
    inside = module.listModules()[1:]
    return module.compilation is not None and all("output" not in vars(m) for m in inside)


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
    assert is_compiled(compiled)


def test_results_inside_are_not_there_and_who_reads_them_is_told_why(interpreted: None) -> None:
    _, compiled = both()
    settle(compiled)
    inner = compiled.get(1)
    for name in ("output", "gradInput"):
        with pytest.raises(RuntimeError, match=rf"{name} of this nn.Linear .* compile\(False\)"):
            getattr(inner, name)
    for half in (compiled.updateGradInput, compiled.accGradParameters):
        compiled.forward(X)
        with pytest.raises(RuntimeError, match="after a compiled pass"):
            half(X, G)
    # What is said to stay does so where the net is not compiled.
    went(compiled.compile(False))
    assert inner.output.shape == (4, 7)


def test_backward_again_with_another_scale_and_with_another_input(interpreted: None) -> None:
    plain, compiled = both()
    settle(plain, compiled)
    assert_same(went(plain, scale=0.5), went(compiled, scale=0.5))
    for module in (plain, compiled):
        random.manualSeed(1)
        module.zeroGradParameters()
        module.forward(X)
        module.backward(X, G, 2)
        module.backward(X.clone(), 3 * G)
        module.backward(X + 1, G)  # Torch7 goes back with the input that it is given
        module.backward_parameters(X, G)
    assert is_compiled(compiled)
    assert_same(plain.parameters()[1], compiled.parameters()[1])
    with pytest.raises(ValueError, match="another form"):
        compiled.backward(X[:2], G)


def in_place() -> Any:
    net = nn.Sequential().add(nn.Linear(5, 7)).add(nn.ReLU(True)).add(nn.MulConstant(2, True))
    net.add(nn.ConcatTable().add(nn.Linear(7, 3)).add(nn.Linear(7, 3)))
    return net.add(nn.CAddTable(True)).add(nn.LogSoftMax())


def graph() -> Any:
    x, y = nn.Identity()(), nn.Identity()()
    h = nn.Tanh()(nn.Linear(5, 4)(x))
    return nngraph.gModule([x, y], [nn.CMulTable()([h, nn.Linear(5, 4)(y)]), h])


def branches() -> Any:
    net = nn.Concat(2).add(nn.Linear(5, 1)).add(nn.Sequential().add(nn.Linear(5, 2)).add(nn.Tanh()))
    return nn.Sequential().add(net).add(nn.Transpose([1, 2]))


def around() -> Any:
    """The input and views of it are among the outputs."""
    inner = nn.ConcatTable().add(nn.Identity()).add(nn.View(-1)).add(nn.Linear(5, 3))
    return nn.Sequential().add(inner)


@pytest.mark.parametrize(
    ("make", "x", "g"),
    [
        (in_place, X, G),
        (graph, [X, 2 * X], [torch.ones(4, 4).double(), torch.ones(4, 4).double()]),
        (branches, X, G.t()),
        (around, X, [X, torch.ones(20).double(), G]),
        (lambda: nn.Sequential().add(nn.JoinTable(2)).add(nn.Linear(10, 3)), [X, 2 * X], G),
    ],
)
def test_tables_views_and_layers_in_place(make: Any, x: Any, g: Any, interpreted: None) -> None:
    plain, compiled = both(make)
    for _ in range(4):
        assert_same(went(plain, x, g), went(compiled, x, copied(g)))
    assert is_compiled(compiled)
    one, other = tensors(plain.output), tensors(compiled.output)
    assert [t.stride() for t in one] == [t.stride() for t in other]


def test_the_first_layer_in_place_is_computed_normally(interpreted: None) -> None:
    compiled = nn.Sequential().add(nn.ReLU(True)).add(nn.Linear(5, 3)).compile()
    with pytest.warns(UserWarning, match="compile: the net changes its input"):
        settle(compiled, x=X.clone())


def test_a_net_that_is_also_part_of_another(interpreted: None) -> None:
    _, inner = both()
    outer = nn.Sequential().add(inner).add(nn.Tanh())
    settle(inner)
    assert is_compiled(inner)
    reference = outer.clone()
    reference.get(1).compile(False)
    assert_same(went(outer)[:2], went(reference)[:2])
    assert_same(outer.parameters()[1], reference.parameters()[1])


def test_mode_and_autocast_count(interpreted: None) -> None:
    plain, compiled = both()
    for change in ("evaluate", "training", "evaluate"):
        for module in (plain, compiled):
            getattr(module, change)()
        for _ in range(3):
            assert_same(went(plain), went(compiled))
        assert is_compiled(compiled)
    plain, compiled = both(lambda: nn.Sequential().add(nn.Linear(5, 3)).add(nn.Tanh()).float())
    x, g = X.float(), G.bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        for _ in range(4):
            one, other = went(plain, x, g), went(compiled, x, g)
            for a, b in zip(one, other, strict=True):
                torch.testing.assert_close(a, b)
    assert is_compiled(compiled)
    went(compiled, x, G.float())
    assert compiled.output.dtype == torch.float32


def test_forms_that_take_turns_are_all_compiled(interpreted: None) -> None:
    plain, compiled = both(branches)
    for _ in range(3):
        for rows in (4, 2):
            x, g = X[:rows], G.t()[:, :rows]
            assert_same(went(plain, x, g), went(plain, x, g))
            settle(compiled, x=x, g=g)
            assert is_compiled(compiled)
    went(compiled)
    assert is_compiled(compiled)


def test_numbers_that_are_replaced_by_equal_ones_count(interpreted: None) -> None:
    net = nn.Sequential().add(nn.Mul()).compile()
    settle(net, g=X)
    old = net.get(1).weight
    net.get(1).weight = old.clone()
    settle(net, g=X)
    old.zero_()
    assert net.forward(X).abs().sum() > 0


def test_modules_that_share_running_statistics(interpreted: None) -> None:
    def make() -> Any:
        first = nn.BatchNormalization(5)
        second = first.clone("weight", "bias", "gradWeight", "gradBias")
        second.running_mean, second.running_var = first.running_mean, first.running_var
        return nn.Sequential().add(first).add(nn.Tanh()).add(second)

    plain, compiled = both(make)
    for _ in range(4):
        assert_same(went(plain, g=X), went(compiled, g=X))
    assert is_compiled(compiled)


def test_buffers_are_filled_again_where_that_is_asked_for(interpreted: None) -> None:
    plain, compiled = both()
    before = nn.reuse_buffers()
    try:
        settle(plain, compiled)
        output, gradInput = compiled.output, compiled.gradInput
        assert_same(went(plain), went(compiled))
        assert is_compiled(compiled)
        assert compiled.output is output
        assert compiled.gradInput is gradInput
    finally:
        nn.reuse_buffers(before)


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
    # Fields that were freed come in another order.
    assert len(t7.dumps(compiled.clearState())) == len(t7.dumps(plain.clearState()))
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


def test_a_wrong_gradOutput_is_refused(interpreted: None) -> None:
    _, compiled = both()
    settle(compiled)
    compiled.forward(X)
    with pytest.raises(ValueError, match="gradOutput has size"):
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


class _Plain(nn.Module):
    def compute(self, input: Tensor) -> Tensor:
        return 2 * input


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (_Own(), "_Own has methods of its own"),
        (_Plain(), "_Plain has methods of its own|_Plain computes by PyTorch's autograd"),
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


def test_a_net_that_is_another_one_in_every_pass_is_computed_normally(interpreted: None) -> None:
    plain, compiled = both()
    with pytest.warns(UserWarning, match="the net or its input is another one in every pass"):
        for i in range(25):
            for module in (plain, compiled):
                module.get(4).p = 0.3 + i / 100
            assert_same(went(plain), went(compiled))
    with pytest.raises(TypeError, match="on is"):
        compiled.compile("yes")


def test_modules_that_look_up_indices_are_computed_normally(interpreted: None) -> None:
    x, g = torch.tensor([[1, 3], [2, 5]]), torch.ones(2, 2, 3).double()
    plain, compiled = both(lambda: nn.Sequential().add(nn.LookupTable(5, 3)))
    with pytest.warns(UserWarning, match="compile: a module reads at places that values tell"):
        for _ in range(3):
            plain.zeroGradParameters()
            compiled.zeroGradParameters()
            for module in (plain, compiled):
                module.forward(x)
                module.backward(x, g)
            assert_same(plain.parameters()[1], compiled.parameters()[1])
    with pytest.raises(ValueError, match="input has the index 0"):
        compiled.forward(x - 1)


def test_torch_modules_are_computed_normally(interpreted: None) -> None:
    def make() -> Any:
        layers = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7))
        return nn.Sequential().add(layers.double()).add(nn.Linear(7, 3))

    plain, compiled = both(make)
    with pytest.warns(UserWarning, match="computes by PyTorch's autograd"):
        for _ in range(4):
            assert_same(went(plain), went(compiled))
