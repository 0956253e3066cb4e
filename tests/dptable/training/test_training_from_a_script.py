"""The parts of ``dptable train``, put together by a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat import nn, random
from dptable import checkpoints, data, models
from dptable.training import Options, Session, Trainer, new_folder, replicated


def test_a_session_trains_saves_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = data.load().normalized()
    opt = Options(model="mlp", epochs=1, batch_size=256, ngpus=2)
    random.manualSeed(opt.seed)
    table = replicated(models.mlp(dataset.classes, *dataset.size, hidden=[8]), [1, 2], True)
    try:
        trainer = Trainer(table, nn.CrossEntropyCriterion().float(), opt)
        assert Session(trainer, dataset, tmp_path, {}, ["cpu", "cpu"]).run() == 0
    finally:
        table.close()
    assert "Test accuracy" in capsys.readouterr().out
    latest, model, _ = checkpoints.latest(tmp_path)
    assert latest["epoch"] == 1 and latest["opt"]["model"] == "mlp"
    assert model.get(2).weight.shape == (8, 64)


def test_runs_get_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [str(new_folder("lenet")) for _ in range(2)] == ["runs/lenet", "runs/lenet-2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": 0.0}, r"lr is 0.0; a number above 0, up to 1e\+30 is accepted"),
        ({"lr": float("nan")}, "lr is nan; a number above 0"),
        ({"momentum": -0.1}, "momentum is -0.1; a number from 0 to 1 is accepted"),
        ({"ngpus": 99_999_999}, "ngpus is 99999999; a number from 1 to 1,024 is accepted"),
        ({"ngpus": True}, "ngpus is True; a whole number is accepted"),
        ({"batch_size": 1.5}, "batch_size is 1.5; a whole number is accepted"),
        ({"seed": 2**64}, "seed is 18446744073709551616; a number from -4,503,599,627,370,496 to"),
        ({"lr": "high"}, "lr is 'high'; a number is accepted"),
        ({"data": 3}, "data is an int; a string is accepted"),
        ({"threads": 1}, "threads is an int; True or False is accepted"),
        ({"schedule": "0"}, "schedule is '0'; 'constant', 'cosine' or epochs"),
        ({"model": "vgg"}, "model is 'vgg'; 'lenet', 'mlp' or 'resnet' is accepted"),
        ({"schedule": "often"}, "schedule is 'often'; 'constant', 'cosine' or epochs"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Options(**options)
