"""loadcaffe in Lua."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.caffe import expected, small_net

from compat import lua


@pytest.mark.needs("google.protobuf")
def test_lua_loads_it(
    runtime: lua.Runtime, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    data, made = small_net(True)
    (tmp_path / "m.caffemodel").write_bytes(data)
    net = runtime.execute(
        "require 'loadcaffe' local missing = loadcaffe.load('x', ... .. '.none') "
        "assert(missing == nil) local net = loadcaffe.load('x', ...):float() "
        "net:evaluate() return net",
        str(tmp_path / "m.caffemodel"),
    )
    x = torch.randn(1, 2, 6, 6, dtype=torch.float32)
    torch.testing.assert_close(net.forward(x), expected(x, made, softmax=True))
    printed = capfdbinary.readouterr().out.decode().splitlines()
    assert printed[0].startswith("Couldn't load ") and printed[0].endswith(".none")
    assert printed[1].startswith("Successfully loaded ")
    assert printed[-2:] == ["conv: 4 2 5 3", "fc: 1 1 36 3"]
