"""Containers in several processes against one process with the whole batch."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.processes import together
from torch import Tensor

from compat import cutorch, nn, optim, random
from dptable import DataParallelTable, comm, models
from dptable.processes.single_process import SingleProcess
from dptable.sharding import ShardedParameters

ROWS = 13
STEPS = 8
# Processes and replicas in each.
SHAPES = [(2, 1), (2, 2), (3, 1), (4, 1)]
CONFIG = {"learningRate": 0.05, "momentum": 0.9, "dampening": 0, "weightDecay": 1e-3}


def net(name: str, seed: int = 1) -> nn.Module:
    random.manualSeed(seed)
    if name == "lenet":
        return models.lenet(5, 1, 4, 4)
    model = models.resnet(5, 1, 4, 4, depth=8, shortcut_type="B")
    if name == "resnet in evaluate mode":
        for module in model.listModules():
            if isinstance(module, nn.BatchNormalization):
                module.evaluate()
                module.training = lambda: None
    return model


def data(steps: int = STEPS, rows: int = ROWS) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    images = torch.randn(steps, rows, 1, 4, 4, generator=generator, dtype=torch.float64)
    return images, torch.randint(1, 6, (steps, rows), generator=generator)


def table(name: str, replicas: int = 1, seed: int = 1) -> DataParallelTable:
    cutorch.configure(["cpu"] * replicas)
    statistics = "synchronised" if name == "resnet" else "first"
    made = DataParallelTable(1, True, statistics=statistics)
    made.add(net(name, seed).double(), list(range(1, replicas + 1)))
    made.gradInput = None
    return made.threads() if replicas > 1 else made


def rows_of(rank: int, size: int, step: int, uneven: bool, rows: int) -> slice:
    """The rows of a batch that a rank takes; in some steps of an uneven run it takes none.

    In the first step that is the first rank, in the second the last one.
    """
    if not uneven:
        return slice(*comm.slice_ranges(rows, size)[rank])
    ends = [0, *((3 * rank - step) % (ROWS + 1) for rank in range(size - 1)), ROWS]
    ends.sort()
    return slice(ends[rank], ends[rank + 1])


def train(
    model: DataParallelTable,
    *,
    uneven: bool = False,
    micro: int = 1,
    shrinking: bool = False,
    sharded: ShardedParameters | None = None,
    optimizer: Any = optim.sgd,
    config: dict[str, Any] | None = None,
    steps: int = STEPS,
) -> tuple[list[float], dict[str, Any]]:
    """Steps on this process's share of each batch, in ``micro`` passes; losses and state."""
    rank, size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    criterion = nn.CrossEntropyCriterion().double()
    parameters, gradients = model.getParameters()
    state: dict[str, Any] = dict(CONFIG if config is None else config)
    losses = []

    def one_pass(input: Tensor, target: Tensor) -> float:
        if not len(target):
            model.skip(input)
            return 0.0
        output = model.forward(input)
        loss = criterion.forward(output, target)
        model.backward(input, criterion.backward(output, target))
        return loss

    for step, (images, labels) in enumerate(zip(*data(steps), strict=True)):
        if shrinking:
            rows = [ROWS, ROWS, 5, 1][step % 4]
            images, labels = images[:rows], labels[:rows]
        mine = rows_of(rank, size, step, uneven and size > 1, len(images))

        def feval(x: Tensor, images=images, labels=labels, mine=mine) -> tuple[float, Tensor]:
            model.zeroGradParameters()
            *first, (image, label) = zip(images.chunk(micro), labels.chunk(micro), strict=True)
            if not first:
                return one_pass(image[mine], label[mine]), gradients
            with model.no_sync():
                for images_, labels_ in first:
                    own = slice(*comm.slice_ranges(len(labels_), size)[rank])
                    one_pass(images_[own], labels_[own])
            own = slice(*comm.slice_ranges(len(label), size)[rank])
            return one_pass(image[own], label[own]), gradients

        if sharded is None:
            _, fs, *_ = optimizer(feval, parameters, state)
        else:
            _, fs, *_ = sharded.step(optimizer, feval, state)
        losses.append(fs[0])
    return losses, state


def running(model: DataParallelTable) -> Tensor:
    found = [
        getattr(module, name).flatten()
        for module in model.get(1).listModules()
        for name in ("running_mean", "running_var")
        if getattr(module, name, None) is not None
    ]
    return torch.cat(found) if found else torch.zeros(0)


@cache
def alone(name: str, micro: int = 1, shrinking: bool = False) -> tuple[Tensor, Tensor, list[float]]:
    """What one process comes to: parameters, running statistics and losses."""
    model = table(name)
    losses, _ = train(model, micro=micro, shrinking=shrinking)
    model.close()
    return model.getParameters()[0].clone(), running(model), losses


def member(name: str, replicas: int, uneven: bool, micro: int, shard: bool, shrinking: bool) -> Any:
    # Only rank 0 starts with the parameters that count.
    model = table(name, replicas, seed=1 + dist.get_rank())
    sharded = ShardedParameters(model) if shard else None
    if not shard:
        model.distribute()
    losses, _ = train(model, uneven=uneven, micro=micro, shrinking=shrinking, sharded=sharded)
    if shrinking and dist.get_rank() == 0:
        # The last pass began before it was known that there is 1 row, not 5 as before.
        assert model.group._correction == 5
    model.close()
    found = model.getParameters()[0].clone(), running(model), losses
    model.close_group()
    return found


def check(name: str, shape: tuple[int, int], **how: Any) -> None:
    arguments = {"uneven": False, "micro": 1, "shard": False, "shrinking": False} | how
    parameters, statistics, losses = alone(name, arguments["micro"], arguments["shrinking"])
    for theirs in together(member, shape[0], name, shape[1], *arguments.values()):
        torch.testing.assert_close(theirs[0], parameters, rtol=0, atol=1e-9)
        torch.testing.assert_close(theirs[1], statistics, rtol=0, atol=1e-9)
        if arguments["shard"] and arguments["micro"] == 1:
            assert theirs[2] == pytest.approx(losses)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["lenet", "resnet"])
def test_equals_one_process(name, shape):
    check(name, shape)


def test_batch_normalisation_in_evaluate_mode_needs_no_synchronised_statistics():
    check("resnet in evaluate mode", (3, 1))


@pytest.mark.parametrize("name, shape", [("lenet", (2, 2)), ("lenet", (4, 1)), ("resnet", (3, 1))])
def test_uneven_batches_and_ranks_without_data(name, shape):
    check(name, shape, uneven=True)


@pytest.mark.parametrize("shape, shard", [((2, 1), False), ((3, 1), True), ((2, 2), False)])
def test_batches_of_changing_sizes(shape, shard):
    check("lenet", shape, shrinking=True, shard=shard)


def skipping(shard: bool) -> list[float]:
    """A gradient that is 1 in every row, whoever has the rows, and however they go back."""
    rank = dist.get_rank()
    model = DataParallelTable(1, True).add(nn.Linear(1, 1), ["cpu"])
    model.gradInput = None
    sharded = ShardedParameters(model) if shard else None
    if not shard:
        model.distribute()
    found = []
    for step, rows in enumerate([(2, 2), (2, 0), (0, 1), (1, 3), (0, 0), (3, 0), (0, 2), (2, 2)]):
        model.zeroGradParameters()
        count = rows[rank]
        input, gradOutput = torch.ones(count, 1), torch.ones(count, 1) / max(count, 1)
        if not count:
            model.skip()
        elif step % 3:
            model.forward(input)
            model.backward(input, gradOutput)
        else:
            model.forward(input)
            model.updateGradInput(input, gradOutput)
            model.accGradParameters(input, gradOutput)
        gradients = model.getParameters()[1] if sharded is None else sharded.gradients
        found.append(float(gradients[0]))
        assert model.total_loss(count) == pytest.approx(
            sum(n * n for n in rows) / max(sum(rows), 1)
        )
    model.close_group()
    return found


@pytest.mark.parametrize("shard", [False, True])
def test_processes_without_data_get_the_same_gradients(shard):
    for found in together(skipping, 2, shard):
        assert found == pytest.approx([1, 1, 1, 1, 0, 1, 1, 1])


@pytest.mark.parametrize("shape, shard", [((2, 1), False), ((3, 1), True), ((2, 2), True)])
def test_gradient_accumulation(shape, shard):
    check("lenet", shape, micro=3, shard=shard)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sharded(shape):
    check("lenet", shape, shard=True)


@pytest.mark.parametrize("shape", [(2, 2), (3, 1)], ids=str)
def test_sharded_with_uneven_batches_and_batch_normalisation(shape):
    check("resnet", shape, uneven=True, shard=True)


def in_a_net(rank: int, size: int) -> tuple[Tensor, Tensor]:
    """A container between other modules, whose parameters are flat with theirs."""
    inner = table("lenet", seed=1 + rank)
    whole = nn.Sequential().add(nn.MulConstant(2)).add(inner).add(nn.LogSoftMax())
    if size > 1:
        inner.distribute()
    parameters, gradients = whole.double().getParameters()
    criterion, state = nn.ClassNLLCriterion().double(), dict(CONFIG)
    for images, labels in zip(*data(3), strict=True):
        own = slice(*comm.slice_ranges(ROWS, size)[rank])

        def feval(x: Tensor, input=images[own], target=labels[own]) -> tuple[float, Tensor]:
            whole.zeroGradParameters()
            loss = criterion.forward(whole.forward(input), target)
            whole.backward(input, criterion.backward(whole.output, target))
            return loss, gradients

        optim.sgd(feval, parameters, state)
    assert whole.parameters()[0][0].data_ptr() == parameters.data_ptr()
    inner.close_group()
    return parameters.clone(), gradients.clone()


def in_a_net_here() -> Any:
    return in_a_net(dist.get_rank(), dist.get_world_size())


def test_inside_a_larger_net():
    expected = in_a_net(0, 1)
    for found in together(in_a_net_here, 3):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def sums_and_averages() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    input, gradOutput = torch.ones(rank + 1, 2), torch.ones(rank + 1, 3)
    for average, weight in ((True, 1 / 6), (False, 1)):
        model = DataParallelTable(1, True).add(nn.Linear(2, 3), ["cpu"])
        model.distribute(average=average)
        _, gradients = model.getParameters()
        model.zeroGradParameters()
        gradOutputs = [gradOutput * (r + 1) for r in range(size)]
        model.forward(input)
        gradInput = model.backward(input, gradOutputs[rank])
        # Rank r has r + 1 rows, in each of which the gradient is r + 1.
        scale = weight if not average else 1
        whole = sum((r + 1) * (r + 1) * ((r + 1) / 6 if average else scale) for r in range(size))
        assert torch.allclose(gradients, torch.full((9,), float(whole)))
        weights = model.get(1).weight
        own = (rank + 1) / 6 if average else 1
        assert torch.allclose(gradInput, gradOutputs[rank] @ weights * own)
        # A second pass adds to what is there; the first counts once.
        model.forward(input)
        model.backward(input, gradOutputs[rank])
        assert torch.allclose(gradients, torch.full((9,), 2 * float(whole)))
        # In two halves it is the same as at once.
        model.zeroGradParameters()
        model.forward(input)
        model.updateGradInput(input, gradOutputs[rank])
        model.accGradParameters(input, gradOutputs[rank])
        assert torch.allclose(gradients, torch.full((9,), float(whole)))
        model.close_group()


def test_average_weighs_by_rows_and_without_it_gradients_are_sums():
    together(sums_and_averages, 3)


class Tripling(nn.Module):
    def compute(self, input: Tensor) -> Tensor:
        return 3 * input


class Doubling(Tripling):
    def compute(self, input: Tensor) -> Tensor:
        return 2 * input


def branching(swapped: bool) -> nn.Module:
    start = nn.Identity()()
    one = nn.Tanh()(start)
    return nn.gModule([start], [nn.CSubTable()([one, nn.Tanh()(one if swapped else start)])])


def differing(what: str) -> str:
    rank = dist.get_rank()
    features, outputs = 4 + (what == "shape" and rank == 2), 3
    inner = nn.Sequential().add(nn.Linear(features, outputs))
    if what == "more" and rank == 1:
        inner.add(nn.Linear(3, 1))
    if what == "buffer" and rank == 1:
        inner.add(nn.BatchNormalization(3, affine=False))
    other = rank == 1
    layers = {
        "class": nn.Tanh() if other else nn.ReLU(),
        "option": nn.Dropout(0.3 if other else 0.5),
        "leak": nn.LeakyReLU(0.2 if other else 0.1),
        "graph": branching(swapped=other),
        "own": Doubling() if other else Tripling(),
        "inside": torch.nn.ELU(2.0 if other else 1.0),
    }
    if what in layers:
        inner.add(layers[what])
    if what == "place":
        inner.insert(nn.Tanh(), 1 if other else 2)
    model = DataParallelTable(1, True).add(inner, ["cpu"])
    if what == "dtype" and rank == 0:
        model.double()
    with pytest.raises(ValueError) as error:
        model.distribute()
    assert isinstance(model.group, SingleProcess)
    return str(error.value)


@pytest.mark.parametrize(
    "what, message",
    [
        ("shape", "rank 2 has nn.Sequential[1] nn.Linear.weight of size (3, 5) and torch.float32"),
        ("dtype", "of size (3, 4) and torch.float32 where rank 0 has nn.Sequential[1] nn.Linear"),
        ("more", "rank 1 has nn.Sequential[2] nn.Linear.weight of size (1, 3)"),
        ("buffer", "rank 1 has nn.Sequential[2] nn.BatchNormalization.running_mean"),
    ],
)
def test_nets_that_differ_are_refused_with_the_first_difference(what, message):
    for error in together(differing, 3, what):
        assert message in error


OF_THE_SAME_SHAPES = {
    "class": "1 has nn.Sequential[2] nn.Tanh where rank 0 has nn.Sequential[2] nn.ReLU;",
    "option": "nn.Dropout with p = 0.3 where rank 0 has nn.Sequential[2] nn.Dropout with p",
    "leak": "negval = 0.2 where rank 0 has nn.Sequential[2] nn.LeakyReLU with negval = 0.1;",
    "graph": "where rank 0 has nn.Sequential[2] nn.gModule with steps = ",
    "own": ".Doubling where rank 0 has ",
    "inside": "ELU(alpha=2.0) where rank 0 has ",
    "place": "rank 1 has nn.Sequential[2] nn.Linear",
}


def all_of_the_same_shapes() -> dict[str, str]:
    return {what: differing(what) for what in OF_THE_SAME_SHAPES}


def test_nets_of_the_same_shapes_that_differ_are_refused():
    for errors in together(all_of_the_same_shapes, 2):
        for what, message in OF_THE_SAME_SHAPES.items():
            assert message in errors[what]


class Scaling(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def compute(self, input: Tensor) -> Tensor:
        return self.factor * input


def of_own_classes(factor: float) -> list[str]:
    """The warnings where the last rank has another field in a class of its own."""
    last = dist.get_rank() == dist.get_world_size() - 1
    inner = nn.Sequential().add(nn.Linear(2, 2)).add(Scaling(factor if last else 1.0))
    model = DataParallelTable(1, True).add(inner, ["cpu"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.distribute()
    model.close_group()
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def test_fields_of_own_classes_that_differ_are_told():
    assert together(of_own_classes, 3, 1.0) == [[], [], []]
    [said], *others = together(of_own_classes, 3, 2.0)
    assert "rank 2 has nn.Sequential[2] Scaling with factor = 2.0 where rank 0 has" in said
    assert others == [[], []]


def statistics(mode: str) -> Tensor:
    rank = dist.get_rank()
    cutorch.configure(["cpu", "cpu"])
    inner = nn.Sequential().add(nn.BatchNormalization(2))
    model = DataParallelTable(1, True, statistics=mode).add(inner, [1, 2])
    inner.get(1).running_mean.fill_(5 + rank)
    model.distribute()
    replicas = model.impl.setup()
    assert all(float(replica.get(1).running_mean[0]) == 5 for replica in replicas[:1])
    for i, replica in enumerate(replicas):
        replica.get(1).running_mean.fill_(2 * rank + i)
    model.syncStatistics()
    model.close_group()
    return torch.stack([replica.get(1).running_mean for replica in replicas])


@pytest.mark.parametrize("mode, mean", [("first", 0), ("averaged", 1.5)])
def test_running_statistics_of_all_processes(mode, mean):
    for found in together(statistics, 2, mode):
        assert torch.equal(found, torch.full((2, 2), float(mean)))


def two_groups() -> list[float]:
    """Two pairs of processes that train apart, with synchronised statistics."""
    rank = dist.get_rank()
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    inner = nn.Sequential().add(nn.Linear(2, 2)).add(nn.BatchNormalization(2))
    model = DataParallelTable(1, True, statistics="synchronised").add(inner, ["cpu"])
    sharded = ShardedParameters(model, groups[rank // 2])
    input = torch.arange(8.0).view(4, 2) * (rank + 1)

    def feval(x: Tensor) -> tuple[float, Tensor]:
        model.zeroGradParameters()
        output = model.forward(input)
        model.backward(input, output)
        return float(output.pow(2).mean()), model.getParameters()[1]

    for _ in range(3):
        sharded.step(optim.sgd, feval, {"learningRate": 0.1})
    model.close_group()
    return model.getParameters()[0].tolist()


def test_groups_of_some_of_the_processes():
    a, b, c, d = together(two_groups, 4)
    assert a == b and c == d and a != c


def normalising(width: int) -> DataParallelTable:
    inner = nn.Sequential().add(nn.Linear(2, width)).add(nn.BatchNormalization(width))
    return DataParallelTable(1, True, statistics="synchronised").add(inner, ["cpu"])


def overlapping_groups() -> list[list[float]]:
    """A container in all processes and one in some, which are in more groups than the others."""
    group = dist.new_group([1, 2])
    member = dist.get_rank() > 0
    found = []
    # A group that was left is not in the way of the next one.
    for _ in range(2):
        models = [normalising(3).distribute()]
        if member:
            models.insert(0, normalising(2).distribute(group))
        for _ in range(2):
            for model in models:
                model.zeroGradParameters()
                model.backward(torch.ones(4, 2), model.forward(torch.randn(4, 2)))
        found = [model.getParameters()[1].tolist() for model in models]
        for model in models:
            model.close_group()
    return found


def test_containers_in_groups_that_overlap():
    (whole,), (part, *others), (same, *also) = together(overlapping_groups, 3, timeout=20)
    assert others == also == [whole] and part == same


def refused_again() -> bool:
    """Whether a container that may not join another group is still in its own."""
    model = DataParallelTable(1, True).add(nn.Linear(2, 2 + dist.get_rank()), ["cpu"])
    alone = [dist.new_group([rank]) for rank in range(2)]
    model.distribute(alone[dist.get_rank()])
    member = model.group
    with pytest.raises(ValueError, match="bucket_cap_mb is 0"):
        model.distribute(bucket_cap_mb=0)
    with pytest.raises(ValueError, match="process_group is one that this process is not in"):
        model.distribute(alone[1 - dist.get_rank()])
    with pytest.raises(ValueError, match=r"rank 1 has .* where rank 0 has "):
        model.distribute()
    kept = model.group is member
    model.backward(torch.ones(1, 2), model.forward(torch.ones(1, 2)))
    model.close_group()
    return kept


def test_a_container_that_may_not_join_a_group_stays_in_its_own():
    assert together(refused_again, 2) == [True, True]


def searching(rank: int, size: int, name: str) -> tuple[Tensor, list[float]]:
    """An optimizer that decides by the loss."""
    model = table("lenet", seed=1 + rank)
    if size > 1:
        model.distribute()
    criterion = nn.CrossEntropyCriterion().double()
    parameters, gradients = model.getParameters()
    [images], [labels] = data(1)
    own = slice(3 * rank, 3 * rank + 3 if rank < size - 1 else ROWS)

    def feval(x: Tensor) -> tuple[float, Tensor]:
        model.zeroGradParameters()
        loss = criterion.forward(model.forward(images[own]), labels[own])
        model.backward(images[own], criterion.backward(model.output, labels[own]))
        return model.total_loss(loss), gradients

    config = {"maxIter": 4} | ({} if name == "cg" else {"lineSearch": optim.lswolfe})
    _, losses, *_ = getattr(optim, name)(feval, parameters, config)
    model.close_group()
    return parameters.clone(), losses


def searching_here(name: str) -> Any:
    return searching(dist.get_rank(), dist.get_world_size(), name)


@pytest.mark.parametrize("name", ["lbfgs", "cg"])
def test_optimizers_that_decide_by_the_loss(name):
    expected = searching(0, 1, name)
    for found in together(searching_here, 3, name):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)


def test_needs_a_group():
    model = DataParallelTable(1).add(nn.Linear(2, 2), ["cpu"])
    with pytest.raises(RuntimeError, match=r"there is no process group; call torch\.distributed"):
        model.distribute()
    with pytest.raises(RuntimeError, match=r"skip\(\) is for containers in a group"):
        model.skip()
    model.syncStatistics()
    model.close_group()


def buckets() -> list[int]:
    """How many buckets a net of 10,250 parameters takes."""
    counts = []
    for size in (25, 0.005):
        model = DataParallelTable(1, True).add(
            nn.Sequential(*[m for _ in range(5) for m in (nn.Linear(40, 50), nn.Linear(50, 40))]),
            ["cpu"],
        )
        model.distribute(bucket_cap_mb=size)
        model.backward(torch.ones(2, 40), model.forward(torch.ones(2, 40)))
        assert model._gradients.reducer is not None
        counts.append(len(model._gradients.reducer.buckets))
        with pytest.raises(ValueError, match="bucket_cap_mb is 0; a positive number is accepted"):
            model.distribute(bucket_cap_mb=0)
        model.close_group()
    return counts


def test_the_size_of_buckets():
    for one, several in together(buckets, 2):
        assert one == 1 and several > 2
