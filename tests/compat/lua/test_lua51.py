"""Lua 5.1, which lupa has where it has no LuaJIT."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("lupa.lua51")

from compat import lua


@pytest.fixture
def lua51(monkeypatch: pytest.MonkeyPatch) -> lua.Runtime:
    monkeypatch.setenv("DPTABLE_LUA", "lua51")
    return lua.Runtime()


def test_tensors_are_the_same_memory(lua51: lua.Runtime) -> None:
    assert lua51.eval("jit == nil and _VERSION") == "Lua 5.1"
    x = torch.zeros(2, 3, dtype=torch.float64)
    lua51.execute(
        "local x = ... x[2]:fill(3) x[{1, 2}] = 5"
        " x:narrow(2, 3, 1):apply(function(v) return v + 1 end)",
        x,
    )
    assert x.tolist() == [[0, 5, 1], [3, 3, 4]]


def test_a_net_learns(lua51: lua.Runtime) -> None:
    first, last = lua51.execute(
        """
        require 'nn'
        require 'optim'
        torch.manualSeed(1)
        local net = nn.Sequential():add(nn.Linear(2, 4)):add(nn.Tanh()):add(nn.Linear(4, 1))
        local criterion = nn.MSECriterion()
        local x, y = torch.randn(8, 2), torch.randn(8, 1)
        local parameters, gradients = net:getParameters()
        local losses = {}
        for i = 1, 50 do
           optim.sgd(function()
              gradients:zero()
              losses[i] = criterion:forward(net:forward(x), y)
              net:backward(x, criterion:backward(net.output, y))
              return losses[i], gradients
           end, parameters, {learningRate = 0.1})
        end
        return losses[1], losses[50]
        """
    )
    assert last < first / 2


def test_commands_are_run_without_popen_of_its_own(lua51: lua.Runtime) -> None:
    assert lua51.execute("require 'sys' return sys.execute('echo hi')") == "hi"
    assert lua51.execute("return io.popen('printf 1'):read('*n')") == 1


def test_a_script_finds_its_arguments(lua51: lua.Runtime, tmp_path: object) -> None:
    path = f"{tmp_path}/s.lua"
    with open(path, "w") as file:
        file.write("return arg[0], arg[1], select('#', ...)")
    assert lua51.run(path, "a", "b") == (path, "a", 2)


def test_it_is_said_once_that_it_is_slower(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.lua import state

    monkeypatch.setenv("DPTABLE_LUA", "lua51")
    state.implementation.cache_clear()
    lua.Runtime()
    lua.Runtime()
    assert capsys.readouterr().err.count("slower") == 1


def test_an_unknown_lua_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPTABLE_LUA", "lua54")
    with pytest.raises(ValueError, match="'lua54'; accepted are luajit21, luajit20, lua51"):
        lua.Runtime()


def test_an_older_luajit_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    from compat.lua import state

    pytest.importorskip("lupa.luajit20")
    monkeypatch.setenv("DPTABLE_LUA", "luajit20")
    state.implementation.cache_clear()
    try:
        assert lua.Runtime().eval("jit.version_num < 20100 and torch.ones(3):sum()") == 3
    finally:
        state.implementation.cache_clear()
