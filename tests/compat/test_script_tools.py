"""Timer, progress, and the namespace that stands for Lua's torch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

from compat import cutorch, nn, t7, xlua
from compat import torch as torch7


def test_timer_runs_stops_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    timer = torch7.Timer()
    now = 103.0
    assert timer.time().real == 3
    assert "running | elapsed: 3.0" in str(timer)
    timer.stop().stop()
    now = 110.0
    assert timer.time().real == 3
    assert "stopped" in str(timer)
    timer.resume()
    now = 111.0
    assert timer.time().real == 4
    assert timer.reset().time().real == 0


def test_timer_counts_the_processor() -> None:
    start, timer = torch7.tic(), torch7.Timer()
    while timer.time().user + timer.time().sys == 0:
        sum(range(10000))
    real, user, system = timer.time()
    assert real > 0 and user + system > 0
    assert torch7.toc(start) >= real


def test_progress_ends_and_starts_anew(capsys: pytest.CaptureFixture) -> None:
    for _ in range(2):
        for i in range(1, 4):
            xlua.progress(i, 3)
    assert xlua._bar is None
    assert capsys.readouterr().err.count("3/3") == 2


def test_progress_begins_a_new_bar_when_it_goes_back(capsys: pytest.CaptureFixture) -> None:
    xlua.progress(2, 3)
    xlua.progress(1, 5)
    xlua.progress(5, 5)
    assert "5/5" in capsys.readouterr().err


def test_progress_begins_a_new_bar_for_another_goal(capsys: pytest.CaptureFixture) -> None:
    xlua.progress(1, 3)
    xlua.progress(4, 4)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "nil"),
        (True, "boolean"),
        (1, "number"),
        (0.5, "number"),
        ("a", "string"),
        ([1], "table"),
        ({}, "table"),
        (print, "function"),
        (object(), "userdata"),
        (torch.ones(1), "torch.FloatTensor"),
        (torch.ones(1).long(), "torch.LongTensor"),
        (nn.Linear(1, 1), "nn.Linear"),
        (nn.MSECriterion(), "nn.MSECriterion"),
    ],
)
def test_type(value: Any, name: str) -> None:
    assert torch7.type(value) == name
    assert torch7.typename(value) == (name if "." in name else None)
    assert torch7.isTensor(value) == name.endswith("Tensor")


def test_objects_of_unknown_classes_keep_their_name() -> None:
    assert torch7.type(t7.TorchObject("my.Class", 1, {})) == "my.Class"


@pytest.mark.parametrize("mode", ["binary", "ascii"])
def test_save_and_load(mode: str, tmp_path: Path) -> None:
    data = {"x": [1, 2.5, "three"], "y": True}
    torch7.save(tmp_path / "file.t7", data, mode)
    assert torch7.load(tmp_path / "file.t7", mode) == data
    assert torch7.load(tmp_path / "file.t7") == data
    assert torch7.deserialize(torch7.serialize(data, mode), mode) == data


def test_the_default_type_is_pytorchs() -> None:
    before = torch7.getdefaulttensortype()
    try:
        torch7.setdefaulttensortype("torch.DoubleTensor")
        assert torch.ones(1).dtype == torch.float64
        assert torch7.getdefaulttensortype() == "torch.DoubleTensor"
        cutorch.configure(["cpu"])
        with pytest.warns(UserWarning, match="torch.CudaTensor means cpu"):
            torch7.setdefaulttensortype("torch.CudaTensor")
        assert torch7.getdefaulttensortype() == "torch.FloatTensor"
    finally:
        torch7.setdefaulttensortype(before)


@pytest.mark.cuda
def test_the_default_type_is_not_on_the_gpu() -> None:
    with pytest.raises(ValueError, match="set_default_device"):
        torch7.setdefaulttensortype("torch.CudaTensor")


def test_random_numbers_are_torch7s() -> None:
    torch7.manualSeed(1)
    first = torch7.uniform(0, 1)
    torch7.manualSeed(1)
    assert torch7.uniform(0, 1) == first


def test_range_includes_its_end() -> None:
    assert torch7.range(1, 4).tolist() == [1, 2, 3, 4]
    assert torch7.range(2, 7, 2.5).tolist() == [2, 4.5, 7]
    assert torch7.range(5, 1, -2).tolist() == [5, 3, 1]
    assert torch7.range(1, 1).dtype == torch.get_default_dtype()
    for step in (0, -1):
        with pytest.raises(ValueError, match=f"step is {step}; one that leads from 1 to 2"):
            torch7.range(1, 2, step)


def test_rand_and_randn_draw_torch7s_numbers() -> None:
    """The numbers were printed by Lua Torch7."""
    torch7.manualSeed(5)
    drawn = torch7.rand(3).tolist() + torch7.randn(3).tolist()
    assert drawn == pytest.approx([0.2220, 0.0552, 0.8707, 0.3328, -0.5936, -1.4679], abs=1e-4)


def test_threads_of_an_operation() -> None:
    before = torch7.getnumthreads()
    try:
        torch7.setnumthreads(1)
        assert torch7.getnumthreads() == torch.get_num_threads() == 1
    finally:
        torch7.setnumthreads(before)
