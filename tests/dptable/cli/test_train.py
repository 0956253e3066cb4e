"""`dptable train`."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from support.checkpoints import parameters
from support.forked_python import forked_python

from compat import cutorch, optim, t7
from compat.nn.compiled import operators
from dptable import checkpoints
from dptable import devices as hardware
from dptable.cli import main
from dptable.cli.train import _chosen_gpus, _output_folder
from dptable.prefetch import Prefetcher
from dptable.training import Options, Trainer, new_folder


@pytest.fixture
def bars(tmp_path, monkeypatch):
    """A data set of 4x4 images, whose class is the row that is bright."""
    monkeypatch.chdir(tmp_path)
    labels = torch.arange(200) % 4 + 1
    generator = torch.Generator().manual_seed(0)
    data = torch.rand(200, 1, 4, 4, generator=generator)
    data[torch.arange(200), 0, labels - 1] += 1
    t7.save("bars.t7", {"data": data, "labels": labels.to(torch.uint8)})
    return "bars.t7"


@pytest.fixture
def train(bars, capsys):
    """Train a small net on the bars; gives the exit code, what was printed, and the parameters."""

    def run(*argv, resume=False):
        fresh = ["--data", bars, "--model", "mlp", "--batch-size", "24", "--seed", "3"]
        code = main(["train", *([] if resume else fresh), *argv])
        output = capsys.readouterr()
        return SimpleNamespace(code=code, out=output.out, err=output.err)

    return run


def test_learns_and_reports(train, tmp_path):
    result = train("--epochs", "4", "--output", "run")
    assert result.code == 0, result.err
    assert float(re.search(r"Test accuracy: ([\d.]+) %", result.out)[1]) > 90
    assert "on cpu, cpu" in result.out or "on cuda:0" in result.out
    assert "ConfusionMatrix" in result.out
    assert "dptable train --resume run" in result.out
    if find_spec("matplotlib"):
        assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    table, _, state = checkpoints.latest("run")
    assert table["epoch"] == 4
    assert len(table["history"]) == 4
    assert state["evalCounter"] == 4 * 7  # 160 images in batches of 24


@pytest.mark.parametrize("threads", ["--threads", "--no-threads"])
@pytest.mark.parametrize("ngpus", ["1", "3"])
def test_resuming_on_other_devices_changes_nothing(train, threads, ngpus):
    train("--epochs", "4", "--schedule", "2", "--output", "whole", "--no-threads")
    train("--epochs", "2", "--schedule", "2", "--output", "part", threads)
    result = train("--resume", "part", "--epochs", "4", "--ngpus", ngpus, threads, resume=True)
    assert "Resuming after epoch 2, step 0" in result.out
    torch.testing.assert_close(parameters("part"), parameters("whole"), rtol=1e-4, atol=1e-5)
    assert len(checkpoints.latest("part")[0]["history"]) == 4


def test_ctrl_c_leaves_a_checkpoint_that_resumes(train, monkeypatch):
    train("--epochs", "3", "--output", "whole")
    step, steps = Trainer.step, []

    def interrupted(self, input, target):
        steps.append(1)
        if len(steps) == 10:
            signal.raise_signal(signal.SIGINT)
        return step(self, input, target)

    monkeypatch.setattr(Trainer, "step", interrupted)
    stopped = train("--epochs", "3", "--output", "part")
    assert stopped.code == 130
    assert "dptable train --resume part" in stopped.out
    table, _, state = checkpoints.latest("part")
    assert (table["epoch"], table["step"], state["evalCounter"]) == (1, 3, 10)

    resumed = train("--resume", "part", resume=True)
    assert "Resuming after epoch 1, step 3" in resumed.out
    torch.testing.assert_close(parameters("part"), parameters("whole"), rtol=1e-4, atol=1e-5)
    histories = [checkpoints.latest(folder)[0]["history"] for folder in ("part", "whole")]
    for row, expected in zip(*histories, strict=True):
        assert row == pytest.approx(expected, rel=1e-4)


def test_ctrl_c_in_a_test_costs_neither_the_epoch_nor_the_rest_of_the_test(train, monkeypatch):
    train("--epochs", "2", "--output", "whole", "--batch-size", "7")
    add, batches = optim.ConfusionMatrix.batchAdd, []

    def interrupted(self, *arguments):
        batches.append(1)
        if len(batches) == 2:
            signal.raise_signal(signal.SIGINT)
        return add(self, *arguments)

    monkeypatch.setattr(optim.ConfusionMatrix, "batchAdd", interrupted)
    stopped = train("--epochs", "2", "--output", "part", "--batch-size", "7")
    assert (stopped.code, len(batches)) == (130, 2)
    table = checkpoints.latest("part")[0]
    assert (table["epoch"], table["step"], table["tally"]["images"]) == (0, 23, 160)

    resumed = train("--resume", "part", resume=True)
    assert resumed.code == 0 and resumed.out.count("epoch   ") == 2, resumed.err
    torch.testing.assert_close(parameters("part"), parameters("whole"), rtol=1e-4, atol=1e-5)
    histories = [checkpoints.latest(folder)[0]["history"] for folder in ("part", "whole")]
    for row, expected in zip(*histories, strict=True):
        assert row == pytest.approx(expected, rel=1e-4)


def test_a_finished_run_can_be_tested_again(train):
    train("--epochs", "1", "--output", "run")
    again = train("--resume", "run", resume=True)
    assert again.code == 0
    assert "epoch   2" not in again.out
    assert "Test accuracy" in again.out
    assert "Nothing is left to train of --epochs 1" in again.out


def test_a_run_that_is_past_the_epochs_wanted_tells_how_to_go_on(train):
    train("--epochs", "3", "--output", "run")
    again = train("--resume", "run", "--epochs", "2", resume=True)
    assert "Nothing is left to train of --epochs 2" in again.out
    assert "dptable train --resume run --epochs 6" in again.out


def test_the_folder_of_a_torch7_run_can_be_gone_on_with(capsys, golden, tmp_path):
    recorded = t7.load(golden / "dpt" / "checkpoint" / "expected.t7")
    images = {"data": recorded["input"], "labels": recorded["target"]}
    t7.save(tmp_path / "set.t7", {"train": images, "test": images})
    folder = shutil.copytree(golden / "dpt" / "checkpoint", tmp_path / "run")
    argv = ["train", "--resume", str(folder), "--data", str(tmp_path / "set.t7"), "--epochs", "6"]
    assert main(argv) == 0, capsys.readouterr().err
    table, _, state = checkpoints.latest(folder)
    assert (table["epoch"], state["evalCounter"]) == (6, 6)
    before = t7.load(folder / "optimState_5.t7")
    for key in ("learningRate", "momentum", "dampening", "nesterov", "weightDecay"):
        assert state[key] == before[key]


def test_a_checkpoint_is_not_overwritten_by_another_run(train):
    train("--epochs", "1", "--output", "run")
    refused = train("--epochs", "1", "--output", "run")
    assert refused.code == 1
    assert "run holds a checkpoint" in refused.err


def test_unnamed_runs_get_folders_of_their_own(train, tmp_path):
    train("--epochs", "1")
    train("--epochs", "1")
    assert checkpoints.exists(tmp_path / "runs" / "mlp")
    assert checkpoints.exists(tmp_path / "runs" / "mlp-2")


def test_unnamed_runs_that_start_together_get_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: new_folder("mlp"), range(12)))
    assert sorted(folders) == sorted({*folders}) and Path("runs/mlp") in folders


def test_a_checkpoint_keeps_its_net(train):
    train("--epochs", "1", "--output", "run")
    refused = train("--resume", "run", "--model", "lenet", resume=True)
    assert refused.err == "dptable: model is 'lenet'; that of the net in run, 'mlp', is accepted\n"


def test_a_folder_that_cannot_be_made_costs_no_epoch(train, tmp_path):
    (tmp_path / "file").touch()
    refused = train("--epochs", "1", "--output", str(tmp_path / "file" / "run"))
    assert refused.code == 1
    assert "epoch" not in refused.out and str(tmp_path / "file" / "run") in refused.err


def test_a_loss_that_is_not_finite_stops_the_run(train):
    failed = train("--epochs", "1", "--lr", "1e30", "--output", "run")
    assert failed.code == 1
    told = r"the loss is not finite, from .+, in step \d+ of epoch 1; try a learning rate below"
    assert re.search(told, failed.err), failed.err
    assert not checkpoints.exists("run")


def test_labels_from_zero(train):
    table = t7.load("bars.t7")
    t7.save("bars.t7", {**table, "labels": table["labels"] - 1})
    assert "--labels-from-zero" in train("--epochs", "1").err
    assert train("--epochs", "1", "--labels-from-zero").code == 0


@pytest.mark.parametrize("model", ["lenet", "resnet"])
def test_other_models(train, model):
    assert train("--epochs", "1", "--model", model, "--depth", "8").code == 0


@pytest.mark.parametrize(
    ("schedule", "epoch", "expected"),
    [
        ("constant", 1, 0.8),
        ("constant", 40, 0.8),
        ("cosine", 1, 0.8),
        ("cosine", 21, 0.4),
        ("cosine", 50, 0.0),
        ("10,30", 10, 0.8),
        ("10,30", 11, 0.08),
        ("10,30", 31, 0.008),
    ],
)
def test_schedules(schedule, epoch, expected):
    options = Options(lr=0.8, schedule=schedule, epochs=40)
    assert options.learningRate(epoch) == pytest.approx(expected)


def test_an_unknown_schedule_is_refused_before_anything_happens(train, tmp_path):
    refused = train("--schedule", "often", "--output", "run")
    assert "schedule is 'often'; 'constant', 'cosine' or epochs" in refused.err
    assert not (tmp_path / "run").exists()


def test_options_given_now_win_over_those_of_the_checkpoint():
    options = Options.merged({"epochs": 3, "lr": 0.5, "unknown": 1}, {"epochs": 9})
    assert (options.epochs, options.lr) == (9, 0.5)


@pytest.mark.parametrize(
    ("devices", "ngpus", "gpus", "count"),
    [
        (None, 2, [1, 2], 4),
        (None, 6, [1, 2, 3, 4, 5, 6], 6),
        ("3,1", 2, [3, 1], 4),
        ("cpu,cpu,cpu", 2, [1, 2, 3], 3),
    ],
)
def test_device_lists(devices, ngpus, gpus, count):
    cutorch.configure(["cpu"] * 4)
    assert _chosen_gpus(devices, ngpus) == gpus
    assert cutorch.getDeviceCount() == count


def test_the_number_of_devices_is_that_of_the_list():
    with pytest.raises(ValueError, match="ngpus is 2, devices lists 3; one of"):
        _chosen_gpus("cpu,cpu,cpu", 2, asked=2)


@pytest.mark.parametrize(("asked", "wanted"), [(None, 4), (1, 1), (3, 3)])
def test_devices_auto_chooses(asked, wanted, monkeypatch):
    cutorch.configure(["cpu"] * 4)
    chosen = []
    choose = hardware.choose
    monkeypatch.setattr(hardware, "choose", lambda n: chosen.append(n) or choose(n))
    assert _chosen_gpus("auto", 2, asked) == list(range(1, wanted + 1))
    assert chosen == [asked] and cutorch.getDeviceCount() == wanted
    with pytest.raises(ValueError, match="count is 5; 1 to"):
        _chosen_gpus("auto", 2, 5)


def test_devices_auto_trains_and_looks_for_imbalance(train, monkeypatch):
    cutorch.configure(["cpu"] * 3)
    looked = []
    monkeypatch.setattr(hardware, "warn_about_imbalance", looked.append)
    result = train("--devices", "auto", "--ngpus", "2", "--epochs", "1", "--output", "run")
    assert result.code == 0, result.err
    assert "on cpu, cpu;" in result.out and looked == [[1, 2]]


def test_batches_come_from_a_prefetcher(train, monkeypatch):
    drawn = []

    class Watched(Prefetcher):
        def __iter__(self):
            for batch in super().__iter__():
                drawn.append((self.device, len(batch[0])))
                yield batch

    monkeypatch.setattr("dptable.training.trainer.Prefetcher", Watched)
    train("--devices", "cpu,cpu", "--epochs", "1", "--output", "run")

    assert [size for _, size in drawn] == [*[24] * 6, 16, 24, 16]
    assert {device for device, _ in drawn} == {torch.device("cpu")}


def test_capture_on_cpus_is_computed_normally_and_says_so(train):
    with pytest.warns(UserWarning, match="capture: cpu is not a GPU"):
        result = train("--devices", "cpu,cpu", "--capture", "--epochs", "1", "--output", "run")
    assert result.code == 0, result.err
    train("--devices", "cpu,cpu", "--epochs", "1", "--output", "plain")
    assert torch.equal(parameters("run"), parameters("plain"))


def test_compiled_replicas_train_the_same_net(train, monkeypatch):
    graphs = []
    monkeypatch.setattr(operators, "inductor", lambda graph, inputs: graphs.append(graph) or graph)
    result = train("--devices", "cpu,cpu", "--compile", "--epochs", "1", "--output", "run")
    assert result.code == 0, result.err
    assert graphs
    train("--devices", "cpu,cpu", "--epochs", "1", "--output", "plain")
    torch.testing.assert_close(parameters("run"), parameters("plain"), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("devices", ["0,1", "9", "tpu7", "cpu,,cpu"])
def test_devices_that_do_not_exist_are_refused(devices):
    cutorch.configure(["cpu"] * 4)
    with pytest.raises(ValueError, match=r"device|GPU id"):
        _chosen_gpus(devices, 2)


def test_resuming_into_the_same_folder_by_name(train):
    train("--epochs", "1", "--output", "run")
    args = SimpleNamespace(output="run", resume="run/")
    assert _output_folder(args).name == "run"


def test_lenet_on_two_cpu_replicas_passes_97_percent(tmp_path, capsys):
    code = main(["train", "--devices", "cpu,cpu", "--output", str(tmp_path / "run")])
    assert code == 0
    assert float(re.search(r"Test accuracy: ([\d.]+) %", capsys.readouterr().out)[1]) > 97


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("times", [1, 1000])
def test_ctrl_c_at_the_terminal(tmp_path, times):
    """Once leaves a checkpoint; whoever presses the keys until the end reads nothing."""
    command = [forked_python(), "-m", "dptable", "train", "--epochs", "10000", "--output", "run"]
    run = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
    )
    try:
        for line in run.stdout:
            if line.startswith("epoch"):
                break
        run.send_signal(signal.SIGINT)
        for _ in range(times - 1):
            time.sleep(0.02)
            if run.poll() is not None:
                break
            run.send_signal(signal.SIGINT)
        rest, errors = run.communicate(timeout=60)
    finally:
        run.kill()
    assert "Traceback" not in errors and "Error" not in errors
    assert run.returncode == 130 or (times > 1 and run.returncode == -signal.SIGINT)
    if times == 1:
        assert "Interrupted" in rest
        assert checkpoints.latest(tmp_path / "run")[2]["evalCounter"] > 0


def test_a_clock_that_is_set_while_a_run_trains_changes_nothing(train, monkeypatch):
    train("--epochs", "2", "--output", "whole")
    jumps = random.Random(1)
    monkeypatch.setattr(time, "time", lambda: jumps.uniform(-1e9, 4e9))
    monkeypatch.setattr(time, "time_ns", lambda: int(jumps.uniform(-1e18, 4e18)))
    result = train("--epochs", "2", "--output", "set")
    assert result.code == 0, result.err
    torch.testing.assert_close(parameters("set"), parameters("whole"), rtol=0, atol=0)
    for told in re.findall(r"(-?[\d.]+) s\b", result.out):
        assert 0 <= float(told) < 60
