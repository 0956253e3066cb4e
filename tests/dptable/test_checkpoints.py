"""Checkpoint folders."""

from __future__ import annotations

import pytest
import torch

from compat import nn, optim, t7
from dptable import checkpoints
from dptable.container.data_parallel_table import DataParallelTable


def small_net() -> nn.Module:
    return nn.Sequential().add(nn.Linear(4, 3)).add(nn.Tanh()).add(nn.Linear(3, 2)).float()


def test_round_trip(tmp_path):
    net = small_net()
    net.forward(torch.randn(2, 4))
    checkpoints.save(tmp_path / "run", 3, net, {"evalCounter": 7}, history=[1, 2])
    table, model, state = checkpoints.latest(tmp_path / "run")
    assert table["epoch"] == 3
    assert table["history"] == [1, 2]
    assert state == {"evalCounter": 7}
    for saved, original in zip(model.parameters()[0], net.parameters()[0], strict=True):
        assert torch.equal(saved, original)


def test_files_are_named_as_torch7_scripts_name_them(tmp_path):
    checkpoints.save(tmp_path, 3, small_net(), {"evalCounter": 7})
    assert {path.name for path in tmp_path.iterdir()} == {
        "latest.t7",
        "model_3.t7",
        "optimState_3.t7",
    }
    assert t7.load(tmp_path / "latest.t7")["modelFile"] == "model_3.t7"


def test_saving_leaves_the_model_in_training_alone(tmp_path):
    net = small_net()
    parameters, _ = net.getParameters()
    output = net.forward(torch.randn(2, 4))
    checkpoints.save(tmp_path, 1, net, {})
    assert net.output is output
    assert net.parameters()[0][0].data_ptr() == parameters.data_ptr()


def test_the_saved_model_is_cleared(tmp_path):
    net = small_net()
    net.forward(torch.randn(500, 4))
    checkpoints.save(tmp_path, 1, net, {})
    _, model, _ = checkpoints.latest(tmp_path)
    assert model.output is None or model.output.numel() == 0


def test_a_container_is_saved_as_one_replica(tmp_path):
    dpt = DataParallelTable(1).add(small_net(), ["cpu", "cpu"])
    checkpoints.save(tmp_path, 1, dpt, {})
    assert isinstance(t7.load(tmp_path / "model_1.t7"), nn.Sequential)


def test_averaged_statistics_are_saved(tmp_path):
    dpt = DataParallelTable(1, statistics="averaged")
    dpt.add(nn.BatchNormalization(4).float(), ["cpu", "cpu"])
    dpt.forward(torch.randn(8, 4))
    checkpoints.save(tmp_path, 1, dpt, {})
    saved = t7.load(tmp_path / "model_1.t7").running_mean
    torch.testing.assert_close(saved, dpt.evaluate().get(1).running_mean)
    wanted = torch.stack(dpt.exec(lambda m, i: m.running_mean)).mean(0)
    torch.testing.assert_close(saved, wanted)


def test_a_crash_while_saving_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    checkpoints.save(tmp_path, 1, small_net(), {"evalCounter": 1})
    save = t7.save

    def failing(path, value):
        if path.name == "latest.t7":
            raise OSError("disk full")
        save(path, value)

    monkeypatch.setattr(t7, "save", failing)
    with pytest.raises(OSError, match="disk full"):
        checkpoints.save(tmp_path, 1, small_net(), {"evalCounter": 2}, step=5)
    table, _, state = checkpoints.latest(tmp_path)
    assert (table["epoch"], table["step"], state) == (1, 0, {"evalCounter": 1})


def test_file_names_with_the_folder_of_the_run_are_found_in_the_folder_given(tmp_path):
    checkpoints.save(tmp_path, 3, small_net(), {"evalCounter": 7})
    table = t7.load(tmp_path / "latest.t7")
    paths = {key: f"checkpoints/{table[key]}" for key in ("modelFile", "optimFile")}
    t7.save(tmp_path / "latest.t7", {**table, **paths})
    assert checkpoints.latest(tmp_path)[2] == {"evalCounter": 7}


def test_a_folder_without_checkpoint_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no checkpoint.*latest\.t7"):
        checkpoints.latest(tmp_path)
    with pytest.raises(FileNotFoundError, match="no checkpoint, no such folder"):
        checkpoints.latest(tmp_path / "none")


def test_optimizer_state_moves_to_the_parameters():
    state = {"dfdx": torch.zeros(3, dtype=torch.float64), "evalCounter": 4}
    moved = checkpoints.moved(state, like=torch.zeros(1))
    assert moved["dfdx"].dtype == torch.float32
    assert moved["evalCounter"] == 4


@pytest.mark.parametrize("name", ["sgd", "adam", "lbfgs"])
def test_bfloat16_training_goes_on(name, tmp_path):
    net = small_net().type(torch.bfloat16)
    params, _ = net.getParameters()
    config = {"learningRate": 0.1, "momentum": 0.9, "maxIter": 3}

    def bowl(x):
        return float((x.float() ** 2).sum()), 2 * x

    state = {}
    getattr(optim, name)(bowl, params, config, state)
    checkpoints.save(tmp_path, 1, net, state)
    _, model, saved = checkpoints.latest(tmp_path)
    resumed, _ = model.type(torch.bfloat16).getParameters()
    assert torch.equal(resumed, params)
    getattr(optim, name)(bowl, resumed, config, checkpoints.moved(saved, like=resumed))
    getattr(optim, name)(bowl, params, config, state)
    assert torch.equal(resumed, params)


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
def test_folder_of_a_torch7_run_resumes_as_it_did_there(golden, threads):
    expected = t7.load(golden / "dpt" / "checkpoint" / "expected.t7")
    table, model, optimState = checkpoints.latest(golden / "dpt" / "checkpoint")
    assert table["epoch"] == 5
    assert not isinstance(model, DataParallelTable)

    dpt = DataParallelTable(1, True).add(model.float(), ["cpu", "cpu"])
    if threads:
        dpt.threads()
    criterion = nn.CrossEntropyCriterion().float()
    params, gradParams = dpt.getParameters()
    optimState = checkpoints.moved(optimState, like=params)
    input, target = expected["input"], expected["target"]

    def feval(x):
        dpt.zeroGradParameters()
        loss = criterion.forward(dpt.forward(input), target)
        dpt.backward(input, criterion.backward(dpt.output, target))
        return loss, gradParams

    losses = [optim.sgd(feval, params, optimState)[1][0] for _ in expected["lossesAfter"]]
    dpt.close()
    assert losses == pytest.approx(list(expected["lossesAfter"]), rel=1e-5)
    torch.testing.assert_close(params, expected["params"].float(), rtol=1e-5, atol=1e-6)
