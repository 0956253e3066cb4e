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

from typing import TYPE_CHECKING

from compat.hints import answers as _answers
from compat.threads.pool import Threads
from compat.threads.worker import threadid

__all__ = ["Threads", "threadid"]

_HINTS = {
    "Thread": "use threading.Thread",
    "Mutex": "use threading.Lock",
    "Condition": "use threading.Condition",
    "Queue": "use queue.Queue",
    "Pool": "use threads.Threads(n)",
    "ThreadPool": "use threads.Threads(n, processes=False)",
    "safe": "use `with lock:` around the call, with a threading.Lock",
}

if not TYPE_CHECKING:
    __getattr__ = _answers(__name__, "threads", _HINTS, __all__)
