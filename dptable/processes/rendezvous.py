"""Connection and disconnection of the processes of a job."""

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
    """Make a store for ``torch.distributed.init_process_group``.

    torchrun keeps one store for all attempts at a job. Entries of a former attempt, such as the
    addresses at which its processes listened, would be taken for those of the new processes. So
    rank 0 gives each attempt a name, which prefixes all keys, and answers the others' requests,
    which proves that the name is not a former one.

    Returns:
        The store, this process's rank, and the number of processes.

    Raises:
        torch.distributed.DistStoreError: not all processes have come within ``timeout``.
    """
    store, rank, size = _hosted(timeout) or next(dist.rendezvous("env://", timeout=timeout))
    own = _open(store, size) if rank == 0 else _enter(store, rank, timeout)
    own.set_timeout(timeout)
    return own, rank, size


def is_torchruns(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether torchrun keeps the store; it listens on every interface of its machine."""
    return environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def stay_on_this_machine() -> None:
    """Make gloo listen on the loopback interface only.

    For a job whose processes are all on this machine. An interface that the user chose
    (``GLOO_SOCKET_IFNAME``) is kept.
    """
    names = [name for _, name in socket.if_nameindex()] if sys.platform != "win32" else []
    for name in ("lo", "lo0"):
        if name in names:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", name)


def _hosted(timeout: timedelta) -> tuple[dist.Store, int, int] | None:
    """Host the store in rank 0, listening only on the address at which the others look for it.

    PyTorch's own store listens on every interface. Returns None in other ranks, if torchrun keeps
    the store, and if the address is not one of this machine's interfaces, as behind a router.
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
    """Return an id that tells this launch of a job from others of the same name, for rank 0.

    The ``first`` attempt writes it into the store. Returns None if it is not there any more,
    because the process that kept the store was lost, or each attempt got another store.
    """
    kept, key = store.underlying_store, f"dptable/launch/{job}"
    if first:
        kept.set(key, uuid.uuid4().hex)
    return kept.get(key).decode() if kept.check([key]) else None


def end_group(group: dist.ProcessGroup | None = None) -> None:
    """Destroy a process group without a deadlock.

    ``torch.distributed.destroy_process_group`` waits for the group's threads while it holds
    Python's lock. Such a thread may itself wait for the lock, to free a tensor of the last
    collective. So the threads get the lock first.
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
