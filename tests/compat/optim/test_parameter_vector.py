"""Vectors of learning rates and weight decays, built from a net."""

from __future__ import annotations

import pytest
import torch

from compat import nn, optim


def small_net() -> nn.Sequential:
    inner = nn.Sequential().add(nn.Linear(3, 2)).add(nn.BatchNormalization(2))
    return nn.Sequential().add(nn.Linear(4, 3)).add(nn.ReLU()).add(inner)


def test_every_parameter_gets_the_number_of_its_rule() -> None:
    net = small_net()
    x, _ = net.getParameters()
    vector = optim.parameter_vector(
        x, net, lambda module, name: (10 if type(module) is nn.Linear else 20) + (name == "bias")
    )
    assert vector.shape == x.shape and vector.dtype == x.dtype
    expected = [10] * 12 + [11] * 3 + [10] * 6 + [11] * 2 + [20] * 2 + [21] * 2
    assert vector.tolist() == expected


def test_a_part_of_the_net_fills_its_part() -> None:
    net = small_net()
    x, _ = net.getParameters()
    vector = optim.parameter_vector(x, net.get(3), lambda module, name: 1)
    assert vector.tolist() == [0] * 15 + [1] * 12


def test_a_module_of_pytorch_has_groups_too() -> None:
    net = nn.Sequential().add(torch.nn.Linear(2, 2)).add(nn.Linear(2, 1))
    x, _ = net.getParameters()
    vector = optim.parameter_vector(x, net, lambda module, name: float(name == "bias"))
    assert vector.tolist() == [0] * 4 + [1] * 2 + [0] * 2 + [1]


def test_frozen_parameters_of_pytorch_are_in_no_group() -> None:
    frozen = torch.nn.Linear(2, 2)
    frozen.weight.requires_grad_(False)
    net = nn.Sequential().add(frozen).add(nn.Linear(2, 1))
    x, _ = net.getParameters()
    assert optim.parameter_vector(x, net, lambda module, name: 1).tolist() == [1] * x.numel()


def test_decay_without_biases_is_a_step_per_parameter() -> None:
    net = small_net()
    x, dx = net.getParameters()
    vector = optim.parameter_vector(x, net, lambda module, name: 0.1 * (name == "weight"))
    before = x.clone()
    optim.sgd(lambda x: (0.0, dx.zero_()), x, {"learningRate": 1, "weightDecays": vector})
    torch.testing.assert_close(x, before * (1 - vector))


def test_parameters_elsewhere_are_refused() -> None:
    x, _ = small_net().getParameters()
    with pytest.raises(ValueError, match=r"x is without Linear\.weight; the result of"):
        optim.parameter_vector(x, small_net(), lambda module, name: 1)


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="net is a list; a module is"):
        optim.parameter_vector(torch.zeros(1), [], lambda module, name: 1)
