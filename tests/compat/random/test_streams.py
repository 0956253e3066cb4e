"""Streams of the default generator: in workers of a DataLoader, and in a block of a thread."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from compat import random


class Draws(Dataset):
    """What worker processes draw: a uniform, a normal, and the seeds."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        return random.normal(), random.uniform(), random.initialSeed(), torch.initial_seed()


def epochs(count: int = 2, **options: Any) -> list[list[Any]]:
    """What each epoch draws; the loader is made anew for each."""
    return [list(DataLoader(Draws(), None, **options)) for _ in range(count)]


def numbers(found: list[list[Any]]) -> list[float]:
    return [value for epoch in found for item in epoch for value in item[:2]]


@pytest.fixture(autouse=True)
def a_normal_waits():
    random.manualSeed(1)
    random.normal()  # workers would inherit the second of the pair


@pytest.mark.parametrize("workers", [1, 2])
def test_each_worker_and_epoch_draws_other_numbers(workers):
    found = numbers(epochs(num_workers=workers))
    assert len(set(found)) == len(found)


def test_the_streams_are_those_of_pytorchs_seeds():
    torch.manual_seed(5)
    first = epochs(num_workers=2)
    torch.manual_seed(5)
    random.manualSeed(2)
    assert epochs(num_workers=2) == first
    assert all(item[2] == item[3] for epoch in first for item in epoch)
    assert [len({item[3] for item in epoch}) for epoch in first] == [2, 2]


def test_a_stream_is_torch7s_of_that_seed():
    loader = DataLoader(Draws(), None, num_workers=1)
    items = list(loader)
    generator = random.Generator(items[0][3])
    for normal, uniform, seed, _ in items:
        assert seed == items[0][3]
        assert normal == random.normal(generator=generator)
        assert uniform == random.uniform(generator=generator)


def test_workers_that_persist_go_on():
    loader = DataLoader(Draws(), None, num_workers=1, persistent_workers=True)
    first, second = list(loader), list(loader)
    del loader
    values = [value for item in first + second for value in item[:2]]
    assert len(set(values)) == len(values)


def test_processes_that_are_no_copies_draw_the_same():
    torch.manual_seed(5)
    wanted = epochs(1, num_workers=1)
    torch.manual_seed(5)
    assert epochs(1, num_workers=1, multiprocessing_context="forkserver") == wanted


def seed_it(number: int) -> None:
    random.manualSeed(100 + number)


def restore_it(number: int) -> None:
    random.setRNGState(random.Generator(100 + number).getRNGState())


@pytest.mark.parametrize("init", [seed_it, restore_it])
def test_a_worker_that_seeds_itself_keeps_that_seed(init):
    [epoch] = epochs(1, num_workers=1, worker_init_fn=init)
    generator = random.Generator(100)
    for normal, uniform, seed, _ in epoch:
        assert seed == 100
        assert normal == random.normal(generator=generator)
        assert uniform == random.uniform(generator=generator)


def test_the_main_process_is_not_touched():
    state = random.getRNGState()
    epochs(1, num_workers=2)
    assert random.getRNGState().equal(state)
    before = random.Generator(1)
    random.normal(generator=before)
    [epoch] = epochs(1, num_workers=0)
    assert epoch[0][0] == random.normal(generator=before)


def test_a_forked_process_is_not_stopped_by_a_lock_that_a_thread_held():
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with random.default_generator.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        drawn = threading.Thread(target=random.normal, daemon=True)
        drawn.start()
        drawn.join(30)
        os._exit(int(drawn.is_alive()))
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0


def test_copies_of_the_default_generator_are_plain_ones():
    for copied in (
        copy.deepcopy(random.default_generator),
        pickle.loads(pickle.dumps(random.default_generator)),
    ):
        assert copied.to_bytes() == random.default_generator.to_bytes()


def test_a_block_draws_from_its_generator_in_its_thread_only():
    own, same = random.Generator(7), random.Generator(7)
    wanted = random.Generator(1)
    random.manualSeed(1)
    with random.using(own) as used:
        assert used is own and random.initialSeed() == 7
        assert random.uniform() == random.uniform(generator=same)
        other: list[float] = []
        thread = threading.Thread(target=lambda: other.append(random.uniform()))
        thread.start()
        thread.join()
        assert other == [random.uniform(generator=wanted)]
        random.manualSeed(8)
        assert own.initialSeed() == 8
    assert random.uniform() == random.uniform(generator=wanted)
    with pytest.raises(TypeError, match="generator is a torch"), random.using(torch.Generator()):
        pass
