"""Each attempt at a job has a store to itself, though torchrun keeps one for all."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import torch.distributed as dist

from dptable.processes import rendezvous
from dptable.processes.rendezvous import fresh_store

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(not dist.is_available(), reason="PyTorch was built without it"),
]


@pytest.fixture
def shared(monkeypatch):
    """The store that torchrun keeps; each thread gets a connection of its own to it."""
    kept = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=20))
    place = threading.local()

    def found(url, timeout):
        yield dist.TCPStore("127.0.0.1", kept.port, is_master=False), place.rank, 3

    monkeypatch.setattr(dist, "rendezvous", found)
    monkeypatch.setattr(rendezvous, "_PATIENCE", 0.2)
    return kept, place


def attempt(place, late=()):
    """The stores of three processes; those of ``late`` come when the others wait already."""
    stores, waiting = {}, threading.Event()

    def join(rank):
        place.rank = rank
        if rank in late:
            waiting.wait()
        stores[rank] = fresh_store(timedelta(seconds=20))

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    threads[1].join(0.5)
    waiting.set()
    for thread in threads:
        thread.join()
    return stores


@pytest.mark.parametrize("late", [(0,), (1,), (0, 2)])
def test_processes_meet_in_a_store_without_what_a_former_attempt_left(shared, late):
    _, place = shared
    for number in range(2):
        stores = attempt(place, late)
        assert {rank: stores[rank][1:] for rank in stores} == {r: (r, 3) for r in range(3)}
        assert not stores[1][0].check(["address"])
        stores[0][0].set("address", f"attempt {number}")
        assert stores[1][0].get("address") == stores[2][0].get("address")
        assert stores[1][0].get("address").decode() == f"attempt {number}"


def test_who_is_alone_gives_up(shared):
    kept, place = shared
    place.rank = 1
    kept.set("dptable/attempt", "a former one")
    with pytest.raises(dist.DistStoreError):
        fresh_store(timedelta(seconds=0.5))
