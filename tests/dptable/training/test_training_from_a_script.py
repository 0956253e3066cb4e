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
        ({"lr": 0.0}, "lr is 0.0; a positive number is accepted"),
        ({"momentum": -0.1}, "momentum is -0.1; a positive number or 0 is accepted"),
        ({"model": "vgg"}, "model is 'vgg'; 'lenet', 'mlp' or 'resnet' is accepted"),
        ({"schedule": "often"}, "schedule is 'often'; 'constant', 'cosine' or epochs"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**options)
