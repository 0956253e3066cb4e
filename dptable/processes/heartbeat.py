"""Find out which process is to blame when a collective fails.

A collective that breaks or times out says that some process is missing, but not which. So each
process writes a sign of life and its progress into the store of ``torch.distributed``.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torch.distributed as dist

from dptable.torch_internals import default_store

INTERVAL = 0.5
"""Seconds between two signs of life."""

# Beats to wait for before a silent process counts as gone.
_BEATS = 4
# Beats after which the store itself counts as gone.
_PATIENCE = 8

_counters: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


class Heartbeat:
    """Write this process's state to the store; read the others' after a failure.

    Args:
        group: the processes. Each of them makes its heartbeats for a group in the same order.

    Attributes:
        names: the global ranks, in the order of the group; errors name these, as torchrun and the
            logs do.
        progress: how many collectives this process has begun. When a collective times out, the
            process with the smallest number is the one that hangs.
    """

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)
        self.names = dist.get_process_group_ranks(group)
        self.progress = 0
        self.interval = INTERVAL
        self._reported = False
        self._answers = True
        name = f"dptable/{group.group_name}/{next(_counters[group.group_name])}"
        store = default_store()
        # A connection of its own: calls on the common one wait for each other.
        self._store = dist.PrefixStore(name, _own_connection(store))
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=_beat, args=(weakref.ref(self), self._stop, self.interval), daemon=True
        )
        self._thread.start()
        # Ends the thread before the interpreter exits: it may be inside the store's C++ code.
        self._end = weakref.finalize(self, _end, self._stop, self._thread, _BEATS * self.interval)

    def checked(self, collective: Callable[[], Any]) -> Any:
        """Run a collective; if it fails, the error names the rank to blame."""
        # Counted before the call, so that a process that hangs inside has the smaller number of the
        # two.
        self.progress += 1
        try:
            return collective()
        except (RuntimeError, ValueError) as error:
            raise RuntimeError(f"{self.blame()}: {error}") from error

    def write(self, beat: int) -> None:
        """Write one sign of life."""
        self._store.set(f"beat/{self.rank}", f"{beat} {self.progress}")

    def report(self, error: BaseException) -> None:
        """Tell the other processes that this one failed, with the error."""
        self._reported = True
        self._ask(f"rank {self.names[self.rank]} failed ({type(error).__name__}: {error})")

    def met(self) -> None:
        """Delete old reports, after a collective of all processes has succeeded."""
        if self._reported:
            self._reported = False
            self._store.delete_key("verdict")

    def blame(self) -> str:
        """Return which rank failed, died or hangs, as far as is known.

        All processes get the same answer.
        """
        return self._ask(None)

    def _ask(self, text: str | None) -> str:
        """Return ``_verdict(text)``, or that the store cannot be reached."""
        answer: list[str] = []

        def ask() -> None:
            try:
                answer.append(self._verdict(text))
            except RuntimeError:
                answer.append("rank 0, or the process that keeps its store, is gone")

        # The store may be behind a link that is cut, where no call ever returns.
        if self._answers:
            asking = threading.Thread(target=ask, daemon=True)
            asking.start()
            asking.join((_BEATS + _PATIENCE) * self.interval)
            self._answers = bool(answer)
        return answer[0] if answer else "rank 0's store does not answer: the link to it is cut"

    def _verdict(self, text: str | None) -> str:
        """Return the first verdict of any process, or else ``text`` or ``_examined()``."""
        # A verdict that exists is final: two processes must not blame different ranks.
        if self._store.check(["verdict"]):
            return self._store.get("verdict").decode()
        if text is None:
            text = self._examined()
        # Atomic: the first process to write decides, and all others read its answer.
        return self._store.compare_set("verdict", "", text).decode()

    def _examined(self) -> str:
        """Compare the others' signs of life over a while; return what that shows."""
        others = [rank for rank in range(self.size) if rank != self.rank]
        before = {rank: self._state(rank) for rank in others}
        threading.Event().wait(_BEATS * self.interval)
        after = {rank: self._state(rank) for rank in others}
        # Two looks, not a clock: the clocks of machines differ.
        if dead := [rank for rank in others if before[rank] == after[rank]]:
            return f"{self._named(dead)} gone"
        least = min((progress for _, progress in after.values()), default=self.progress)
        if least < self.progress:
            slow = [rank for rank in others if after[rank][1] == least]
            return f"{self._named(slow)} late, hanging or taking part in fewer passes"
        return "a collective failed on a connection between the ranks"

    def _state(self, rank: int) -> tuple[int, int]:
        if not self._store.check([f"beat/{rank}"]):
            return -1, -1
        beat, progress = self._store.get(f"beat/{rank}").decode().split()
        return int(beat), int(progress)

    def _named(self, ranks: list[int]) -> str:
        listed = ", ".join(str(self.names[rank]) for rank in ranks)
        return f"rank {listed} is" if len(ranks) == 1 else f"ranks {listed} are"

    def close(self) -> None:
        """Stop writing signs of life."""
        self._end()


def _own_connection(store: dist.Store) -> dist.Store:
    try:
        return store.clone()  # type: ignore[attr-defined]
    except (AttributeError, NotImplementedError, RuntimeError):
        return store  # one that has no connection: files, memory, or an older PyTorch


def _beat(held: weakref.ref[Heartbeat], stop: threading.Event, interval: float) -> None:
    for beat in itertools.count():
        # Only a weak reference between beats: the thread must not keep its object alive.
        heartbeat = held()
        if heartbeat is None:
            return
        try:
            heartbeat.write(beat)
        except RuntimeError:
            return  # the store is gone, and with it the group
        del heartbeat  # before the wait
        if stop.wait(interval):
            return


def _end(stop: threading.Event, thread: threading.Thread, patience: float) -> None:
    stop.set()
    if thread is not threading.current_thread():
        thread.join(patience)
