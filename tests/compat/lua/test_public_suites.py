"""The tests of Torch7's own packages, from public checkouts that TORCH7_SOURCES names.

The folder holds checkouts under the packages' names: torch7, nn, nngraph, optim, rnn, dpnn, cunn,
threads, torchx, stn (stnbhwd), and what their tests require: totem, and moses of version 1 (from
version 2 on its functions take their arguments in another order). Nothing of them is copied here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.public_checkouts import MARKS, SOURCES, need, run

pytestmark = MARKS


@dataclass(frozen=True)
class Suite:
    """Tests that torch.Tester runs.

    Attributes:
        checkout: what must be there.
        code: what runs them; ``SOURCES`` is the folder.
        passing: how many pass at least.
        failing: tests that may fail, and why; None where any may, if enough pass.
        original: packages that are taken from the checkouts instead of ours.
        devices: how many devices there are.
    """

    checkout: str
    code: str
    passing: int
    failing: Mapping[str, str] | None = field(default_factory=dict)
    original: str = ""
    devices: int = 1


def _file(name: str) -> str:
    return f"dofile(SOURCES .. '/{name}.lua')"


# Of rnn's tests those that some random numbers fail, with Lua Torch7 too.
_BY_CHANCE = {
    "MufuruGradients": "sizes do not fit",
    "NCE_MaskZero": "no zero is drawn",
    "Recurrent": "compares to 1e-5",
}
SUITES = {
    "torch7": Suite("torch7", f"{_file('torch7/test/test')} torch.test()", 164),
    "longSize": Suite("torch7", _file("torch7/test/longSize"), 4),
    "Tester": Suite("torch7", _file("torch7/test/test_Tester"), 33),
    "aliasMultinomial": Suite("torch7", _file("torch7/test/test_aliasMultinomial"), 1),
    "half": Suite("torch7", _file("torch7/test/test_half"), 3),
    "sharedmem": Suite("torch7", _file("torch7/test/test_sharedmem"), 3),
    "timer": Suite("torch7", _file("torch7/test/test_timer"), 1),
    "writeObject": Suite("torch7", _file("torch7/test/test_writeObject"), 12),
    "nn": Suite(
        "nn",
        f"require 'nn' {_file('nn/test')} nn.test()",
        212,
    ),
    "dpnn": Suite(
        "dpnn",
        f"require 'dpnn' {_file('dpnn/test/test')} dpnn.test()",
        31,
        {"NCE_main": "compares single precision to 1e-7"},
    ),
    "nn, original": Suite("nn", "require 'nn' nn.test()", 212, original="nn"),
    "dpnn, original": Suite("dpnn", "require 'dpnn' dpnn.test()", 32, original="nn,dpnn"),
    "rnn": Suite(
        "rnn",
        f"require 'rnn' {_file('rnn/test/test')} rnn.test()",
        53,
        {**_BY_CHANCE, "RecurrentAttention": "trains until gradients are 1e11, compares to 1e-7"},
    ),
    "rnn, original": Suite(
        "rnn", "require 'rnn' rnn.test()", 54, _BY_CHANCE, original="nn,dpnn,rnn"
    ),
    "torchx": Suite(
        "torchx",
        f"require 'torchx' {_file('torchx/test/test')} torchx.test()",
        6,
        {"MultiCudaTensor": "is not there"},
    ),
    "torchx, original": Suite(
        "torchx", f"require 'dpnn' {_file('torchx/test/test')} torchx.test()", 7, original="torchx"
    ),
    "stn": Suite("stn", "require 'stn' stn.test()", 6),
    "DataParallelTable": Suite(
        "cunn",
        _file("cunn/test_DataParallelTable"),
        14,
        devices=2,
    ),
}
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_RESULT = re.compile(r"\d+/\d+ +(\S+) \.* ?\[(PASS|FAIL|ERROR|SKIP)\]")


@pytest.mark.parametrize("name", SUITES)
def test_suite(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    need(suite.checkout)
    script = tmp_path / "suite.lua"
    script.write_text(f"SOURCES = '{SOURCES}'\n{suite.code}\n")
    original = ["--original", suite.original] if suite.original else []
    ran = run(tmp_path, *original, str(script), devices=suite.devices)
    results = dict(_RESULT.findall(_COLOUR.sub("", ran.stdout).replace("\r", "\n")))
    passed = [test for test, result in results.items() if result == "PASS"]
    others = set(results) - set(passed)
    told = f"not passed: {sorted(others)}\n{ran.stdout[-4000:]}\n{ran.stderr[-2000:]}"
    assert len(passed) >= suite.passing, told
    if suite.failing is not None:
        assert others <= set(suite.failing), told


# Scripts that end in an error where something is wrong.
SCRIPTS = [
    *(f"threads/test/test-{name}.lua" for name in (
        "atomic", "low-level", "threads", "threads-async", "threads-coroutine", "threads-error",
        "threads-multiple", "threads-safe", "threads-shared", "traceback",
    )),
    *(f"nngraph/test/test_{name}.lua" for name in (
        "JustElement", "JustTable", "ModuleFromCriterion", "connectivity", "debug", "nest",
        "nngraph",
    )),
    "optim/test/test_confusion.lua",
]  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_script(script: str, tmp_path: Path) -> None:
    path = need(script)
    if "totem" in path.read_text("latin-1"):
        need("totem")
    ran = run(tmp_path, str(path))
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]


# What minimizing Rosenbrock's function ends in.
MINIMA = {
    "adadelta": 1e-4, "adagrad": 1e-9, "adam": 1e-7, "adamax": 1e-13, "cg": 1e-9, "lbfgs": 1e-6,
    "lbfgs_w_ls": 1e-9, "rmsprop": 1e-4, "sgd": 1e-4,
}  # fmt: skip


@pytest.mark.parametrize("method", MINIMA)
def test_optimizer(method: str) -> None:
    folder = need("optim/test")
    ran = run(folder, f"test_{method}.lua")
    assert ran.returncode == 0, ran.stderr[-4000:]
    values = re.findall(r"^\d+\t(\S+)$", ran.stdout, re.MULTILINE)
    assert float(values[-1]) < MINIMA[method]
