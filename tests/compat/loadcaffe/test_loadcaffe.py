"""Nets of Caffe, of layers of both kinds, from files that are made here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.caffe import expected, small_net

from compat import nn

pytestmark = pytest.mark.needs("google.protobuf")


@pytest.mark.parametrize("old", [True, False])
def test_the_net_computes_what_caffe_describes(tmp_path: Path, old: bool) -> None:
    from compat import loadcaffe

    data, made = small_net(old)
    (tmp_path / "m.caffemodel").write_bytes(data)
    said: list[str] = []
    net = loadcaffe.load("none.prototxt", tmp_path / "m.caffemodel", "nn", said.append)
    names = ["conv", "relu", "norm", "pool", "drop", "torch_view", "fc", *(["prob"] if old else [])]
    assert [module.name for module in net.modules] == names
    assert net.get(5).p == 0.25
    net.float().evaluate()
    x = torch.randn(2, 2, 6, 6)
    torch.testing.assert_close(net.forward(x), expected(x, made, softmax=old))
    assert said[-2:] == ["conv: 4 2 5 3", "fc: 1 1 36 3"]
    kind = 5 if old else "Data"
    undefined = ["MODULE data UNDEFINED"] if old else []
    assert said[:-2] == [*undefined, f"warning: module 'data [type {kind}]' not found"]


def test_cudnn_has_groups_and_nn_has_not(tmp_path: Path) -> None:
    from compat import loadcaffe

    data, made = small_net(True, groups=2)
    (tmp_path / "m.caffemodel").write_bytes(data)
    said: list[str] = []
    net = loadcaffe.load("", tmp_path / "m.caffemodel", "cudnn", said.append)
    conv = net.get(1)
    assert (conv.groups, conv.nInputPlane) == (2, 2)
    torch.testing.assert_close(conv.weight.float().cpu().view(4, 1, 3, 5), made["conv.weight"])
    without = loadcaffe.load("", tmp_path / "m.caffemodel", "nn", said.append)
    assert isinstance(without.get(1), nn.ReLU)
    assert "nn supports no groups!" in said


def test_wrong_files_and_backends_are_refused(tmp_path: Path) -> None:
    from google.protobuf.message import DecodeError

    from compat import loadcaffe

    (tmp_path / "bad").write_bytes(b"\xff" * 9)
    with pytest.raises(DecodeError):
        loadcaffe.load("", tmp_path / "bad")
    data, _ = small_net(False)
    net = loadcaffe.schema.Net.FromString(data)
    with pytest.raises(ValueError, match="backend is 'ccn2'"):
        loadcaffe.load("", net, "ccn2")
    net.layer[1].blobs[0].data[0] = b"\0" * 8
    with pytest.raises(ValueError, match="blob 0 of layer 'conv' has 2 numbers; 120 are accepted"):
        loadcaffe.load("", net, "nn", lambda line: None)
    del net.layer[1].blobs[:]
    with pytest.raises(ValueError, match="layer 'conv' has no weights"):
        loadcaffe.load("", net, "nn", lambda line: None)
