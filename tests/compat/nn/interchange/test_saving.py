"""Converted nets that only this package can load say so when they are saved."""

from __future__ import annotations

import copy
import io
import pickle
import warnings

import pytest
import torch

from compat import nn


def test_a_class_of_this_package_tells_when_it_is_saved() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.CMul(3)).to_torch()
    with pytest.warns(UserWarning, match="Mul is a class of compat"):
        torch.save(net, io.BytesIO())
    with pytest.warns(UserWarning, match="dptable convert"):
        again = pickle.loads(pickle.dumps(net))
    input = torch.randn(4, 2)
    assert torch.equal(again(input), net(input))


def test_plain_nets_and_copies_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(nn.Sequential(nn.Linear(2, 3), nn.Tanh()).to_torch())
        net = nn.Sequential(nn.CMul(3), nn.CMul(3)).to_torch()
        net[1].weight = net[0].weight
        other = copy.deepcopy(net)
    assert other[0].weight is other[1].weight is not net[0].weight
    assert torch.equal(other[0].weight, net[0].weight)
