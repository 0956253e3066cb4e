"""What sources say: blocks, shared parameters, indices, states; and what is refused."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from compat import nn
from compat.nn.source.input import inputs
from compat.nn.source.script import module_from, prove
from compat.nn.source.written import Written, write


def source(net: nn.Module, example: object = None) -> Written:
    if example is None:
        example = inputs.found(net.to_torch()).value
    return write(net, example)


def test_repeated_parts_are_one_class_with_what_differs_as_arguments() -> None:
    def block(planes: int, stride: int) -> nn.Module:
        branch = nn.Sequential()
        for step in (stride, 1):
            branch.add(nn.SpatialConvolution(planes, planes, 3, 3, step, step, 1, 1))
            branch.add(nn.SpatialBatchNormalization(planes)).add(nn.ReLU(True))
        bridge = nn.SpatialMaxPooling(1, 1, stride, stride)
        return nn.Sequential(nn.ConcatTable(branch, bridge), nn.CAddTable())

    net = nn.Sequential(*(block(4, stride) for stride in (1, 2, 1)))
    text = source(net, torch.randn(2, 4, 8, 8)).text
    assert text.count("class ") == 2, text
    assert "DownsamplingBlock(1), DownsamplingBlock(2), DownsamplingBlock(1)" in text


def test_a_name_that_something_waiting_reads_is_kept() -> None:
    """The power waits for the product, while the sigmoid's result is already given a name."""
    branch = nn.Sequential(nn.Sigmoid(), nn.ConcatTable(nn.Exp(), nn.MulConstant(3)))
    parts = nn.ConcatTable(nn.Power(2), branch.add(nn.CAddTable()))
    net = nn.Sequential(nn.Linear(3, 3), parts, nn.CMulTable())
    input = torch.randn(2, 3)
    torch.testing.assert_close(source(net, input).net(input), net.forward(input))


def test_branches_with_other_layers_stay_apart() -> None:
    parts = [nn.Sequential(nn.Linear(3, 3), layer) for layer in (nn.Tanh(), nn.Sigmoid())]
    text = source(nn.Sequential(nn.ConcatTable(*parts), nn.JoinTable(2))).text
    assert text.count("class ") == 1
    assert "torch.cat([" in text


def test_a_part_put_back_into_another_has_the_arguments_of_that() -> None:
    """Two halves of a stage, equal but for what the stage is given, are no class of their own."""
    net, sizes = nn.Sequential(), (1, 8, 16, 24, 36, 48)
    for planes, outputs in itertools.pairwise(sizes):
        for given, step in ((planes, 1), (outputs, 2)):
            net.add(nn.SpatialBatchNormalization(given))
            net.add(nn.SpatialConvolution(given, outputs, 3, 3, step, step)).add(nn.ReLU(True))
    text = source(net, torch.randn(2, 1, 128, 128)).text
    assert "nn.Conv2d(num_features, out_channels, 3)" in text
    assert "nn.Conv2d(out_channels, out_channels, 3, stride=2)" in text


def test_shared_parameters_are_one_parameter() -> None:
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.share(first, "weight", "bias")
    written = source(nn.Sequential(first, nn.Tanh(), second))
    net = module_from(written.text, "net.py")["Net"]()
    assert len(list(net.parameters())) == 2


def autoencoder() -> nn.Module:
    encoder, decoder = nn.Linear(8, 3), nn.Linear(3, 8)
    decoder.weight, decoder.gradWeight = encoder.weight.t(), encoder.gradWeight.t()
    return nn.Sequential(encoder, nn.Sigmoid(), decoder)


def test_a_transposed_weight_is_that_of_the_other_layer() -> None:
    net, example = autoencoder(), torch.randn(4, 8)
    found = source(net, example)
    assert "self.weight.t()" in found.text
    made = module_from(found.text, "net.py")["Net"]()
    assert len(list(made.parameters())) == 3
    made.load_state_dict({name: found.tensors[name] for name in made.state_dict()})
    output = net.training().forward(example)
    net.zeroGradParameters()
    net.backward(example, torch.ones_like(output))
    made(example).sum().backward()
    torch.testing.assert_close(made.weight.grad, net.get(1).gradWeight)


def test_weights_shared_as_other_views_are_refused() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 3))
    net.get(3).weight = net.get(1).weight.narrow(1, 0, 2)
    with pytest.raises(ValueError, match=r"\[1\] nn.Linear and nn.Sequential\[3\] nn.Linear share"):
        source(net, torch.randn(2, 4))


def test_indices_count_from_zero_unless_told() -> None:
    net = nn.Sequential(nn.LookupTable(7, 3), nn.Mean(1, 2))
    words = torch.tensor([[1, 7], [3, 2]])
    expected = net.forward(words).clone()
    for from_one in (False, True):
        written = write(net, words, indices_from_one=from_one)
        assert f"indices from {int(from_one)}" in written.text
        given = words if from_one else words - 1
        torch.testing.assert_close(written.net(given), expected)
        assert torch.equal(written.inputs[0], given)


def test_the_batch_is_free() -> None:
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.Reshape(2 * 6 * 6))
    net.add(nn.Linear(72, 4)).add(nn.View(2, 2))
    written = source(net, torch.randn(2, 1, 8, 8))
    images = torch.randn(5, 1, 8, 8)
    torch.testing.assert_close(written.net(images), net.forward(images))


def test_a_deep_net_is_written_in_short_time() -> None:
    """A part that is another many times is not looked at: 500 layers took minutes."""
    net = nn.Sequential()
    for _ in range(250):
        net.add(nn.Linear(3, 3)).add(nn.Tanh())
    text = source(net.float(), torch.randn(2, 3)).text
    assert text.count("\n") < 60 and " for _ in range(" in text, text


def test_dropout_has_a_result_of_its_own() -> None:
    """In evaluation PyTorch's gives the tensor that it gets."""
    net = nn.Sequential(nn.Linear(3, 50), nn.ConcatTable(nn.Identity(), nn.Dropout(0.5)))
    written = source(net)
    plain, dropped = written.net.train()(torch.randn(2, 3))
    assert (plain != 0).all() and (dropped == 0).any()


def test_names_of_tensors_are_told() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    written = source(net)
    state = net.to_torch().state_dict()
    assert set(written.names) == set(state)
    for old, new in written.names.items():
        assert torch.equal(written.tensors[new], state[old])


def test_compile_and_export_take_the_net() -> None:
    written = source(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    program = torch.export.export(written.net, (written.inputs[0],))
    torch.testing.assert_close(program.module()(written.inputs[0]), written.net(written.inputs[0]))


@pytest.mark.parametrize(
    ("net", "shape"),
    [
        (nn.Sequential(nn.SpatialConvolution(3, 4, 5, 5), nn.View(4 * 20 * 20)), "2x3x24x24"),
        (nn.Sequential(nn.SpatialConvolution(3, 4, 5, 5)), "2x3x28x28"),
        (nn.Parallel(2, 2).add(nn.Linear(4, 2)).add(nn.Linear(4, 3)), "2x2x4"),
        (nn.Sequential(nn.Cosine(4, 6), nn.Linear(6, 2)), "2x4"),
        (nn.Sequential(nn.Euclidean(5, 3), nn.Linear(3, 2)), "2x5"),
        (nn.Sequential(nn.PartialLinear(5, 3), nn.Linear(3, 2)), "2x5"),
        (nn.SpatialConvolutionLocal(2, 3, 9, 8, 3, 3), "2x2x8x9"),
        (nn.Sequential(nn.Bottle(nn.Linear(4, 5)), nn.Transpose((1, 2))), "2x5x4"),
        (
            nn.Sequential(
                nn.SpatialFullConvolution(4, 3, 4, 4, 2, 2, 1, 1),
                nn.SpatialContrastiveNormalization(3, torch.ones(3)),
            ),
            "2x4x28x28",
        ),
        (nn.Sequential(nn.Dropout(), nn.Linear(7, 2)), "2x7"),
        (nn.ParallelTable(nn.Linear(2, 3), nn.LookupTable(5, 3)), "2x2,long:2x5"),
        (
            nn.Sequential(
                nn.ConcatTable(nn.SelectTable(2), nn.SelectTable(1)),
                nn.ParallelTable(nn.Linear(4, 3), nn.Linear(6, 3)),
                nn.CAddTable(),
            ),
            "2x6,2x4",
        ),
        (nn.Sequential(nn.VolumetricConvolution(1, 2, 3, 3, 3)), "2x1x16x16x16"),
        (nn.Sequential(nn.TemporalConvolution(5, 2, 3), nn.Max(2)), "2x16x5"),
        # Frames, and images that are no squares, by what a View or a Linear asks for.
        (nn.Sequential(nn.TemporalConvolution(1, 2, 3), nn.View(2 * 58)), "2x60x1"),
        (nn.Sequential(nn.SpatialConvolution(1, 2, 1, 1), nn.View(2 * 28 * 77)), "2x1x28x77"),
        (
            nn.Sequential(
                nn.SpatialConvolution(1, 2, 3, 3, 4, 4), nn.View(-1).setNumInputDims(3)
            ).add(nn.Linear(2 * 7 * 20, 2)),
            "2x1x28x80",
        ),
        # A vector that becomes an image.
        (nn.Sequential(nn.SpatialFullConvolution(5, 3, 4, 4), nn.Tanh()), "2x5x1x1"),
        # One sample alone.
        (
            nn.Sequential(nn.Linear(3, 2), nn.View(-1), nn.Linear(2, 2)),
            "3",
        ),
    ],
)
def test_inputs_are_found(net: nn.Module, shape: str) -> None:
    assert inputs.found(net.to_torch()).text == shape


def test_an_input_is_sought_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here each run takes a second, and a great many sizes are tried."""
    now, runs = itertools.count(), []
    monkeypatch.setattr(inputs.time, "monotonic", lambda: next(now))
    net = nn.Sequential(nn.SpatialConvolution(3, 4, 3, 3), nn.View(12345), nn.Linear(12345, 2))
    plain = net.to_torch()
    plain.register_forward_pre_hook(lambda *_: runs.append(1))
    with pytest.raises(ValueError, match=r"was found in 10 s; give its sizes.* --input 1x3x224x"):
        inputs.found(plain, seconds=10)
    assert len(runs) == 10


def test_entries_of_which_nothing_is_known_are_tried_in_the_net_itself() -> None:
    """PyTorch's sum broadcasts, Torch7's does not."""
    net = nn.Sequential(nn.ParallelTable(nn.Linear(1, 2), nn.Identity()), nn.CAddTable())
    assert inputs.found(net.to_torch(), forward=net.forward).text == "2x1,2x2"


def test_beside_the_states_of_a_step_indices_are_one_for_each_sample() -> None:
    step = nn.Sequential(
        nn.ParallelTable(nn.LookupTable(7, 4), nn.Linear(4, 4)), nn.CAddTable(), nn.Reshape(2, 2)
    )
    net = step.double()
    example = inputs.found(net.to_torch(), forward=net.forward)
    assert (example.text, example.batched) == ("long:2,2x4", True)


def test_a_net_for_one_sample_says_all_its_sizes() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.View(-1), nn.Linear(2, 5))
    example = inputs.found(net.to_torch())
    assert "From 3 to 5." in write(net, example.value, batched=example.batched).text


def test_no_input_is_found_for_what_takes_anything() -> None:
    with pytest.raises(ValueError, match="--input 1x3x224x224"):
        inputs.found(nn.Sequential(nn.Tanh()).to_torch())


def test_inputs_are_read() -> None:
    value = inputs.parsed("1x2,long:3", torch.float32).value
    assert isinstance(value, list) and value[0].shape == (1, 2)
    assert isinstance(value[1], Tensor) and value[1].dtype == torch.int64
    with pytest.raises(ValueError, match="sizes like 1x3x224x224"):
        inputs.parsed("3,x", torch.float32)


def test_the_net_stays_as_it_was() -> None:
    net = nn.Sequential(nn.SpatialBatchNormalization(2), nn.Dropout()).training()
    before = net.get(1).running_mean.clone()
    source(net, torch.randn(2, 2, 4, 4))
    assert net.train and net.get(2).train
    assert torch.equal(net.get(1).running_mean, before)


def test_what_a_layer_in_place_changes_for_another_is_refused() -> None:
    """In Torch7 the second branch gets what the first one left of the input."""
    branches = nn.Concat(2).add(nn.MulConstant(0.5, True)).add(nn.Tanh())
    with pytest.raises(ValueError, match="set its inplace to False"):
        write(nn.Sequential(nn.Linear(3, 4), branches), torch.randn(2, 3))
    branches.get(1).inplace = False
    write(nn.Sequential(nn.Linear(3, 4), branches), torch.randn(2, 3))
    alone = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.MulConstant(150, True))
    write(alone, torch.randn(2, 3))


def test_outputs_that_are_no_numbers_are_proven() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.Log())
    example = torch.randn(4, 3)
    found = source(net, example)
    assert net.forward(example).isnan().any()
    assert "equal_nan=True" in found.text and "atol=nan" not in found.text
    prove(found.text, found.net, found.tensors)
    with pytest.raises(ValueError, match="the proof of the source written fails"):
        prove(found.text, found.net, found.tensors | {"example.input": -example})


@pytest.mark.parametrize(
    ("number", "told"), [(math.nan, "NaN"), (math.inf, "infinite numbers")], ids=str
)
def test_weights_that_are_no_numbers_are_told_with_their_place(number: float, told: str) -> None:
    net = nn.Sequential(nn.Tanh(), nn.Linear(3, 2))
    net.modules[1].weight[0, 0] = number
    with pytest.raises(ValueError, match=rf"^nn.Sequential\[2\] nn.Linear: weight holds {told}"):
        source(net, torch.randn(2, 3))


def test_infinite_weights_that_give_numbers_are_written() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.SoftMax())
    net.modules[0].bias[0] = -math.inf
    assert source(net, torch.randn(2, 3)).difference == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_normalisation_without_eps_is_exact_in_both_modes(dtype: torch.dtype) -> None:
    net = nn.Sequential(nn.Linear(4, 5), nn.BatchNormalization(5, 0, 0.1, False)).type(dtype)
    example = torch.randn(6, 4, dtype=dtype)
    found = source(net, example)
    for training in (True, False):
        net.training() if training else net.evaluate()
        found.net.train(training)
        wanted = net.forward(example)
        torch.testing.assert_close(found.net(example), wanted, rtol=1e-6, atol=1e-6)


def test_a_net_that_draws_numbers_is_proven_with_a_seed() -> None:
    net = nn.Sequential(
        nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialFractionalMaxPooling(2, 2, 4, 4)
    )
    found = source(net, torch.randn(2, 1, 16, 16))
    assert "    torch.manual_seed(1)\n" in found.text
    for _ in range(3):
        prove(found.text, found.net, found.tensors)


def test_layers_keep_the_names_that_annotations_give() -> None:
    """Not those of methods: a layer of such a name would hide it."""
    node = input = nn.Identity()()
    for name in ("encoder", "modules", "decoder"):
        node = nn.Linear(3, 3)(node).annotate({"name": name})
    found = source(nn.gModule([input], [node]), torch.randn(2, 3))
    assert "return self.decoder(self.modules2(self.encoder(x)))" in found.text
