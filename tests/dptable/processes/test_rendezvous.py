"""Each attempt at a job has a store to itself, though torchrun keeps one for all."""

from __future__ import annotations

import os
import socket
import threading
from datetime import timedelta
from pathlib import Path

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


def listening(port: int) -> set[str]:
    """The addresses, in hexadecimal, at which a port of this machine listens."""
    found = set()
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(name).read_text().splitlines()[1:]:
            address, _, number = line.split()[1].partition(":")
            if int(number, 16) == port and line.split()[3] == "0A":
                found.add(address)
    return found


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux")
def test_the_store_of_rank_0_listens_where_it_is_sought_alone(monkeypatch):
    port = free_port()
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "RANK": "0"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    patience = timedelta(seconds=20)
    stores = {}

    def first():
        stores[0] = fresh_store(patience)[0]

    thread = threading.Thread(target=first)
    thread.start()
    other = dist.TCPStore("127.0.0.1", port, is_master=False, timeout=patience)
    monkeypatch.setattr(dist, "rendezvous", lambda *a, **b: iter([(other, 1, 2)]))
    monkeypatch.setenv("RANK", "1")
    stores[1] = fresh_store(patience)[0]
    thread.join()
    stores[0].set("a", "b")
    assert stores[1].get("a") == b"b"
    assert listening(port) == {"0100007F"}


def test_an_address_that_is_not_of_this_machine_is_left_to_pytorch(monkeypatch):
    told = {"MASTER_ADDR": "192.0.2.1", "MASTER_PORT": "1", "WORLD_SIZE": "2", "RANK": "0"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    assert rendezvous._hosted(timedelta(seconds=1)) is None


def test_processes_of_one_machine_meet_on_the_loopback_interface(monkeypatch):
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    rendezvous.stay_on_this_machine()
    assert os.environ.get("GLOO_SOCKET_IFNAME") in ("lo", "lo0", None)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth7")
    rendezvous.stay_on_this_machine()
    assert os.environ["GLOO_SOCKET_IFNAME"] == "eth7"
