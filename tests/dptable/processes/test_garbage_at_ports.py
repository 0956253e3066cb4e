"""Whoever talks nonsense to the ports of a job does not disturb it."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from support.processes import send, started

from dptable.processes.rendezvous import stay_on_this_machine

GARBAGE = [
    b"",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    b"\x00" * 64,
    b"\xff" * 64,
    *(random.Random(i).randbytes(200) for i in range(6)),
]


def ports(process: int) -> list[int]:
    """Where a process of this machine listens."""
    mine = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(os.readlink(link))
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.append(int(fields[1].rpartition(":")[2], 16))
    return found


def exchange(rounds: int) -> float:
    stay_on_this_machine()
    dist.init_process_group("gloo")
    send(ports(os.getpid()))
    total = torch.ones(1000)
    for _ in range(rounds):
        dist.all_reduce(total)
        total /= dist.get_world_size()
    dist.barrier()
    return float(total.sum())


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux")
def test_garbage_at_every_open_port_changes_nothing() -> None:
    with started(exchange, 2, 200, environment={"OMP_NUM_THREADS": "1"}) as processes:
        attacked = [port for rank in range(2) for port in processes.receive(rank)]
        attacked += ports(os.getpid())  # the store
        assert len(attacked) >= 3
        kept = []
        for port in attacked:
            for garbage in GARBAGE:
                connection = socket.socket()
                connection.settimeout(5)
                with contextlib.suppress(OSError):
                    connection.connect(("127.0.0.1", port))
                    connection.sendall(garbage)
                kept.append(connection)
        assert processes.results() == [1000, 1000]
        for connection in kept:
            connection.close()
