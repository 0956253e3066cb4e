"""Measure the time of a step's phases on each device; show a table or a Chrome trace."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from compat import accelerators, strict_json
from compat.t7.base.atomic_file import atomic_file

PHASES = ("distribute", "forward", "concat", "backward", "reduce", "sync")


@dataclass(frozen=True)
class Span:
    """One phase of one step on one device; times in seconds since the profile began."""

    step: int
    phase: str
    device: str
    start: float
    duration: float


class Profile:
    """The spans of the steps taken inside ``DataParallelTable.profile()``.

    A step begins with a forward pass. The CPU waits for the GPU at both ends of each span, so the
    times are the GPU's; therefore nothing overlaps while a profile is taken.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.steps = 0
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    def begin_step(self) -> None:
        """Start the next step: later spans belong to it."""
        self.steps += 1

    @contextmanager
    def span(self, phase: str, name: str, device: torch.device) -> Iterator[None]:
        """Time the block as ``phase`` on ``device``."""
        # Work queued before belongs to another span.
        accelerators.synchronize(device)
        start = time.perf_counter()
        try:
            yield
        finally:
            accelerators.synchronize(device)
            end = time.perf_counter()
            with self._lock:
                self.spans.append(Span(self.steps, phase, name, start - self._began, end - start))

    def table(self) -> str:
        """Return milliseconds per step, with a row per phase and a column per device."""
        totals: dict[tuple[str, str], float] = defaultdict(float)
        for span in self.spans:
            totals[span.phase, span.device] += span.duration
        devices = sorted({span.device for span in self.spans})
        known = {span.phase for span in self.spans}
        phases = [p for p in PHASES if p in known] + sorted(known.difference(PHASES))
        width = max([12, *(len(device) + 2 for device in devices)])
        lines = [f"{'ms per step':12}" + "".join(f"{device:>{width}}" for device in devices)]
        for phase in phases:
            cells = (totals.get((phase, device)) for device in devices)
            lines.append(
                f"{phase:12}"
                + "".join(
                    f"{'-':>{width}}"
                    if cell is None
                    else f"{1e3 * cell / max(self.steps, 1):>{width}.3f}"
                    for cell in cells
                )
            )
        return "\n".join(lines)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write the spans as a file for chrome://tracing or Perfetto."""
        events = [
            {
                "name": span.phase,
                "cat": f"step {span.step}",
                "ph": "X",
                "ts": 1e6 * span.start,
                "dur": 1e6 * span.duration,
                "pid": "DataParallelTable",
                "tid": span.device,
            }
            for span in self.spans
        ]
        with atomic_file(path) as file:
            file.write(strict_json.dumps({"traceEvents": events}).encode())
