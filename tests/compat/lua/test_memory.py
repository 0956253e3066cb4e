"""Whatever Lua does with memory, numbers stay what they were and nothing crashes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat import lua
from compat.lua import Runtime

SETTINGS = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

# A script of steps on a table of tensors `x` and a model of it: flat lists that share a storage.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("new"), st.integers(1, 6), st.integers(0, 9)),
        st.tuples(st.just("narrow"), st.integers(0, 9), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("resize"), st.integers(0, 9), st.integers(1, 12)),
        st.tuples(st.just("set"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("add"), st.integers(0, 9), st.integers(-3, 3)),
        st.tuples(st.just("cross"), st.integers(0, 9)),
        st.tuples(st.just("save"), st.integers(0, 9)),
        st.tuples(st.just("drop"), st.integers(0, 9)),
        st.tuples(st.just("collect")),
    ),
    max_size=25,
)


class Model:
    """Vectors as lists, offsets and sizes over shared lists."""

    def __init__(self) -> None:
        self.vectors: list[list[Any]] = []

    def values(self, i: int) -> list[float]:
        storage, offset, size = self.vectors[i]
        return storage[offset : offset + size]


@given(STEPS)
@SETTINGS
def test_random_steps_agree_with_a_model(runtime: Runtime, steps: list[tuple[Any, ...]]) -> None:
    runtime.execute("x = {}")
    x: list[list[Any]] = []
    held: list[torch.Tensor] = []
    for name, *numbers in steps:
        if name == "new":
            size, value = numbers
            x.append([[float(value)] * size, 0, size])
            runtime.execute(f"x[#x + 1] = torch.Tensor({size}):fill({value})")
        elif name == "collect":
            runtime.execute("collectgarbage() collectgarbage()")
        elif x:
            i = numbers[0] % len(x)
            storage, offset, size = x[i]
            if name == "narrow":
                first = numbers[1] % size
                length = numbers[2] % (size - first) + 1
                x.append([storage, offset + first, length])
                runtime.execute(f"x[#x + 1] = x[{i + 1}]:narrow(1, {first + 1}, {length})")
            elif name == "resize":
                new = numbers[1]
                # What a larger storage holds behind the old numbers is not defined.
                grown = offset + new - len(storage)
                runtime.execute(f"x[{i + 1}]:resize({new})")
                if grown > 0:
                    storage += [0.0] * grown
                    runtime.execute(
                        f"local s = x[{i + 1}]:storage()"
                        f" for i = #s - {grown - 1}, #s do s[i] = 0 end"
                    )
                x[i][2] = new
            elif name == "set":
                j = numbers[1] % len(x)
                x[i][:] = x[j]
                runtime.execute(f"x[{i + 1}]:set(x[{j + 1}])")
            elif name == "add":
                for k in range(offset, offset + size):
                    storage[k] += numbers[1]
                runtime.execute(f"x[{i + 1}]:add({numbers[1]})")
            elif name == "cross":
                held.append(runtime.eval(f"x[{i + 1}]"))
                held[-1].mul_(2)
                for k in range(offset, offset + size):
                    storage[k] *= 2
            elif name == "save":
                runtime.execute(f"x[{i + 1}] = torch.deserialize(torch.serialize(x[{i + 1}]))")
                x[i] = [list(storage), offset, size]
            elif name == "drop":
                del x[i]
                runtime.execute(f"table.remove(x, {i + 1})")
    for i, (storage, offset, size) in enumerate(x):
        expected = storage[offset : offset + size]
        assert runtime.eval(f"x[{i + 1}]:totable()") == expected
        assert runtime.eval(f"x[{i + 1}]").tolist() == expected


def peak() -> int:
    """The most memory that this process has had, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_temporaries_do_not_pile_up(runtime: Runtime) -> None:
    before = peak()
    runtime.execute("for i = 1, 400 do local t = torch.FloatTensor(2^20):fill(i) end")
    assert peak() - before < 450


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
