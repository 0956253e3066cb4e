"""Random nets as source: modes, indices, types, compiled and exported, batches of one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.protocol_nets import WIDTH, Draw, Maker, cases
from torch import Tensor

from compat import nn, random
from compat.nn.source.script import module_from
from compat.nn.source.written import Written, write


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


def drawn(data: Any, quirks: bool = True) -> Any:
    """A random net from WIDTH columns to as many, in double.

    ``quirks``: with what Torch7's backward reads after it was overwritten: layers in place, and
    one layer in two places.
    """
    random.manualSeed(1)
    maker = Maker(Draw(data), in_place=quirks, batches=True, noise=False, own=(), shared=quirks)
    return maker.block(2)[0].double()


def numbers(count: int = 3) -> Tensor:
    generator = torch.Generator().manual_seed(count)
    return torch.randn(count, WIDTH, generator=generator, dtype=torch.float64)


def parameters(net: Any, written: Written) -> list[tuple[Tensor, Tensor]]:
    """Those of the net with those of its source."""
    own = dict(written.net.named_parameters(remove_duplicate=False))
    names = [name for name, _ in net.to_torch().named_parameters()]
    trained = list(dict.fromkeys(net.parameters()[0])) if net.parameters() else []
    pairs = zip(trained, names, strict=True)
    # What no output depends on is not in the source.
    return [(p, own[written.names[name]]) for p, name in pairs if name in written.names]


@given(st.data())
@cases(25)
def test_training_goes_as_the_nets_own(data: Any) -> None:
    """Outputs, gradients of Torch7's own backward, and running statistics."""
    net = drawn(data, quirks=False)
    written = write(net.evaluate(), numbers())
    net.training()
    written.net.train()
    source_input = numbers(5).requires_grad_()
    output = written.net(source_input.clone())
    torch.testing.assert_close(output, net.forward(numbers(5)))
    gradOutput = torch.linspace(-1, 1, output.numel(), dtype=torch.float64).view(output.shape)
    net.zeroGradParameters()
    input = numbers(5)
    net.forward(input)
    gradInput = net.backward(input, gradOutput.clone())
    written.net.zero_grad()
    if output.requires_grad:
        output.backward(gradOutput)
    if source_input.grad is not None:
        torch.testing.assert_close(source_input.grad, gradInput)
    for theirs, own in parameters(net, written):
        found = torch.zeros_like(own) if own.grad is None else own.grad
        torch.testing.assert_close(found, theirs.grad)


@given(st.data())
@cases(10)
def test_random_nets_are_exported_and_compiled(data: Any) -> None:
    net = drawn(data, quirks=False).evaluate()
    written = write(net, numbers())
    expected = written.net(numbers())
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(written.net, (numbers(),), dynamic_shapes=({0: batch},))
    torch.testing.assert_close(program.module()(numbers(4)), written.net(numbers(4)))
    compiled = torch.compile(written.net, backend="aot_eager", dynamic=False)
    torch.testing.assert_close(compiled(numbers()), expected)
    torch._dynamo.reset()


@given(st.data())
@cases(10)
def test_random_nets_take_a_batch_of_one(data: Any) -> None:
    net = drawn(data).evaluate()
    try:
        written = write(net, numbers())
    except ValueError as error:
        assert "set its inplace to False" in str(error)
        return
    torch.testing.assert_close(written.net(numbers(1)), net.forward(numbers(1)).view(1, WIDTH))


@pytest.mark.parametrize("size", [(2, 3), (1, 3)])
@pytest.mark.parametrize(
    "view",
    [
        lambda: nn.View(6),
        lambda: nn.View(-1, 6),
        lambda: nn.View(6).setNumInputDims(2),
        lambda: nn.View(-1).setNumInputDims(2),
        lambda: nn.Reshape(6),
        lambda: nn.Reshape(6, True),
        lambda: nn.View(3, 2),
    ],
)
def test_views_of_a_batch_of_one(view: Any, size: tuple[int, int]) -> None:
    """A source that was written from several samples takes one, and the other way round."""
    net = nn.Sequential(nn.Tanh(), view())
    for first, second in ((4, 1), (1, 4)):
        written = write(net, torch.randn(first, 2, 3))
        images = torch.randn(second, 2, 3)
        expected = torch.cat([written.net(image[None]) for image in images])
        torch.testing.assert_close(written.net(images), expected)


def embedding() -> Any:
    net = nn.Sequential(nn.LookupTable(9, 4), nn.Mean(1, 2), nn.Linear(4, 3), nn.LogSoftMax())
    return net.evaluate()


@pytest.mark.parametrize("from_one", [False, True])
def test_indices_count_from_zero_or_one(from_one: bool) -> None:
    net, words = embedding(), torch.tensor([[1, 9, 4], [3, 2, 9]])
    written = write(net, words, indices_from_one=from_one)
    given_words = words if from_one else words - 1
    torch.testing.assert_close(written.net(given_words), net.forward(words))
    assert f"of indices from {int(from_one)} " in written.text
    with pytest.raises(IndexError):
        written.net(given_words + 1)


def test_indices_that_are_moved_count_from_zero() -> None:
    """Columns of a tensor of indices, a table made of it, steps of a sequence."""
    first = nn.Sequential(nn.Select(2, 1), nn.LookupTable(9, 4))
    second = nn.Sequential(nn.Select(2, 2), nn.LookupTable(9, 4))
    net = nn.Sequential(nn.ConcatTable(first, second), nn.CAddTable()).evaluate()
    words = torch.tensor([[1, 9], [3, 2]])
    written = write(net, words)
    torch.testing.assert_close(written.net(words - 1), net.forward(words))


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("half", torch.float16), ("float", torch.float32), ("double", torch.float64)],
)
def test_weights_have_the_type_of_the_net(kind: str, dtype: torch.dtype) -> None:
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2))
    net = getattr(net.add(nn.ReLU()).add(nn.Mean(3)), kind)().evaluate()
    written = write(net, torch.randn(2, 1, 6, 6).to(dtype))
    assert {t.dtype for t in written.tensors.values() if t.is_floating_point()} == {dtype}
    made = module_from(written.text, "net.py")["Net"]().to(dtype)
    state = {name: written.tensors[name] for name in made.state_dict()}
    made.load_state_dict(state)
    images = written.inputs[0]
    torch.testing.assert_close(made.eval()(images), written.net.eval()(images))


def test_running_statistics_move_as_in_torch7() -> None:
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2))
    written = write(net.double(), torch.randn(2, 1, 6, 6).double())
    net.training()
    written.net.train()
    for _ in range(3):
        images = torch.randn(4, 1, 6, 6).double()
        torch.testing.assert_close(written.net(images), net.forward(images))
    buffers = dict(written.net.named_buffers())
    for name in ("running_mean", "running_var"):
        [own] = [value for key, value in buffers.items() if key.endswith(name)]
        torch.testing.assert_close(own, getattr(net.get(2), name))


def test_what_depends_on_numbers_is_refused() -> None:
    """A source that held numbers of the example would be right for that alone."""

    class Peeks(torch.nn.Module):
        def forward(self, input: Tensor) -> Tensor:
            return input * float(input.sum())

    with pytest.raises(ValueError, match="depends on the numbers of its input"):
        write(nn.Sequential(nn.Linear(2, 2), Peeks()), torch.randn(2, 2))
