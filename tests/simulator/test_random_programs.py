"""Random programs for several streams and devices: right ones are silent and give the CPU's
numbers; from which one wait is taken, it shows unless another order makes up for it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import simulator

SLOTS, STREAMS, SIZE = 4, 4, 6


@dataclass
class Step:
    kind: str
    stream: int
    target: int
    source: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["add", "scale", "new", "part", "sum", "copy"]),
        st.integers(0, STREAMS - 1),
        st.integers(0, SLOTS - 1),
        st.integers(0, SLOTS - 1),
    ),
    min_size=1,
    max_size=30,
)


def apply(step: Step, slots: list[Tensor]) -> Tensor | None:
    """Changes a slot in place, or returns what is to stand there."""
    target, source = slots[step.target], slots[step.source]
    if step.kind == "add":
        target.add_(source)
    elif step.kind == "scale":
        target[::2].mul_(0.5)
    elif step.kind == "part":
        target[1:4].copy_(source[2:5].clone())
    elif step.kind == "new":
        return source * 2 - 1
    elif step.kind == "sum":
        return source.sum().expand(SIZE).clone()
    else:
        return source.clone()
    return None


def on_cpu(program: list[Step]) -> list[list[float]]:
    slots = [torch.full((SIZE,), float(i)) for i in range(SLOTS)]
    for step in program:
        made = apply(step, slots)
        if made is not None:
            slots[step.target] = made
    return [slot.tolist() for slot in slots]


def on_streams(program: list[Step], skipped: int = -1) -> list[list[float]]:
    """Each step on its stream, which waits for the stream of the last step that used its slots."""
    module = torch.get_device_module("sim")
    streams = [torch.Stream(device=torch.device("sim:0")) for _ in range(STREAMS)]
    slots = [torch.full((SIZE,), float(i), device="sim") for i in range(SLOTS)]
    last = [torch.accelerator.current_stream()] * SLOTS
    waits = 0
    for step in program:
        stream = streams[step.stream]
        with module.stream(stream):
            for slot in {step.target, step.source}:
                if last[slot] != stream:
                    if waits != skipped:
                        stream.wait_stream(last[slot])
                    waits += 1
            made = apply(step, slots)
            if made is not None:
                slots[step.target].record_stream(stream)
                slots[step.target] = made
            for slot in {step.target, step.source}:
                slots[slot].record_stream(stream)
                last[slot] = stream
    for stream in streams:
        stream.synchronize()
    return [slot.tolist() for slot in slots]


@given(steps, st.integers(0, 1000), st.sampled_from(["random", "late", "eager"]))
@settings(max_examples=50)
def test_right_programs_are_silent_and_right(program: list[Step], seed: int, order: str) -> None:
    simulator.reset()
    simulator.configure(seed=seed, order=order)
    assert on_streams(program) == on_cpu(program)
    simulator.check()


@given(steps, st.integers(0, 1000), st.integers(0, 20))
@settings(max_examples=50)
def test_wrong_numbers_never_come_without_a_race(
    program: list[Step], seed: int, skipped: int
) -> None:
    simulator.reset()
    simulator.configure(seed=seed)
    found = on_streams(program, skipped)
    if repr(found) != repr(on_cpu(program)):
        assert simulator.races()
    simulator.reset()


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_the_same_seed_gives_the_same_order(seed: int) -> None:
    def racing() -> list[float]:
        simulator.reset()
        simulator.configure(seed=seed)
        module = torch.get_device_module("sim")
        x = torch.zeros(1, device="sim")
        torch.accelerator.synchronize()
        for i in range(5):
            with module.stream(torch.Stream(device=torch.device("sim:0"))):
                x.mul_(3).add_(i)
        torch.accelerator.synchronize()
        result = x.tolist()
        simulator.reset()
        return result

    assert racing() == racing()
