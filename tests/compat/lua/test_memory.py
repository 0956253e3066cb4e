"""Whatever Lua does with memory, numbers stay what they were and nothing crashes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from compat import lua
from compat.lua import Runtime

SEQUENCES = Path(__file__).with_name("sequences.lua")


@pytest.fixture(scope="module")
def run_sequence() -> Callable[[list[int]], None]:
    """Runs the steps that numbers choose; see sequences.lua."""
    runtime = Runtime()
    held: list[torch.Tensor] = []

    def hold(tensor: torch.Tensor) -> None:
        held.append(tensor.neg_())
        del held[:-20]

    run = runtime.execute(SEQUENCES.read_text())
    return lambda choices: run(choices, hold)


@given(st.lists(st.integers(0, 999), max_size=120))
@settings(max_examples=200, deadline=None)
def test_random_steps_agree_with_a_model(
    run_sequence: Callable[[list[int]], None], choices: list[int]
) -> None:
    run_sequence(choices)


@pytest.mark.slow
def test_many_random_steps_agree_with_a_model(
    run_sequence: Callable[[list[int]], None],
) -> None:
    numbers = random.Random(0)
    for _ in range(1000):
        run_sequence([numbers.randrange(1000) for _ in range(numbers.randrange(5, 120))])


def peak() -> int:
    """The most memory that this process has had, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_temporaries_do_not_pile_up(runtime: Runtime) -> None:
    before = peak()
    runtime.execute("for i = 1, 400 do local t = torch.FloatTensor(2^20):fill(i) end")
    assert peak() - before < 300


def test_a_stale_storage_cannot_be_reached() -> None:
    runtime = lua.Runtime()
    runtime.execute(
        """
        local a = torch.Tensor(4):fill(1)
        local b, s = a:narrow(1, 2, 2), a:storage()
        a:resize(1000000):fill(3)
        assert(b[1] == 3 and s[1] == 3 and b:sum() == 6)
        local sub = torch.DoubleStorage(s, 11, 5); s:resize(4)
        local ok = pcall(function() return a:sum() end)
        assert(not ok)
        ok = pcall(function() return a[1000000] end)
        assert(not ok and #sub == 0)
        ok = pcall(function() return torch.Tensor(sub, 1, 2):sum() end)
        ok = pcall(function() return a:clone() end)
        assert(not ok)
        """
    )


def test_objects_that_lua_drops_and_gets_again_stay(runtime: Runtime) -> None:
    objects = [type("Thing", (), {})() for _ in range(2000)]
    dangling = []

    def held(*numbers: int) -> None:
        # One reference is the list's, one the argument's; Lua's is the third.
        dangling.extend(i for i in set(numbers) if sys.getrefcount(objects[i]) <= 2)

    run = runtime.lua.eval(
        """
        function(get, held)
           local kept = {}
           for k = 1, 200000 do
              local i = (k * 7919) % 2000
              kept[k % 500] = {i, get(i)}
              local garbage = {}
              for j = 1, 5 do garbage[j] = {j} end
              if k % 5000 == 0 then
                 local numbers = {}
                 for _, pair in pairs(kept) do numbers[#numbers + 1] = pair[1] end
                 held(unpack(numbers))
              end
           end
        end
        """
    )
    run(lambda i: objects[i], held)
    assert not dangling
    assert runtime.execute("return collectgarbage('setstepmul', 300)") == 200
    assert runtime.execute("return collectgarbage('setstepmul', 200)") == 300


def test_what_python_keeps_of_a_coroutine_outlives_it(runtime: Runtime) -> None:
    kept: list[Callable[[], int]] = []
    runtime.execute(
        """
        local keep = ...
        for i = 1, 300 do
           coroutine.wrap(function() for _ = 1, 5 do keep(function() return i end) end end)()
        end
        collectgarbage()
        -- Other values in the memory that was the coroutines'.
        local others = {}
        for i = 1, 200000 do others[i] = i % 7 == 0 and ('x'):rep(i % 300) .. i or {i, i} end
        """,
        kept.append,
    )
    assert [function() for function in kept[::5]] == list(range(1, 301))
    kept.clear()
    assert runtime.eval("1 + 1") == 2
