"""Originals of packages over those that come along, and what they need of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import lua


def test_a_class_that_comes_along_gives_way_to_an_original(
    runtime: lua.Runtime, tmp_path: Path
) -> None:
    original = """local Mine, parent = torch.class('nn.SpatialUpSamplingNearest', 'nn.Module')
    function Mine:__init(k) parent.__init(self) self.k = k end
    function Mine:updateOutput(x) self.output:resizeAs(x):copy(x):mul(self.k) return self.output end
    local Alias = torch.class('torch.AliasMultinomial')
    function Alias:draw() return 'mine' end
    torch.class('torchx.Queue')"""
    sums = runtime.execute(
        f"""require 'dpnn'
        {original}
        local net = nn.Sequential():add(nn.SpatialUpSamplingNearest(3))
        local x, sums = torch.ones(2), {{}}
        torch.save((...), net)
        for i, each in ipairs{{net, net:clone(), torch.load((...))}} do
           sums[i] = each:forward(x):sum()
        end
        assert(torch.AliasMultinomial():draw() == 'mine' and torchx.Queue().put == nil)
        return sums""",
        str(tmp_path / "net.t7"),
    )
    assert sums == [6, 6, 6]
    with pytest.raises(lua.LuaError, match="been already assigned"):
        runtime.execute("torch.class('nn.SpatialUpSamplingNearest', 'nn.Module')")


def test_decorate_gives_a_class_the_methods_of_a_decorator(runtime: lua.Runtime) -> None:
    runtime.execute(
        """require 'rnn'
        local Twice, parent = torch.class('nn.Twice', 'nn.Container')
        function Twice:__init() parent.__init(self) self.modules[1] = nn.MulConstant(2) end
        nn.Decorator.decorate(Twice)
        net = nn.Twice()"""
    )
    assert runtime.eval("net:forward(torch.ones(2)):sum()") == 4
    assert runtime.eval("net:backward(torch.ones(2), torch.ones(2)):sum()") == 4
    assert runtime.eval("net:__tostring__()") == "nn.Twice @ nn.MulConstant"
