"""What users of the Lua class asked for: shares, statistics, profiles and checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import equal, on

from compat import cutorch, nn, random, t7
from dptable import DataParallelTable
from dptable.container.shares import MeasuredShares, weighted_sizes

pytestmark = pytest.mark.devices(3)


def net() -> nn.Sequential:
    random.manualSeed(0)
    return (
        nn.Sequential()
        .add(nn.SpatialConvolution(3, 4, 3, 3))
        .add(nn.SpatialBatchNormalization(4))
        .add(nn.ReLU(True))
        .add(nn.View(4 * 36).setNumInputDims(3))
        .add(nn.Linear(4 * 36, 5))
        .double()
    )


def batch(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    kind = {"dtype": torch.float64, "generator": generator}
    return torch.randn(size, 3, 8, 8, **kind), torch.randn(size, 5, **kind)


# Shares.


@pytest.mark.parametrize("shares", [[3.0, 1.0], "auto"])
def test_files_keep_shares_where_they_fit(monkeypatch: pytest.MonkeyPatch, shares: object) -> None:
    table = DataParallelTable(1).add(net(), [1, 2], shares=shares)
    data = t7.dumps(table)
    assert t7.loads(data).shares.asked == shares
    monkeypatch.setattr(DataParallelTable, "deserializeNGPUs", 3)
    again = t7.loads(data)
    assert again.shares.asked == "auto" if shares == "auto" else again.shares is None


@given(n=st.integers(0, 200), shares=st.lists(st.floats(0.01, 100), min_size=1, max_size=6))
def test_weighted_sizes_follow_the_shares(n: int, shares: list[float]) -> None:
    sizes = weighted_sizes(n, shares)
    assert sum(sizes) == n and len(sizes) == len(shares)
    if n >= len(shares):
        spare = n - len(shares)
        for size, share in zip(sizes, shares, strict=True):
            assert abs(size - 1 - spare * share / sum(shares)) < 1 + 1e-9


def test_shares_change_the_slices_and_not_the_result() -> None:
    x, g = batch(12)
    bare = net().evaluate()
    table = DataParallelTable(1).add(bare.clone(), [1, 2, 3], shares=[4, 2, 1]).evaluate()
    torch.testing.assert_close(table.forward(x), bare.forward(x))
    assert [len(part) for part in table.inputGpu] == [6, 4, 2]
    torch.testing.assert_close(table.backward(x, g), bare.backward(x, g))
    torch.testing.assert_close(table.parameters()[1], bare.parameters()[1])


def test_measured_shares_follow_the_speeds() -> None:
    rule = MeasuredShares(2, weight=0.5)
    assert rule.sizes(10) == [5, 5]
    for _ in range(8):
        rule.observe([5, 5], [1.0, 4.0])
    assert rule.sizes(10) == [7, 3]  # each gets one, the other eight go 4 to 1
    for _ in range(20):
        rule.observe([5, 5], [1.0, 1.0])
    assert rule.sizes(10) == [5, 5]


def test_auto_shares_learn_in_training_and_keep_the_result() -> None:
    x, g = batch(12)
    table = DataParallelTable(1).add(net(), [1, 2, 3], shares="auto").evaluate()
    expected = net().evaluate().forward(x)
    for _ in range(3):
        torch.testing.assert_close(table.forward(x), expected)
        table.backward(x, g)
    assert len(set(table.shares.shares)) > 1


@pytest.mark.parametrize(
    ("gpus", "shares", "message"),
    [
        ([1, 2], [1], "has 1 entries; one for each of the 2 devices"),
        ([1, 2], [1, 0], "positive numbers"),
        ([1, 2], "fast", "'auto' or a list"),
        (1, [1], "gpus is 1; with shares, a list"),
    ],
)
def test_refuses_other_shares(gpus: object, shares: object, message: str) -> None:
    table = DataParallelTable(1)
    with pytest.raises(ValueError, match=message):
        table.add(net(), gpus, shares=shares)
    assert table.modules == [] and table.gpuAssignments == []


# Statistics of batch normalisation.


@pytest.mark.parametrize("size", [1, 3, 7, 12])
def test_synchronised_statistics_equal_one_device(size: int) -> None:
    x, g = batch(size)
    bare = net()
    table = DataParallelTable(1, True, statistics="synchronised").add(bare.clone(), [1, 2, 3])
    table.threads()
    for _ in range(3):
        bare.zeroGradParameters()
        table.zeroGradParameters()
        torch.testing.assert_close(table.forward(x), bare.forward(x))
        torch.testing.assert_close(table.backward(x, g), bare.backward(x, g))
        torch.testing.assert_close(table.parameters()[1], bare.parameters()[1])
        bare.updateParameters(0.1)
        table.updateParameters(0.1)
    for field in ("running_mean", "running_var"):
        expected = getattr(bare.get(2), field)
        for running in table.exec(lambda m, i, field=field: getattr(m.get(2), field)):
            torch.testing.assert_close(running, expected)
    bare.evaluate()
    table.evaluate()
    torch.testing.assert_close(table.forward(x), bare.forward(x))
    table.close()


def test_synchronised_statistics_need_threads() -> None:
    table = DataParallelTable(1, statistics="synchronised").add(net(), [1, 2])
    with pytest.raises(RuntimeError, match=r"call threads\(\)"):
        table.forward(batch(4)[0])


def test_a_synchronised_container_in_another_of_one_replica() -> None:
    x, g = batch(7)
    bare = net().add(nn.BatchNormalization(5).double())
    inner = DataParallelTable(1, statistics="synchronised").add(net(), [1, 2]).threads()
    middle = nn.Sequential().add(inner).add(nn.BatchNormalization(5).double())
    outer = DataParallelTable(1, statistics="synchronised").add(middle, [1]).threads()
    torch.testing.assert_close(outer.forward(x), bare.forward(x))
    torch.testing.assert_close(outer.backward(x, g), bare.backward(x, g))
    for table in (outer, inner):
        table.close()


@pytest.mark.parametrize(
    "inside",
    [
        lambda: DataParallelTable(1).add(nn.Linear(5, 5), [3, 2]),
        lambda: DataParallelTable(1).add(nn.Linear(5, 5), [3, 3]),
        lambda: nn.GPU(nn.Linear(5, 5), 2),
        lambda: nn.GPU(nn.Linear(5, 5), 3),
    ],
    ids=["container", "container-apart", "module", "module-apart"],
)
def test_replicas_that_meet_may_compute_on_each_others_devices(inside: Any) -> None:
    whole = nn.Sequential().add(nn.BatchNormalization(5)).add(inside())
    table = DataParallelTable(1, statistics="synchronised").add(whole, [1, 2]).threads()
    x = torch.randn(4, 5)
    assert table.backward(x, torch.ones_like(table.forward(x))).shape == x.shape
    table.close()


class WithinAGraph(nn.Container):
    """Runs its module as a part of a PyTorch graph."""

    def compute(self, input: torch.Tensor) -> torch.Tensor:
        return self.get(1).run(input)


def test_batch_normalisation_within_a_graph_meets_others_on_cpus_alone() -> None:
    # PyTorch goes back on an accelerator in one thread, in which one would wait for the other.
    whole = WithinAGraph().add(nn.BatchNormalization(5))
    table = DataParallelTable(1, statistics="synchronised").add(whole, [1, 2]).threads()
    x = torch.randn(4, 5)
    if cutorch.accelerated():
        with pytest.raises(RuntimeError, match="WithinAGraph has batch normalisation within a"):
            table.forward(x)
    else:
        bare = nn.BatchNormalization(5)
        bare.weight.copy_(whole.get(1).weight)
        torch.testing.assert_close(table.forward(x), bare.forward(x))
        torch.testing.assert_close(table.backward(x, x), bare.backward(x, x))
    table.close()


def test_a_replica_that_fails_keeps_no_other_waiting() -> None:
    x, g = batch(6)
    table = DataParallelTable(1, statistics="synchronised").add(net(), [1, 2, 3]).threads()
    table.forward(x)
    replicas = table.exec(lambda m, i: m)
    inner = replicas[1].get(1)
    inner.updateOutput = lambda input: 1 / 0
    with pytest.raises(ZeroDivisionError, match="replica 2"):
        table.forward(x)
    table.close()
    bare = net()
    torch.testing.assert_close(table.forward(x), bare.forward(x))
    torch.testing.assert_close(table.backward(x, g), bare.backward(x, g))
    table.close()


def test_averaged_statistics_are_those_of_all_replicas() -> None:
    x, _ = batch(9)
    first = DataParallelTable(1).add(net(), [1, 2, 3])
    averaged = DataParallelTable(1, statistics="averaged").add(net(), [1, 2, 3])
    for table in (first, averaged):
        table.forward(x)
    each = first.exec(lambda m, i: m.get(2).running_mean)
    assert not equal(each[0], each[1])
    averaged.evaluate()
    for running in averaged.exec(lambda m, i: m.get(2).running_mean):
        torch.testing.assert_close(running, torch.stack(on(1, each)).mean(0))
    first.evaluate()
    torch.testing.assert_close(first.get(1).get(2).running_mean, each[0])


def test_refuses_other_statistics() -> None:
    with pytest.raises(ValueError, match="'first', 'averaged' or 'synchronised'"):
        DataParallelTable(1, statistics="all")


# Profiles and checks.


def test_a_profile_tells_every_phase_per_device(tmp_path: Path) -> None:
    x, g = batch(6)
    table = DataParallelTable(1, True).add(net(), [1, 2, 3])
    with table.profile() as profile:
        for _ in range(2):
            table.forward(x)
            table.backward(x, g)
    table.forward(x)
    assert profile.steps == 2
    spans = {(s.phase, s.device): s for s in profile.spans}
    assert {phase for phase, _ in spans} == {
        *("distribute", "forward", "concat", "backward", "reduce", "sync")
    }
    assert {device for phase, device in spans if phase == "forward"} == {"GPU 1", "GPU 2", "GPU 3"}
    lines = profile.table().splitlines()
    assert lines[0].split()[-6:] == ["GPU", "1", "GPU", "2", "GPU", "3"]
    assert [line.split()[0] for line in lines[1:]][:2] == ["distribute", "forward"]
    profile.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == len(profile.spans)
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)


def test_numbers_that_are_none_are_traced_to_module_and_device() -> None:
    x, g = batch(6)
    table = DataParallelTable(1).add(net(), [1, 2, 3])
    x[5] = float("nan")
    table.forward(x)
    table.checkNumbers = True
    with pytest.raises(
        FloatingPointError,
        match=rf"replica 3 \(GPU 3, {cutorch.device(3)}\): "
        r"nn.Sequential\[1\] nn.SpatialConvolution: output",
    ):
        table.forward(x)
    x, g = batch(6)
    table.forward(x)
    g[0] = float("inf")
    with pytest.raises(FloatingPointError, match=r"replica 1 .*\[5\] nn.Linear: the gradient of"):
        table.backward(x, g)


def test_replicas_that_differ_are_found() -> None:
    x, _ = batch(6)
    table = DataParallelTable(1).add(net(), [1, 2, 3])
    table.checkReplicas = True
    table.forward(x)
    replica = table.exec(lambda m, i: m)[1]
    replica.get(5).weight.data = replica.get(5).weight + 1
    with pytest.raises(RuntimeError, match="parameter 5 of replica 2"):
        table.forward(x)


def test_exec_reaches_methods_outside_the_module_contract() -> None:
    table = DataParallelTable(1).add(net(), [1, 2, 3])
    assert table.exec(lambda module, i: (i, len(module))) == [(1, 5), (2, 5), (3, 5)]


def test_a_replica_of_synchronised_ones_works_by_itself() -> None:
    table = DataParallelTable(1, statistics="synchronised").add(net(), [1, 2, 3]).threads()
    x, g = batch(7)
    table.forward(x)
    table.backward(x, g)
    replicas = table.exec(lambda module, i: module)
    assert replicas[1].forward(on(2, x)).shape == (7, 5)
    table.forward(x)
    assert table.backward(x, g).shape == x.shape
    table.close()


@pytest.mark.cpus(3)
def test_cuda_on_cpus_is_a_type_like_a_gpus() -> None:
    dpt = DataParallelTable(1).add(nn.Linear(3, 2), [1, 2])
    input = torch.randn(4, 3)
    wanted = dpt.forward(input).clone()
    with pytest.warns(UserWarning, match="torch.CudaTensor means cpu here"):
        assert dpt.cuda() is dpt
    assert dpt.type() == dpt.get(1).type() == "torch.CudaTensor"
    torch.testing.assert_close(dpt.forward(input), wanted)
    dpt.backward(input, torch.ones(4, 2))
    assert dpt.float().type() == "torch.FloatTensor"
