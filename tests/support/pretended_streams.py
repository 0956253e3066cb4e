"""Streams without an accelerator: they only write down, in order, what is asked of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import accelerators


class Stream:
    def __init__(self, name: str, events: list[str]) -> None:
        self.name = name
        self.device = torch.device("cuda", 0)
        self._events = events

    def __str__(self) -> str:
        return self.name

    def wait_stream(self, other: Stream) -> None:
        self._events.append(f"{self} waits for {other}")

    def wait_event(self, event: Event) -> None:
        self._events.append(f"{self} waits for {event}")


class Event:
    def __init__(self, number: int, events: list[str]) -> None:
        self.number = number
        self._events = events

    def __str__(self) -> str:
        return f"event {self.number}"

    def record(self, stream: Stream) -> None:
        self._events.append(f"{stream} records {self}")


class Streams:
    """Takes the place of what accelerators and tensors offer for streams, for one test.

    Every thread starts on the stream "default". Copies are those of ``Tensor.to``.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[str] = []
        self.default = self.stream("default")
        self._recorded = 0
        self._thread = threading.local()
        to = Tensor.to

        def copied(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            self.events.append(f"copy on {self.current()}")
            return to(tensor, *args, **kwargs)

        def kept(tensor: Tensor, stream: Stream) -> None:
            self.events.append(f"memory kept for {stream}")

        def pinned(tensor: Tensor) -> Tensor:
            self.events.append("pin")
            return tensor

        monkeypatch.setattr(accelerators, "count", lambda kind: 1)
        monkeypatch.setattr(accelerators, "use", lambda device: None)
        monkeypatch.setattr(accelerators, "pins_memory", lambda: True)
        monkeypatch.setattr(accelerators, "current_stream", self.current)
        monkeypatch.setattr(accelerators, "on_stream", self.within)
        monkeypatch.setattr(accelerators, "new_stream", lambda device: self.stream("side"))
        monkeypatch.setattr(accelerators, "event", self.event)
        monkeypatch.setattr(Tensor, "to", copied)
        monkeypatch.setattr(Tensor, "record_stream", kept)
        monkeypatch.setattr(Tensor, "pin_memory", pinned)

    def stream(self, name: str) -> Stream:
        return Stream(name, self.events)

    def event(self, device: torch.device) -> Event:
        self._recorded += 1
        return Event(self._recorded, self.events)

    def current(self, device: Any = None) -> Stream:
        return getattr(self._thread, "stream", self.default)

    @contextmanager
    def within(self, stream: Stream) -> Iterator[None]:
        before, self._thread.stream = self.current(), stream
        try:
            yield
        finally:
            self._thread.stream = before
