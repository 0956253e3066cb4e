"""How the processes of a job find each other, and part."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
import uuid
from collections.abc import Mapping
from datetime import timedelta

import torch.distributed as dist

_CURRENT = "dptable/attempt"
# Seconds after which a process looks whether the attempt it knew of was a former one.
_PATIENCE = 1.0


def fresh_store(timeout: timedelta) -> tuple[dist.PrefixStore, int, int]:
    """Return a store for ``torch.distributed.init_process_group``, this process's rank, and their
    number.

    torchrun keeps one store for all attempts at a job. What a former attempt left there, such as
    the addresses at which its processes listened, would be taken for the new processes' own. So
    rank 0 gives each attempt a name, under which everything is kept, and answers the others, by
    which they know that the name is not a former one.

    Raises:
        torch.distributed.DistStoreError: not all have come within ``timeout``.
    """
    store, rank, size = _hosted(timeout) or next(dist.rendezvous("env://", timeout=timeout))
    own = _open(store, size) if rank == 0 else _enter(store, rank, timeout)
    own.set_timeout(timeout)
    return own, rank, size


def is_torchruns(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether torchrun keeps the store, which listens on every interface of its machine."""
    return environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def stay_on_this_machine() -> None:
    """Have gloo, which connects the processes, listen on the loopback interface alone.

    For a job whose processes are all on this machine. An interface that somebody chose stays.
    """
    names = [name for _, name in socket.if_nameindex()] if sys.platform != "win32" else []
    for name in ("lo", "lo0"):
        if name in names:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", name)


def _hosted(timeout: timedelta) -> tuple[dist.Store, int, int] | None:
    """Return the store of rank 0 where nobody else keeps one, at the address alone at which it is
    sought.

    PyTorch's own listens on every interface. None in other ranks, and where that address is not one
    of this machine's interfaces, as behind a router.
    """
    environment = os.environ
    if is_torchruns() or int(environment.get("RANK", -1)) != 0:
        return None
    size, port = int(environment.get("WORLD_SIZE", 1)), int(environment.get("MASTER_PORT", 0))
    host = environment.get("MASTER_ADDR", "")
    for family, kind, _, _, address in _addresses(host, port):
        listener = socket.socket(family, kind)
        with contextlib.suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1024)
            store = dist.TCPStore(
                *(host, port, size, True, timeout),
                wait_for_workers=False,
                multi_tenant=True,
                master_listen_fd=listener.detach(),
            )
            return store, 0, size
        listener.close()
    return None


def _addresses(host: str, port: int) -> list[tuple[int, int, int, str, tuple[object, ...]]]:
    with contextlib.suppress(OSError):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)  # type: ignore[return-value]
    return []


def launch(store: dist.PrefixStore, job: str, first: bool) -> str | None:
    """Return what tells this launch of a job from others of the same name, for rank 0.

    The ``first`` attempt leaves it in what is under its ``fresh_store``. Returns None if it is not
    there any more, since the process that kept the store was lost, or each attempt got another.
    """
    kept, key = store.underlying_store, f"dptable/launch/{job}"
    if first:
        kept.set(key, uuid.uuid4().hex)
    return kept.get(key).decode() if kept.check([key]) else None


def end_group(group: dist.ProcessGroup | None = None) -> None:
    """``torch.distributed.destroy_process_group``, which waits for the threads of the group.

    It does so with Python's lock held, for which such a thread may be waiting itself: to let go of
    a tensor of the collective that has just ended. They get the lock first.
    """
    time.sleep(0.05)
    dist.destroy_process_group(group)


def _open(store: dist.Store, size: int) -> dist.PrefixStore:
    name = uuid.uuid4().hex
    own = dist.PrefixStore(name, store)
    store.set(_CURRENT, name)
    for rank in range(1, size):
        own.set(own.get(f"rank {rank}").decode(), "welcome")
    return own


def _enter(store: dist.Store, rank: int, timeout: timedelta) -> dist.PrefixStore:
    token = uuid.uuid4().hex
    end = time.monotonic() + timeout.total_seconds()
    while True:
        own = dist.PrefixStore(store.get(_CURRENT).decode(), store)
        own.set(f"rank {rank}", token)
        left = end - time.monotonic()
        try:
            own.wait([token], timedelta(seconds=max(0.01, min(_PATIENCE, left))))
            return own
        except dist.DistStoreError:
            if left <= _PATIENCE:
                raise
