"""Logger against its recordings, and its plots."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from support.golden_data import load_cases

from compat import optim, t7


@pytest.mark.parametrize("case", load_cases("optim", "Logger"), ids=lambda case: case["name"])
def test_recording(case: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "some" / "folder" / "log.txt"
    logger = optim.Logger(str(file))
    for op in case["ops"]:
        arguments = op["args"] or []
        if op["ok"]:
            getattr(logger, op["op"])(*arguments)
        else:
            with pytest.raises((TypeError, ValueError)):
                getattr(logger, op["op"])(*arguments)
        assert file.read_bytes() == op["content"].encode()
    assert file.read_bytes() == case["content"].encode()
    for field in ("names", "symbols", "styles", "idx", "empty", "nsymbols", "showPlot", "logscale"):
        # Compared as text: nan is not equal to itself.
        assert repr(getattr(logger, field)) == repr(case[field])
    assert logger.defaultStyle == case["defaultStyle"]


def test_columns_keep_the_order_of_a_dict(tmp_path: Path) -> None:
    logger = optim.Logger(str(tmp_path / "log"))
    logger.add({"train": 1, "a test": torch.tensor(0.5)})
    assert (tmp_path / "log").read_text() == "train\ta test\t\n 1.0000e+00\t 5.0000e-01\t\n"
    assert logger.symbols == {"train": [1], "a test": [0.5]}


def test_the_timestamp_is_in_the_file_name_only(tmp_path: Path) -> None:
    logger = optim.Logger(str(tmp_path / "log"), True)
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"log-\d{4}_\d\d_\d\d_.+", file.name)
    assert logger.name == str(tmp_path / "log")


def test_without_a_name_it_writes_to_standard_output(capsys: pytest.CaptureFixture) -> None:
    optim.Logger().setNames(["a"]).add([2])
    warning = "<Logger> warning: no path provided, logging to std out\n"
    assert capsys.readouterr().out == warning + "a\t\n 2.0000e+00\t\n"


def filled(path: Path) -> optim.Logger:
    logger = optim.Logger(str(path)).setNames(["train", "test", "note"])
    for i in range(1, 4):
        logger.add([1 / i, 2 / i, "fine"])
    return logger


@pytest.mark.needs("matplotlib")
def test_plot_draws_the_columns_of_numbers(tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    logger.style({1: "-", 2: ["+-", "|"]}).setlogscale(True)
    logger.plot()
    both = (tmp_path / "log.png").read_bytes()
    assert both.startswith(b"\x89PNG")
    logger.plot("train")
    assert (tmp_path / "log.png").read_bytes() != both


@pytest.mark.needs("matplotlib")
def test_plot_has_logarithmic_axes_and_styles(tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    pictures = set()
    for change in (None, logger.setlogscale, lambda: logger.style(["-", "|", "+"])):
        if change:
            change()
        logger.plot()
        pictures.add((tmp_path / "log.png").read_bytes())
    assert len(pictures) == 3


@pytest.mark.needs("matplotlib")
def test_plot_writes_nothing_without_a_figure_file(tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    logger.epsfile = None
    logger.plot()
    assert not (tmp_path / "log.png").exists()


def test_plot_needs_two_values(tmp_path: Path) -> None:
    optim.Logger(str(tmp_path / "log")).plot()
    assert not (tmp_path / "log.png").exists()


def test_plot_refuses_what_it_cannot_draw(tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    with pytest.raises(ValueError, match="the column is 'loss'; 'train', 'test' or 'note' is"):
        logger.plot("loss")
    with pytest.raises(ValueError, match="column 'note' has strings"):
        logger.plot("note")
    logger.style({1: "with impulses"})
    with pytest.raises(ValueError, match=r"style is 'with impulses'; '-', '\+', "):
        logger.plot()
    logger.plotRawCmd = "set key left"
    with pytest.raises(ValueError, match="commands of gnuplot"):
        logger.plot()


def test_plot_says_that_it_needs_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    logger = filled(tmp_path / "log")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        logger.plot()


@pytest.mark.parametrize("style", [1, None, True])
def test_other_styles_are_refused(style: Any, tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    with pytest.raises(TypeError, match=r"style is .*; a string or a list of strings"):
        logger.style(["-", style])
    assert logger.styles == [["+"], ["+"], ["+"]]


def test_a_logger_from_a_file_goes_on(tmp_path: Path) -> None:
    logger = filled(tmp_path / "log")
    before = (tmp_path / "log").read_text()
    again = t7.loads(t7.dumps(logger))
    for field in ("name", "names", "symbols", "styles", "idx", "logscale", "epsfile"):
        assert getattr(again, field) == getattr(logger, field)
    again.add([4, 5, "six"])
    assert (tmp_path / "log").read_text() == before + " 4.0000e+00\t 5.0000e+00\tsix\t\n"


def test_a_new_logger_survives_a_file(tmp_path: Path) -> None:
    again = t7.loads(t7.dumps(optim.Logger(str(tmp_path / "log"))))
    again.add({"a": 1})
    assert (tmp_path / "log").read_text() == "a\t\n 1.0000e+00\t\n"
