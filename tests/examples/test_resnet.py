"""The ported training program in examples/resnet."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from support import golden_data, nn_golden, programs
from support.forked_python import forked_python
from support.paths import ROOT

import dptable
from compat import cutorch, nn, t7
from compat import torch as torch7
from compat.cmdline import Options
from dptable import checkpoints

PROGRAM = ROOT / "examples" / "resnet"
PARTS = ("main", "models", "train", "checkpoints", "data", "transforms")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """The modules of the program, which finds them beside it; run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    cutorch.configure(["cpu"] * 2)
    with programs.program("resnet", PARTS, monkeypatch) as found:
        yield found


SMALL = ["--nGPU", "2", "--depth", "8", "--nThreads", "0", "--save", "run"]


def run(program: SimpleNamespace, *arg: str) -> None:
    program.main.main([*SMALL, *arg])


def finished(text: str) -> list[float]:
    """The test errors after each epoch."""
    return [float(found) for found in re.findall(r"Finished epoch # \d+ +top1: +([\d.]+)", text)]


def test_learns_on_two_replicas(program, capsys):
    run(program, "--synthetic", "--nEpochs", "2")
    assert finished(capsys.readouterr().out)[-1] < 25  # chance is 75
    assert {path.name for path in Path("run").iterdir()} == {
        *("latest.t7", "model_1.t7", "model_2.t7", "model_best.t7"),
        *("optimState_1.t7", "optimState_2.t7"),
    }
    table, model, state = checkpoints.latest("run")
    assert table["epoch"] == 2
    assert isinstance(model, nn.Sequential)
    assert state["evalCounter"] == 2 * 4  # 400 images in batches of 128


def test_a_resumed_run_repeats_the_uninterrupted_one(program, capsys):
    run(program, "--synthetic", "--nEpochs", "2", "--save", "whole")
    run(program, "--synthetic", "--nEpochs", "1", "--save", "part")
    capsys.readouterr()
    run(program, "--synthetic", "--nEpochs", "2", "--resume", "part", "--save", "part")
    assert "Loading checkpoint part/latest.t7" in capsys.readouterr().out
    whole, part = (checkpoints.latest(folder) for folder in ("whole", "part"))
    assert part[0] == whole[0]
    for one, other in zip(part[1].parameters()[0], whole[1].parameters()[0], strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(part[2]["dfdx"], whole[2]["dfdx"])


def test_only_tests_a_checkpoint(program, capsys):
    run(program, "--synthetic", "--nEpochs", "1")
    [after_training] = finished(capsys.readouterr().out)
    run(program, "--synthetic", "--resume", "run", "--testOnly")
    text = capsys.readouterr().out
    assert finished(text) == [after_training]
    assert "Training" not in text


def cifar10_batch(n: int, first: int) -> dict[str, Any]:
    """As in cifar-10-torch.tar.gz: an image per column, labels from 0."""
    data = torch.arange(first, first + 3072 * n).remainder(251).view(n, 3072).byte()
    return {"data": data.t().contiguous(), "labels": (torch.arange(n) % 10).byte().view(1, n)}


@pytest.fixture
def cifar10(tmp_path) -> Path:
    folder = tmp_path / "cifar-10-batches-t7"
    folder.mkdir()
    for i in (1, 2):
        t7.save(folder / f"data_batch_{i}.t7", cifar10_batch(20, i), format="ascii")
    t7.save(folder / "test_batch.t7", cifar10_batch(10, 3), format="ascii")
    return folder


def test_reads_the_ascii_files_of_cifar10(program, cifar10):
    (images, labels), (held_out, _) = program.data.cifar(cifar10)
    assert images.shape == (40, 3, 32, 32)
    assert held_out.shape == (10, 3, 32, 32)
    assert labels.tolist() == 4 * list(range(1, 11))
    assert images[21, 1, 0, :3].tolist() == [(2 + 3072 + 1024 + i) % 251 for i in range(3)]


def test_trains_on_cifar10(program, cifar10, capsys):
    run(program, "--data", str(cifar10), "--nEpochs", "1", "--batchSize", "20", "--nThreads", "1")
    assert len(finished(capsys.readouterr().out)) == 1
    assert checkpoints.latest("run")[1].get(1).weight.shape == (16, 3, 3, 3)


def test_trains_on_a_t7_file(program, capsys):
    labels = torch.arange(60) % 3
    table = {"data": torch.rand(60, 1, 8, 8) + labels.view(-1, 1, 1, 1), "labels": labels.byte()}
    t7.save("set.t7", table)
    run(program, "--data", "set.t7", "--labelsFromZero", "--plain", "--nEpochs", "1")
    assert len(finished(capsys.readouterr().out)) == 1


def test_trains_on_folders_of_images(program, capsys):
    image = pytest.importorskip("PIL.Image")
    for part, classes in (("train", "ab"), ("val", "ab")):
        for i, name in enumerate(classes):
            Path("images", part, name).mkdir(parents=True)
            image.new("RGB", (40, 24), (200 * i, 0, 0)).save(f"images/{part}/{name}/1.png")
    run(program, "--data", "images", "--imageSize", "16", "--nEpochs", "1")
    assert len(finished(capsys.readouterr().out)) == 1
    Path("images/val/b").rename("images/val/c")
    with pytest.raises(ValueError, match="the classes in train/ are not those in val/"):
        run(program, "--data", "images")


def test_folders_of_images_need_pillow(program, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    Path("images/train").mkdir(parents=True)
    with pytest.raises(ImportError, match="pip install pillow"):
        run(program, "--data", "images")


@pytest.mark.parametrize("arg", [[], ["--synthetic", "--data", "set.t7"]])
def test_needs_one_source_of_images(program, capsys, arg):
    with pytest.raises(SystemExit):
        run(program, *arg)
    assert "either --data or --synthetic is needed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        (["--nGPU", "1.5"], "--nGPU is 1.5; a whole number is accepted"),
        (["--nGPU", "3"], "--nGPU is 3; there are 2 devices"),
        (["--batchSize", "0"], "--batchSize is 0; a whole number from 1 on is accepted"),
        (["--LR", "-1"], "--LR is -1; a positive number is accepted"),
        (["--depth", "21"], "depth is 21; 6n\\+2"),
        (["--save", "file/run"], "Not a directory: 'file/run'"),
    ],
)
def test_refuses_wrong_options_before_it_trains(program, capsys, arg, message):
    Path("file").touch()
    with pytest.raises((OSError, TypeError, ValueError), match=message):
        run(program, "--synthetic", *arg)
    assert "Training epoch" not in capsys.readouterr().out


def test_an_error_is_one_line(tmp_path):
    ran = subprocess.run(
        [forked_python(), PROGRAM / "main.py", "--data", "none.t7"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert ran.stderr == "main.py: [Errno 2] No such file or directory: 'none.t7'\n"


def test_a_folder_without_images_is_refused(program):
    Path("empty").mkdir()
    with pytest.raises(FileNotFoundError, match="neither train/ nor data_batch"):
        run(program, "--data", "empty")


def test_augmentation_shifts_and_mirrors(program):
    image = torch.arange(12.0).view(1, 3, 4)
    images = program.data.Images([(image, 7)], [0.0], [1.0], augment=True)
    padded = torch.nn.functional.pad(image, (4, 4, 4, 4))
    possible = [
        crop
        for top in range(9)
        for left in range(9)
        for crop in [padded[:, top : top + 3, left : left + 4]]
        for crop in (crop, crop.flip(2))
    ]
    for _ in range(50):
        found, label = images[0]
        assert label == 7
        assert any(torch.equal(found, crop) for crop in possible)


@pytest.fixture
def photographs(tmp_path) -> Path:
    """Folders of images of several shapes, of two colours."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "photographs"
    for part in ("train", "val"):
        for i, name in enumerate("ab"):
            (folder / part / name).mkdir(parents=True)
            for n, size in enumerate([(40, 60), (60, 40), (50, 50)]):
                color = (200 * i, 30 * n, 90)
                image.new("RGB", size, color).save(folder / part / name / f"{n}.png")
    return folder


@pytest.mark.parametrize("netType", ["resnet", pytest.param("preresnet", marks=pytest.mark.slow)])
def test_trains_as_on_imagenet_with_the_options_of_lua(program, photographs, capsys, netType):
    arg = ["-data", str(photographs), "-dataset", "imagenet", "-depth", "18", "-netType", netType]
    arg += ["-nEpochs", "1", "-tenCrop", "true", "-testOnly", "false", "-resume", "none"]
    run(program, *arg, "-imageSize", "32", "-batchSize", "3", "-precision", "double")
    assert len(finished(capsys.readouterr().out)) == 1
    model = checkpoints.latest("run")[1]
    assert [len(model.findModules(f"nn.{name}")[0]) for name in ("ConcatTable", "Linear")] == [8, 1]
    assert model.get(1).weight.shape == (64, 3, 7, 7)


def test_a_model_is_retrained_with_another_last_layer(program, capsys):
    run(program, "--synthetic", "--nEpochs", "1")
    before = t7.load("run/model_1.t7")
    arg = ["-retrain", "run/model_1.t7", "-resetClassifier", "true", "-nClasses", "7"]
    run(program, "--synthetic", *arg, "-nEpochs", "1", "-LR", "1e-9", "-save", "again")
    after = t7.load("again/model_1.t7")
    assert after.get(-1).weight.shape == (7, 64)
    torch.testing.assert_close(after.get(1).weight, before.get(1).weight)
    with pytest.raises(SystemExit):
        run(program, "--synthetic", "-resetClassifier", "true")
    assert "--nClasses is needed" in capsys.readouterr().err


def test_images_come_in_the_order_of_torch7(program):
    order = program.data.Order(10)
    torch7.manualSeed(5)
    found = list(order), list(order)
    torch7.manualSeed(5)
    assert found == tuple((torch7.randperm(10).long() - 1).tolist() for _ in range(2))
    torch7.manualSeed(5)
    order.begin = 4
    assert (list(order), list(order)) == (found[0][4:], found[1])


def test_half_precision(program, capsys):
    run(program, "--synthetic", "--nEpochs", "1", "-precision", "half")
    assert finished(capsys.readouterr().out)[0] < 75
    assert checkpoints.latest("run")[1].type() == "torch.FloatTensor"


def test_stops_when_the_loss_is_no_number(program, capsys):
    with pytest.raises(ArithmeticError, match=r"the loss is (nan|inf) in step \d+ of epoch 1; try"):
        run(program, "--synthetic", "-LR", "1e30", "--nEpochs", "1", "-batchSize", "32")
    assert not Path("run/latest.t7").exists()


@pytest.mark.parametrize("at", ["train", "test"])
def test_an_interrupted_run_goes_on_where_it_was(program, monkeypatch, capsys, at):
    arg = ["--synthetic", "--nEpochs", "2", "--batchSize", "100", "-depth", "8"]
    run(program, *arg, "--save", "whole")
    real, steps = getattr(program.train.Trainer, at), []

    def interrupted(self: Any, *given: Any) -> Any:
        def stopped() -> bool:
            steps.append(1)
            if len(steps) == 2:
                signal.raise_signal(signal.SIGTERM)
            return given[-1]()

        return real(self, *given[:-1], stopped)

    with monkeypatch.context() as patch:
        patch.setattr(program.train.Trainer, at, interrupted)
        assert program.main.main([*SMALL, *arg]) == 143
    assert "Interrupted; to go on: --resume run" in capsys.readouterr().out
    assert checkpoints.latest("run")[0]["step"] == (2 if at == "train" else 4)
    run(program, *arg, "--resume", "run")
    whole, part = (checkpoints.latest(folder) for folder in ("whole", "run"))
    assert part[0] == whole[0]
    for one, other in zip(part[1].parameters()[0], whole[1].parameters()[0], strict=True):
        torch.testing.assert_close(one, other)


def test_ten_crops_are_those_of_the_corners_and_the_middle(program):
    image = torch.arange(3 * 5 * 7.0).view(3, 5, 7)
    crops = program.transforms.ten_crop(3)(image)
    assert crops.shape == (10, 3, 3, 3)
    torch.testing.assert_close(crops[0], image[:, 1:4, 2:5])
    torch.testing.assert_close(crops[2], image[:, :3, 4:])
    torch.testing.assert_close(crops[8], image.flip(2)[:, 2:, :3])
    scores = torch.tensor([[3.0, 0], [0, 1], [0, 1], [0, 1.5]])
    taught = trainer(program, nn.Linear(2, 2), {"learningRate": 0.2})
    assert taught.computeScore(scores, torch.tensor([1, 2]), 2)[0] == 0


def test_training_transforms_keep_the_size(program):
    image = torch.rand(3, 40, 60)
    ready = program.transforms.imagenet_training(32)
    assert {ready(image).shape for _ in range(20)} == {(3, 32, 32)}


def trainer(program: SimpleNamespace, model: Any, state: dict[str, Any]) -> Any:
    """A Trainer whose learning rate is that of `state`."""
    opt = Options(LR=state["learningRate"], manualSeed=0)
    return program.train.Trainer(model, nn.CrossEntropyCriterion(), opt, state)


@pytest.mark.parametrize("gpus", [[1], [1, 2]])
def test_repeats_the_recorded_training_of_a_residual_net(program, gpus):
    """Replicas that share the statistics of the batch compute what Torch7 did with one net."""
    case = golden_data.load_cases("composite", "ResNet")[0]
    recorded = case["trajectory"]
    dpt = dptable.DataParallelTable(1, True, statistics="synchronised").add(case["module"], gpus)
    dpt.threads()
    taught = trainer(program, dpt.double(), recorded["config"])
    batches = [(case["input"], recorded["target"])]
    losses = [taught.train(1, batches)[2] for _ in recorded["losses"]]
    try:
        tolerance = {"rtol": 1e-9, "atol": 1e-9}
        assert losses == pytest.approx(recorded["losses"].tolist(), rel=1e-9)
        torch.testing.assert_close(taught.params, recorded["flat"], **tolerance)
        dfdx = taught.optimState["dfdx"]
        torch.testing.assert_close(dfdx, recorded["optimState"]["dfdx"], **tolerance)
        assert taught.optimState["evalCounter"] == recorded["optimState"]["evalCounter"]
        for path, expected in recorded["buffers"].items():
            found = nn_golden.at_path(dpt.get(1), path)
            torch.testing.assert_close(found, expected, **tolerance)
    finally:
        dpt.close()


def test_goes_on_with_the_folder_of_a_torch7_run(program, golden):
    expected = t7.load(golden / "dpt" / "checkpoint" / "expected.t7")
    _, saved, state = program.checkpoints.latest(Options(resume=golden / "dpt" / "checkpoint"))
    opt = Options(nGPU=2, LR=state["learningRate"], manualSeed=0)
    model, criterion = program.models.setup(opt, 0, (0, 0, 0), saved)
    taught = program.train.Trainer(model, criterion, opt, state)
    batches = [(expected["input"], expected["target"])]
    losses = [taught.train(6, batches)[2] for _ in expected["lossesAfter"]]
    model.close()
    assert losses == pytest.approx(list(expected["lossesAfter"]), rel=1e-5)
    torch.testing.assert_close(taught.params, expected["params"].float(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("epoch", "rate"), [(1, 0.2), (80, 0.2), (81, 0.02), (121, 0.02), (122, 0.002)]
)
def test_learning_rates(program, epoch, rate):
    taught = trainer(program, nn.Linear(2, 2), {"learningRate": 0.2})
    assert taught.learningRate(epoch) == pytest.approx(rate)


def test_errors_count_from_one(program):
    taught = trainer(program, nn.Linear(2, 2), {"learningRate": 0.2})
    output = torch.eye(7)[[0, 1, 2, 3]]
    output[3, 5] = 2
    assert taught.computeScore(output, torch.tensor([1, 2, 3, 4])) == (25, 0)
    assert torch7.type(taught.params) == "torch.FloatTensor"
