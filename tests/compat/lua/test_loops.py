"""Few numbers are computed with in Lua: as PyTorch's kernels do, whatever the layout."""

from __future__ import annotations

import pytest
import torch

from compat.lua import Runtime

IN_PLACE = (
    *("x:add(0.1)", "x:mul(3)", "x:div(3)", "x:fill(0.1)", "x:zero()", "x:pow(2)"),
    *("x:add(y)", "x:add(-0.3, y)", "x:csub(y)", "x:cmul(y)", "x:cdiv(y)", "x:copy(y)"),
    *("x:addcmul(0.5, y, z)", "x:addcdiv(0.5, y, z)", "x:abs()", "x:neg()", "x:floor()"),
    *("x:ceil()", "x:exp()", "x:tanh()", "x:sigmoid()", "x:cinv()", "x:add(y, 2, z)"),
    *("x:abs():sqrt()", "x:abs():log()"),
    *("x:addmm(2, x, 0.5, a, b)", "x:addmm(a, b)", "x:mm(a, b)"),
)
NEW = (
    *("x + y", "x * 2", "-x", "torch.exp(x)", "torch.cmul(x, y)", "x:clone()", "x:float()"),
    *("x:double()", "x:lt(0.1)", "x:ge(y)", "torch.eq(x, y)", "a * b", "a * b:select(2, 1)"),
    *("torch.addmm(x, a, b)", "x:sum(1)", "x:sum(2)", "x:mean(1)", "x:max(1)", "x:min(2)"),
    *("select(2, x:max(2))", "select(2, x:min(1))"),
    *("x:sum()", "x:mean()", "x:max()", "x:min()", "x:norm()", "x:dot(y)"),
    *("x:select(2, 2):sum()", "x:select(1, 1):max()"),
)


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return Runtime()


def operands(layout: str, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    shapes = [(4, 5)] * 3 + [(4, 3), (3, 5)]
    tensors = [torch.randn(*shape, generator=generator).to(dtype) for shape in shapes]
    if layout == "transposed":
        return [t.t().contiguous().t() for t in tensors]
    if layout == "with gaps":
        return [torch.stack([t, t], 2)[:, :, 0] for t in tensors]
    return tensors


@pytest.mark.parametrize("layout", ["in line", "transposed", "with gaps"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_loops_give_what_kernels_give(runtime: Runtime, dtype: torch.dtype, layout: str) -> None:
    # Lua's own tensors of that layout, which Python has never seen.
    kind = "Double" if dtype is torch.float64 else "Float"
    own = runtime.execute(
        f"""
        return function(...)
           local all = {{}}
           for i, t in ipairs{{...}} do
              local size, stride = t:size(), t:stride()
              local x = torch.{kind}Tensor(torch.{kind}Storage(t:storage():size()), 1, size, stride)
              all[i] = x:copy(t)
           end
           return unpack(all)
        end
        """
    )
    call = runtime.eval("function(f, own, ...) return f(own(...)) end")
    for code in (*(f"{code} return x" for code in IN_PLACE), *(f"return {code}" for code in NEW)):
        function = runtime.eval(f"function(x, y, z, a, b) {code} end")
        expected = function(*operands(layout, dtype))
        got = call(function, own, *operands(layout, dtype))
        torch.testing.assert_close(got, expected, msg=lambda text, code=code: f"{code}: {text}")


def test_numbers_that_python_holds_are_written_by_pytorch(runtime: Runtime) -> None:
    tensor = torch.ones(3, dtype=torch.float64)
    version = tensor._version
    runtime.eval("function(x) x:add(1) x:fill(2) x:narrow(1, 1, 2):mul(3) end")(tensor)
    assert tensor.tolist() == [6, 6, 2]
    assert tensor._version >= version + 3


def test_addresses_and_storages_stay_when_memory_moves(runtime: Runtime) -> None:
    runtime.execute(
        """
        local x = torch.Tensor(4):fill(1)
        local part, storage, p = x:narrow(1, 2, 2), x:storage(), x:data()
        p[1] = 5
        assert(x[2] == 5 and part[1] == 5 and storage[2] == 5)
        torch.exp(x)          -- may have PyTorch look at the memory
        x:resize(6):fill(2)
        assert(part:sum() == 4 and storage[2] == 2 and #storage == 6)
        x:resize(5000):fill(3)
        assert(part:sum() == 6 and storage[2] == 3)
        local sub = torch.DoubleStorage(torch.Tensor{1, 2, 3}:storage(), 2, 2)
        assert(sub[1] == 2)
        """
    )


def test_repeated_elements_are_written_in_order(runtime: Runtime) -> None:
    code = "torch.Tensor(1, 1):fill(0):expand(3, 1):copy(torch.Tensor{1, 2, 3}):sum()"
    assert runtime.eval(code) == 9


def test_numbers_can_be_left_to_pytorch() -> None:
    runtime = Runtime()
    x = torch.rand(5, 7, dtype=torch.float32)
    y = torch.rand(7, 3, dtype=torch.float32)
    runtime.execute("torch._t7.leave_numbers_to_pytorch()")
    product, sum, tanh, copy = runtime.execute(
        """
        local x, y = ...
        local c = torch.DoubleTensor(5, 7):copy(x)
        return {torch.mm(x, y), x:sum(), torch.tanh(x), c}
        """,
        x,
        y,
    )
    assert product.equal(x @ y) and tanh.equal(x.tanh()) and copy.equal(x.double())
    assert sum == x.double().sum().item()
    runtime.close()


def test_python_notices_what_lua_writes_to_memory_that_it_knows() -> None:
    runtime = Runtime()
    tensor = torch.zeros(2, 2, dtype=torch.float64)
    runtime.globals().t = tensor
    for line in ("t:add(1)", "t:copy(torch.ones(2, 2))", "t:mm(torch.ones(2, 2), t:clone())"):
        before = tensor._version
        runtime.execute(line)
        assert tensor._version > before, line
    assert tensor.tolist() == [[2, 2], [2, 2]]
    runtime.close()
