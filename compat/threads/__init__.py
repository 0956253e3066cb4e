"""Torch7's package ``threads``: a pool of workers that prepare data while the net trains.

::

    from compat import torch as torch7
    from compat.threads import Threads

    donkeys = Threads(4, lambda idx: torch7.manualSeed(seed + idx))
    for i in range(n):
        donkeys.addjob(lambda: loader.sample(batchSize), trainBatch)
    donkeys.synchronize()

The workers are processes, or threads of this process (``processes=False``). The classes that the
pool is made of in Lua (``Thread``, ``Mutex``, ``Condition``, ``Queue``, ``safe``) are left out:
Python has its own.
"""

from __future__ import annotations

from typing import Any

from compat.threads.pool import Threads
from compat.threads.worker import threadid

__all__ = ["Threads", "threadid"]

_INSTEAD = {
    "Thread": "threading.Thread",
    "Mutex": "threading.Lock",
    "Condition": "threading.Condition",
    "Queue": "queue.Queue",
    "Pool": "threads.Threads(n)",
    "ThreadPool": "threads.Threads(n, processes=False)",
    "safe": "`with lock:` around the call, with a threading.Lock",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"threads.{name} is left out: use {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
