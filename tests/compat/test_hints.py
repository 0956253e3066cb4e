"""Torch7's names exist or say what replaces them."""

from __future__ import annotations

import importlib
import pickle
import re
import subprocess
import sys
from typing import Any

import pytest
import torch
from support.paths import GOLDEN, ROOT

import compat
import dptable
import dptable.comm
from compat import cudnn, cutorch, hints, image, nn, optim, random, t7, threads, xlua
from compat import torch as torch7
from compat.nn.core import pytorch_names


@pytest.mark.parametrize(
    "package, shown",
    [("torch", "torch7"), ("image", "image"), ("xlua", "xlua"), ("optim", "optim")],
)
def test_every_name_of_torch7_is_there_or_answers(package: str, shown: str) -> None:
    module = importlib.import_module(f"compat.{package}")
    for name in (GOLDEN / "names" / f"{package}.txt").read_text().split():
        if name not in module.__all__:
            with pytest.raises(AttributeError, match=f"^{shown}.{name} does not exist here: .+"):
                getattr(module, name)


def test_what_the_answers_name_is_in_pytorch() -> None:
    for name, answer in hints.TORCH.items():
        for path in re.findall(r"torch\.([a-z_.0-9]*[a-z_0-9])\(?", answer):
            if not path.startswith("0"):
                thing: object = torch
                for part in path.split("."):
                    thing = getattr(thing, part)
                assert thing is not None, name


def test_no_answer_hides_what_is_there() -> None:
    assert not set(hints.TORCH) & set(torch7.__all__)
    for name in hints.PACKAGES:
        assert not (ROOT / "compat" / name).exists()
        assert not (ROOT / "compat" / f"{name}.py").exists()


def test_packages_answer_when_imported() -> None:
    with pytest.raises(ImportError, match=r"compat\.paths does not exist here: use pathlib"):
        from compat import paths  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"compat\.optnet does not exist here: nothing"):
        importlib.import_module("compat.optnet")
    with pytest.raises(
        ModuleNotFoundError, match=r"compat\.paths does not exist here: use pathlib"
    ):
        from compat.paths import concat  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'compat\.nonsense'$"):
        importlib.import_module("compat.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from compat import nonsense  # noqa: F401
    assert not hasattr(compat, "nonsense")


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("from compat.nn import Conv2d", "PyTorch's Conv2d is nn.SpatialConvolution"),
        ("from compat.nn import Linaer", "(did you mean Linear?)"),
        ("from compat.torch import zeros", "use torch.zeros(…)"),
        ("import compat.torch.nn", "write from compat import nn"),
        ("from compat.optim import SGD", "use optim.sgd(feval, params, config)"),
        ("from compat.nn.utils import clip_grad_norm_", "net.gradParamClip(norm)"),
        ("from compat.nn.functional import relu", "torch.nn.functional.relu"),
        ("from dptable import DataParallel", "dptable.DataParallelTable(1)"),
        ("from dptable import nonsense", "cannot import name 'nonsense'"),
        ("from dptable.training import nonsense", "cannot import name 'nonsense'"),
    ],
)
def test_an_import_of_a_name_is_answered_as_the_name(statement: str, hint: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("Linear(in_features=3, out_features=2)", "it is inputSize here; it takes inputSize, o"),
        ("SpatialConvolution(1, 2, 3, 3, padding=1)", "it is padW and padH here; it takes nInp"),
        ("MSECriterion(reduction='sum')", "it is sizeAverage here; it takes sizeAverage"),
        ("JoinTable(dim=1)", "it is dimension here; it takes dimension, nInputDims"),
        ("Dropout(P=0.5)", "(did you mean p?); it takes p, v1, inplace"),
        ("ReLU(inplace=True)", "it is p here"),
        ("Tanh(inplace=True)", "nn.Tanh has no argument 'inplace'; it takes none"),
    ],
)
def test_arguments_have_the_names_of_torch7(code: str, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        eval(f"nn.{code}", {"nn": nn})
    assert message in str(caught.value)


def test_asking_for_a_name_is_no_error() -> None:
    for module in (compat, dptable, nn, torch7, threads):
        assert not hasattr(module, "Conv2d")


@pytest.mark.parametrize(
    ("name", "dtype"), [("CudaTensor", "float32"), ("CudaLongTensor", "int64")]
)
def test_names_of_cutorch_tell_of_the_logical_devices(name: str, dtype: str) -> None:
    message = f"use torch.empty(3, dtype=torch.{dtype}, device=cutorch.device(1))"
    with pytest.raises(AttributeError, match=re.escape(message)):
        getattr(torch7, name)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("paths", "use pathlib"),
        ("cunn", "import dptable makes"),
        ("image", "write from compat import image"),
        ("nElement", r"use x\.numel\(\)"),
        ("setErrorHandler", "errors are Python's"),
    ],
)
def test_packages_and_methods_answer_as_names_of_torch(name: str, answer: str) -> None:
    with pytest.raises(AttributeError, match=f"torch7.{name} does not exist here: {answer}"):
        getattr(torch7, name)


def test_other_names_are_pythons_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'compat\.torch' has no attribute 'nothing'"):
        torch7.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("net.eval()", "use evaluate()"),
        ("net.zero_grad()", "use zeroGradParameters()"),
        ("net.to('cpu')", "float(), double() or cuda()"),
        ("net.state_dict()", "net.to_torch().state_dict()"),
        ("net.named_parameters()", "net.as_autograd()"),
        ("net.append(nn.Tanh())", "use add(module)"),
        ("net[0]", "net.get(1) is its first module"),
        ("net.forwrad(1)", "(did you mean forward?)"),
        ("nn.MSECriterion().to('cpu')", "float(), double() or cuda()"),
        ("nn.MSECriterion().backwrad", "(did you mean backward?)"),
        ("nn.MSECriterion()(x, x).backward()", "net.backward(input, gradInput) computes"),
        ("nn.Conv2d(1, 2, 3)", "PyTorch's Conv2d is nn.SpatialConvolution"),
        ("nn.BatchNorm2d(3)", "PyTorch's BatchNorm2d is nn.SpatialBatchNormalization here"),
        ("nn.CrossEntropyLoss()", "PyTorch's CrossEntropyLoss is nn.CrossEntropyCriterion here"),
        ("nn.GELU()", "a torch.nn.GELU(…) may stand in a net"),
        ("nn.Spatialconvolution(1, 2, 3, 3)", "(did you mean SpatialConvolution?)"),
        ("nn.SpatialMaxPoling(2, 2)", "(did you mean SpatialMaxPooling?)"),
        ("optim.SGD", "use optim.sgd(feval, params, config)"),
        ("optim.addam", "(did you mean adam?)"),
        ("optim.logger", "(did you mean Logger?)"),
        ("xlua.progres(1, 2)", "(did you mean progress?)"),
        ("torch7.DiskFile", "t7.load(path, many=True)"),
        ("torch7.manualseed(1)", "(did you mean manualSeed?)"),
        ("torch7.zeros_like(1)", "use torch.zeros_like"),
        ("torch7.manual_seed(1)", "torch7.manualSeed(1)"),
        ("nn.conv2d(1, 2, 3)", "PyTorch's Conv2d is nn.SpatialConvolution"),
        ("nn.MSE()", "(did you mean MSECriterion?)"),
        ("nn.functional.relu", "torch.nn.functional.relu"),
        ("nn.utils.clip_grad_norm_", "net.gradParamClip(norm)"),
        ("optim.sdg", "(did you mean sgd?)"),
        ("net.save('a')", "t7.save(path, net)"),
        ("net.layers", "net.modules"),
        ("net.get(1).in_features", "m.weight.size(1)"),
        ("nn.SpatialConvolution(1, 2, 3, 3).kernel_size", "it is kW and kH here"),
        ("nn.MSECriterion().reduction", "sizeAverage is True for the mean"),
        ("nn.MSECriterion().zero_grad()", "a criterion has no parameters"),
        ("optim.zero_grad()", "net.zeroGradParameters()"),
        ("cudnn.SpatialConvolutoin", "(did you mean SpatialConvolution?)"),
        ("dptable.comm.all_reduce", "comm.reduce_add"),
        ("dptable.devices.count", "len(devices.devices())"),
        ("dptable.nn", "write from compat import nn"),
        ("t7.load_lua('a')", "t7.load(path)"),
        ("t7.laod('a')", "(did you mean load?)"),
        ("random.manual_seed(1)", "random.manualSeed(seed)"),
        ("cutorch.is_available()", "cutorch.getDeviceCount()"),
        ("image.imread('a')", "image.load(filename)"),
        ("image.resize(1, 2)", "image.scale(src, width, height)"),
        ("threads.Pool(2)", "threads.Threads(n)"),
        ("dptable.DataParallel(net)", "dptable.DataParallelTable(1)"),
        ("compat.jacobian", "no attribute 'jacobian'"),
    ],
)
def test_what_a_pytorch_user_types_is_answered(code: str, hint: str) -> None:
    names: dict[str, Any] = {"nn": nn, "optim": optim, "xlua": xlua, "torch7": torch7}
    names |= {"t7": t7, "random": random, "cutorch": cutorch, "image": image, "threads": threads}
    names |= {"cudnn": cudnn, "dptable": dptable, "compat": compat}
    names["x"] = torch.ones(2)
    names["net"] = nn.Sequential(nn.Linear(3, 2))
    with pytest.raises(AttributeError) as caught:
        eval(code, names)
    assert hint in str(caught.value)
    # Errors of worker processes are pickled.
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("net.cuda(0)", "tensorCache is 0; a dict is accepted"),
        ("nn.MSECriterion().cuda(1)", "tensorCache is 1; a dict is accepted"),
        ("nn.Parameter(1)", "declare weight = nn.Parameter() in the class"),
    ],
)
def test_arguments_of_pytorch_are_answered(code: str, hint: str) -> None:
    with pytest.raises(TypeError, match=re.escape(hint)):
        eval(code, {"nn": nn, "net": nn.Sequential(nn.Linear(3, 2))})


def test_a_module_that_is_not_imported_is_told() -> None:
    code = "import compat; compat.xlua"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.endswith("before its import: from compat import xlua\n")


def test_methods_that_hints_name_exist() -> None:
    net = nn.Sequential(nn.Linear(3, 2))
    for hint in pytorch_names.METHODS.values():
        for name in re.findall(r"(?:use |net\.|, |or )(\w+)\(", hint):
            assert hasattr(net, name), hint


def test_a_net_seems_to_have_no_index() -> None:
    net = nn.Sequential(nn.Linear(3, 2))
    assert len(net) == 1 and not hasattr(net, "__getitem__")
    with pytest.raises(AttributeError, match=r"net\.modules the list of all"):
        list(net)


@pytest.mark.parametrize(
    ("method", "config", "name"),
    [
        (optim.sgd, {"lr": 0.1}, "learningRate"),
        (optim.sgd, {"learningRate": 0.1, "weight_decay": 0.1}, "weightDecay"),
        (optim.adam, {"betas": (0.9, 0.99)}, "beta1, and beta2"),
    ],
)
def test_an_option_with_the_name_of_pytorch_is_told(method: Any, config: Any, name: str) -> None:
    x = torch.ones(2)
    with pytest.warns(UserWarning, match=f"which is not read; Torch7's name is {name}"):
        method(lambda x: (0.0, x), x, config)
