"""A donkey loop in the shape of the ImageNet scripts, ported line by line, against Lua's."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from support import golden_data
from torch import Tensor

from compat import nn, optim
from compat import torch as torch7
from compat.threads import Threads, threadid

# What the functions below find in a worker: in Lua the globals of its state.
opt: Any = None
trainLoader: Any = None
testLoader: Any = None


def image(k: int, i: int) -> Tensor:
    size = opt["loadSize"]
    return torch.arange(1.0, 3 * size * size + 1).view(3, size, size).mul(0.1 * k).add(i).sin()


def cropped(img: Tensor, x: int, y: int) -> Tensor:
    crop = opt["cropSize"]
    return img[:, y : y + crop, x : x + crop]


def jittered(img: Tensor) -> Tensor:
    room = opt["loadSize"] - opt["cropSize"]
    y = math.ceil(torch7.uniform(1e-2, room))
    x = math.ceil(torch7.uniform(1e-2, room))
    out = cropped(img, x, y).clone()
    if torch7.uniform() > 0.5:
        out = out.flip(2)
    return out.add_(-0.2).div_(0.7)


def batch(n: int) -> tuple[Tensor, Tensor]:
    return torch.empty(n, 3, opt["cropSize"], opt["cropSize"]), torch.empty(n)


class TrainLoader:
    classes = ("one", "two", "three")

    def sample(self, n: int) -> tuple[Tensor, Tensor]:
        inputs, labels = batch(n)
        for i in range(n):
            k = math.ceil(torch7.uniform(1e-2, opt["nClasses"]))
            inputs[i] = jittered(image(k, math.ceil(torch7.uniform(1e-2, opt["perClass"]))))
            labels[i] = k
        return inputs, labels


class TestLoader:
    __test__ = False

    def size(self) -> int:
        return opt["nClasses"] * 2

    def get(self, first: int, last: int) -> tuple[Tensor, Tensor]:
        inputs, labels = batch(last - first + 1)
        middle = math.ceil((opt["loadSize"] - opt["cropSize"]) / 2)
        for i in range(first, last + 1):
            k = (i - 1) % opt["nClasses"] + 1
            inputs[i - first] = cropped(image(k, 100 + i), middle, middle)
            labels[i - first] = k
        return inputs, labels


@pytest.fixture
def recorded():
    return golden_data.load("threads", "donkeys")


@pytest.fixture(params=["threads.serialize", "threads.sharedserialize", "threads in this process"])
def newDonkeys(request, recorded):
    before = Threads.serialization()
    if request.param.startswith("threads."):
        Threads.serialization(request.param)
    options = recorded["opt"]

    def init(idx: int) -> tuple[int, int]:
        global opt, trainLoader, testLoader
        opt = options
        torch7.manualSeed(opt["seed"] + idx)
        trainLoader, testLoader = TrainLoader(), TestLoader()
        return idx, torch7.initialSeed()

    yield lambda n: Threads(
        n, lambda idx: None, init, processes=request.param.startswith("threads.")
    )
    Threads.serialization(before)


def test_a_training_loop_with_one_donkey_has_luas_batches_and_losses(newDonkeys, recorded):
    options = recorded["opt"]
    donkeys = newDonkeys(1)
    classes: list[str] = []
    nTest = 0

    def setSize(n):
        nonlocal nTest
        nTest = n

    donkeys.addjob(lambda: list(trainLoader.classes), classes.extend)
    donkeys.addjob(lambda: testLoader.size(), setSize)
    donkeys.synchronize()
    assert classes == recorded["classes"]

    torch7.manualSeed(options["seed"])
    model = nn.Sequential()
    model.add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.ReLU()).add(nn.SpatialMaxPooling(2, 2))
    model.add(nn.View(4 * 2 * 2)).add(nn.Linear(4 * 2 * 2, options["nClasses"]))
    model.add(nn.LogSoftMax())
    criterion = nn.ClassNLLCriterion()
    parameters, gradParameters = model.getParameters()
    optimState = {
        "learningRate": options["LR"],
        "momentum": options["momentum"],
        "dampening": 0,
        "weightDecay": options["weightDecay"],
    }
    losses, drawn, sums, testLosses, rights = [], [], [], [], []

    def trainBatch(inputs, labels):
        def feval(x):
            model.zeroGradParameters()
            outputs = model.forward(inputs)
            err = criterion.forward(outputs, labels)
            model.backward(inputs, criterion.backward(outputs, labels))
            return err, gradParameters

        _, fs = optim.sgd(feval, parameters, optimState)
        losses.append(fs[0])
        drawn.append(labels.clone())
        sums.append(inputs.sum().item())

    for _ in range(options["nEpochs"]):
        model.training()
        for _ in range(options["epochSize"]):
            size = options["batchSize"]
            donkeys.addjob(lambda size=size: trainLoader.sample(size), trainBatch)
        donkeys.synchronize()
        model.evaluate()
        loss, right = 0.0, 0

        def testBatch(inputs, labels):
            nonlocal loss, right
            outputs = model.forward(inputs)
            loss += criterion.forward(outputs, labels) * outputs.size(0)
            right += (outputs.argmax(1) + 1).eq(labels.long()).sum().item()

        for first in range(1, nTest + 1, size):
            last = min(nTest, first + size - 1)
            donkeys.addjob(
                lambda first=first, last=last: testLoader.get(first, last),
                testBatch,
            )
        donkeys.synchronize()
        testLosses.append(loss / nTest)
        rights.append(right)
    donkeys.terminate()

    assert [one.tolist() for one in drawn] == [one.tolist() for one in recorded["labels"]]
    assert sums == pytest.approx(recorded["sums"], rel=1e-5)
    assert losses == pytest.approx(recorded["losses"], rel=1e-4)
    assert testLosses == pytest.approx(recorded["testLosses"], rel=1e-4)
    assert rights == recorded["right"]


def test_two_donkeys_that_are_told_their_jobs_draw_luas_batches(newDonkeys, recorded):
    got: dict[int, list[Any]] = {1: [], 2: []}

    def job(n):
        inputs, labels = trainLoader.sample(n)
        return threadid(), inputs.sum().item(), labels

    def callback(tid, total, labels):
        got[tid].append((total, labels.clone()))

    with newDonkeys(2) as pool:
        assert sorted(pool.initres) == [tuple(one) for one in recorded["initres"]]
        pool.specific(True)
        for n in range(1, 7):
            pool.addjob((n - 1) % 2 + 1, job, callback, n)
        pool.synchronize()
    for tid, batches in enumerate(recorded["specific"], 1):
        for (total, labels), (wanted, wantedLabels) in zip(got[tid], batches, strict=True):
            assert total == pytest.approx(wanted, rel=1e-5)
            assert labels.tolist() == wantedLabels.tolist()
