"""Knowing which process is to blame when a collective fails.

A collective that breaks or times out says that somebody is missing, not who. Each process writes a
sign of life and how far it has come into the store that ``torch.distributed`` keeps anyway.
"""

from __future__ import annotations

import threading
import time
import weakref

import torch.distributed as dist

_INTERVAL = 0.5


class Heartbeat:
    """Writes this process's state to the store, and reads the others' when something went wrong.

    ``progress`` counts the passes begun; a process that lags behind is the one that hangs.
    """

    def __init__(self, rank: int, size: int, interval: float = _INTERVAL) -> None:
        self.rank = rank
        self.size = size
        self.progress = 0
        self.interval = interval
        # A connection of its own: the others may be waiting on the first.
        store = dist.distributed_c10d._get_default_store()
        self._store = dist.PrefixStore("dptable", store)
        self._stop = threading.Event()
        thread = threading.Thread(
            target=_beat, args=(weakref.ref(self), self._stop, interval), daemon=True
        )
        thread.start()
        self._thread = thread

    def write(self, beat: int) -> None:
        """Write one sign of life."""
        self._store.set(f"beat/{self.rank}", f"{beat} {self.progress}")

    def report(self, error: BaseException) -> None:
        """Leave word that this process failed, and of what."""
        try:
            self._store.set(f"error/{self.rank}", f"{type(error).__name__}: {error}")
        except RuntimeError:
            return  # the store is gone: the others will notice that too

    def blame(self) -> str:
        """Which rank failed, died or hangs, as far as can be told."""
        try:
            return self._blame()
        except RuntimeError:
            return "rank 0, which keeps the store, is gone"

    def _blame(self) -> str:
        others = [rank for rank in range(self.size) if rank != self.rank]
        for rank in others:
            if self._store.check([f"error/{rank}"]):
                text = self._store.get(f"error/{rank}").decode()
                return f"rank {rank} failed ({text})"
        before = {rank: self._state(rank) for rank in others}
        time.sleep(3 * self.interval)
        after = {rank: self._state(rank) for rank in others}
        dead = [rank for rank in others if before[rank] == after[rank]]
        if dead:
            return f"rank {_listed(dead)} is gone"
        slow = [rank for rank in others if after[rank][1] < self.progress]
        if slow:
            return f"rank {_listed(slow)} hangs"
        return "a collective failed on a connection between the ranks"

    def _state(self, rank: int) -> tuple[int, int]:
        if not self._store.check([f"beat/{rank}"]):
            return -1, -1
        beat, progress = self._store.get(f"beat/{rank}").decode().split()
        return int(beat), int(progress)

    def close(self) -> None:
        """Stop writing."""
        self._stop.set()
        self._thread.join()


def _beat(held: weakref.ref[Heartbeat], stop: threading.Event, interval: float) -> None:
    beat = 0
    while True:
        heartbeat = held()
        if heartbeat is None:
            return
        try:
            heartbeat.write(beat)
        except RuntimeError:
            return  # the store is gone, and with it the group
        beat += 1
        del heartbeat
        if stop.wait(interval):
            return


def _listed(ranks: list[int]) -> str:
    return ", ".join(map(str, ranks))
