"""What the caller has set for its own thread holds in the workers too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch

Job = Callable[[], Any]


def carried(jobs: Sequence[Job], devices: Sequence[torch.device]) -> list[Job]:
    """``jobs``, one per device, to be run in other threads as if in this one.

    They see the caller's ``no_grad``, ``inference_mode`` and ``autocast``; on a GPU their streams
    wait for the caller's current stream there, and it waits for theirs.
    """
    contexts = _contexts()
    jobs = [_within(job, contexts) for job in jobs] if contexts else list(jobs)
    return [
        _behind(job, torch.cuda.current_stream(device)) if device.type == "cuda" else job
        for job, device in zip(jobs, devices, strict=True)
    ]


def _contexts() -> list[Callable[[], Any]]:
    contexts: list[Callable[[], Any]] = []
    if torch.is_inference_mode_enabled():
        contexts.append(torch.inference_mode)
    elif not torch.is_grad_enabled():
        contexts.append(torch.no_grad)
    for kind in ("cpu", "cuda"):
        if torch.is_autocast_enabled(kind):
            contexts.append(_autocast(kind))
    return contexts


def _autocast(kind: str) -> Callable[[], Any]:
    dtype, cached = torch.get_autocast_dtype(kind), torch.is_autocast_cache_enabled()
    return lambda: torch.autocast(kind, dtype=dtype, cache_enabled=cached)


def _within(job: Job, contexts: list[Callable[[], Any]]) -> Job:
    def run() -> Any:
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context())
            return job()

    return run


def _behind(job: Job, callers: torch.cuda.Stream) -> Job:
    def run() -> Any:
        own = torch.cuda.current_stream(callers.device)
        if own == callers:
            return job()
        own.wait_stream(callers)
        try:
            return job()
        finally:
            callers.wait_stream(own)

    return run
