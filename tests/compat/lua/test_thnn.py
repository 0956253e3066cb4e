"""Functions of THNN, called as nn's Lua files call them, and what the FFI sees of tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from compat import lua
from compat.lua.kernels import thnn


def call(runtime: lua.Runtime, name: str, *args: object) -> None:
    runtime.execute(
        """
        local THNN = require 'nn.THNN'
        local name, args = ..., {select(2, ...)}
        local n = select('#', ...) - 1
        for i = 1, n do args[i] = torch.isTensor(args[i]) and args[i]:cdata() or args[i] end
        THNN.kernels['torch.DoubleTensor'][name](unpack(args, 1, n))
        """,
        name,
        *args,
    )


def empty(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.empty(0, dtype=dtype)


def test_every_function_has_a_kernel() -> None:
    for name in thnn.names():
        thnn.describe(name)
    assert len(thnn.names()) == 183


def test_convolution_is_that_of_torch(runtime: lua.Runtime) -> None:
    x = torch.randn(2, 3, 7, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 3, 3, 2, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, dtype=torch.float64, requires_grad=True)
    expected = F.conv2d(x, weight, bias, (2, 1), (1, 0))
    output, gradient = empty(), torch.randn_like(expected)
    window = 2, 3, 1, 2, 0, 1
    matrix = weight.detach().view(4, -1)
    arguments = x.detach(), output, matrix, bias.detach(), empty(), empty()
    call(runtime, "SpatialConvolutionMM_updateOutput", *arguments, *window)
    torch.testing.assert_close(output, expected.detach())

    dx, dw, db = torch.autograd.grad(expected, (x, weight, bias), gradient)
    gradInput, gradWeight, gradBias = empty(), torch.ones_like(matrix), torch.ones(4).double()
    call(
        runtime, "SpatialConvolutionMM_updateGradInput",
        x.detach(), gradient, gradInput, matrix, empty(), empty(), *window,
    )  # fmt: skip
    call(
        runtime, "SpatialConvolutionMM_accGradParameters",
        x.detach(), gradient, gradWeight, gradBias, empty(), empty(), *window, 0.5,
    )  # fmt: skip
    torch.testing.assert_close(gradInput, dx)
    torch.testing.assert_close(gradWeight, 1 + 0.5 * dw.view(4, -1))
    torch.testing.assert_close(gradBias, 1 + 0.5 * db)


def test_indices_count_from_one(runtime: lua.Runtime) -> None:
    x, output, indices = torch.arange(16).double().view(1, 4, 4), empty(), empty(torch.int64)
    call(runtime, "SpatialMaxPooling_updateOutput", x, output, indices, 2, 2, 2, 2, 0, 0, False)
    assert indices.flatten().tolist() == [6, 8, 14, 16]
    gradInput = empty()
    ones = torch.ones_like(output)
    call(
        runtime, "SpatialMaxPooling_updateGradInput",
        x, ones, gradInput, indices, 2, 2, 2, 2, 0, 0, False,
    )  # fmt: skip
    assert gradInput.flatten().nonzero().flatten().tolist() == [5, 7, 13, 15]


def test_in_place_the_result_is_the_input(runtime: lua.Runtime) -> None:
    x, output = torch.tensor([-1.0, 2.0]).double(), empty()
    call(runtime, "Threshold_updateOutput", x, output, 0, 0, True)
    assert output.data_ptr() == x.data_ptr() and x.tolist() == [0, 2]


def test_functions_of_each_element_compare_as_c_does(runtime: lua.Runtime) -> None:
    x, output, gradInput = torch.tensor([torch.nan, -1.0, 2.0]).double(), empty(), empty()
    gradOutput = torch.tensor([[3.0], [4], [5]]).double()
    call(runtime, "Threshold_updateOutput", x, output, 0, 7, False)
    assert output.tolist() == [7, 7, 2]
    call(runtime, "Threshold_updateGradInput", x, gradOutput, gradInput, 0, 7, False)
    assert gradInput.tolist() == [0, 0, 5]
    call(runtime, "Threshold_updateGradInput", x[1:], gradOutput[1:], gradInput, 0, 7, True)
    assert gradInput.data_ptr() == gradOutput[1:].data_ptr()
    assert gradOutput.flatten().tolist() == [3, 0, 5]
    call(runtime, "LogSoftMax_updateOutput", x[1:], output)
    with pytest.raises(lua.LuaError, match=r"gradOutput shapes do not match"):
        call(runtime, "LogSoftMax_updateGradInput", x[1:], torch.ones(9).double(), gradInput,
             output)  # fmt: skip


def test_targets_are_seen_in_the_shape_of_the_input(runtime: lua.Runtime) -> None:
    output = torch.zeros(1).double()
    call(runtime, "MSECriterion_updateOutput", torch.ones(3).double(), torch.zeros(3, 1).double(),
         output, False)  # fmt: skip
    assert output.item() == 3
    with pytest.raises(lua.LuaError, match=r"input\[3\] has 3 elements, while target\[4\] has 4"):
        call(runtime, "MSECriterion_updateOutput", torch.ones(3).double(), torch.ones(4).double(),
             output, False)  # fmt: skip


def test_wrong_arguments_are_named(runtime: lua.Runtime) -> None:
    with pytest.raises(lua.LuaError, match=r"cannot convert 'torch\.FloatTensor'"):
        call(runtime, "Abs_updateOutput", torch.ones(2).float(), empty())
    with pytest.raises(lua.LuaError, match="output is a tensor that must be given"):
        call(runtime, "Abs_updateOutput", torch.ones(2).double(), None)


@pytest.fixture
def ffi(runtime: lua.Runtime) -> lua.Runtime:
    if not runtime.eval("pcall(require, 'ffi')"):
        pytest.skip("Lua without FFI")
    runtime.execute("ffi = require 'ffi'")
    return runtime


def test_cdata_is_the_structure_of_torch7(ffi: lua.Runtime) -> None:
    ffi.execute("x = torch.range(1, 6):resize(2, 3):t() c = x:cdata()")
    assert ffi.eval("{c.nDimension, tonumber(c.size[0]), tonumber(c.stride[0])}") == [2, 3, 1]
    assert ffi.eval("c.storage.data[4]") == 5
    assert ffi.eval("torch.pushudata(torch.cdata(x, true), 'torch.DoubleTensor') == x")
    assert ffi.eval("torch.pointer(c) == torch.pointer(x)")


def test_libraries_give_torch7_s_functions(ffi: lua.Runtime) -> None:
    ffi.execute("""
        ffi.cdef 'size_t strlen(const char *);'
        x, y = torch.Tensor{-1, 2}, torch.Tensor()
        ffi.C.THNN_DoubleAbs_updateOutput(nil, x:cdata(), y:cdata())
    """)
    assert ffi.eval("y[1] + ffi.load('libTH.so').THDoubleTensor_data(x:cdata())[1]") == 3
    assert ffi.eval("tonumber(ffi.C.strlen('abc'))") == 3
    with pytest.raises(lua.LuaError, match="'THDoubleTensor_conv2Dmv' is a function of Torch7"):
        ffi.execute("return ffi.C.THDoubleTensor_conv2Dmv")


def test_packages_on_our_nn_are_not_mixed_with_the_original(tmp_path: Path) -> None:
    (tmp_path / "nn").mkdir()
    (tmp_path / "nn" / "init.lua").write_text("nn = {mine = require 'nn.THNN'} return nn")
    runtime = lua.Runtime()
    runtime.add_packages([str(tmp_path)], ["nn"])
    assert runtime.eval("require('nn').mine.kernels['torch.FloatTensor'].Abs_updateOutput ~= nil")
    with pytest.raises(lua.LuaError, match="works with our nn only"):
        runtime.require("nngraph")


def test_checkouts_are_searched_as_installations_would_have_them(tmp_path: Path) -> None:
    (tmp_path / "mine" / "test").mkdir(parents=True)
    (tmp_path / "mine" / "test" / "test.lua").write_text("return 1")
    (tmp_path / "Single").mkdir()
    (tmp_path / "Single" / "single.lua").write_text("return 2")
    runtime = lua.Runtime()
    runtime.add_packages([str(tmp_path)])
    assert runtime.eval("require('mine.test') + require('single')") == 3


def test_linear_interpolation_is_that_of_the_layer(runtime: lua.Runtime) -> None:
    # In single precision between the pixels, of doubles too, as in Lua Torch7.
    differences = runtime.execute(
        """
        require 'nn'
        local x = torch.linspace(-1, 2, 2 * 3 * 4 * 5):reshape(2, 3, 4, 5)
        local layer = nn.SpatialUpSamplingBilinear{oheight = 7, owidth = 9}
        local gradInput = layer:backward(x, layer:forward(x))
        local output, other = x.new(), x.new()
        local forward = x.THNN.SpatialUpSamplingBilinear_updateOutput
        local backward = x.THNN.SpatialUpSamplingBilinear_updateGradInput
        forward(x:cdata(), output:cdata(), 7, 9)
        backward(output:cdata(), other:cdata(), 2, 3, 4, 5, 7, 9)
        return {(output - layer.output):abs():max(), (other - gradInput):abs():max()}
        """
    )
    assert differences == [0, 0]
