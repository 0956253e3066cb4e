"""Basic and Threads: errors reach the caller, nothing hangs, threads end."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT
from support.tensors import on

from compat import cutorch, nn
from dptable import DataParallelTable
from dptable.threads.dispatch import Basic, Job, Threads

DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
INPUT, GRADIENT = torch.randn(7, 4), torch.randn(7, 3)


pytestmark = pytest.mark.devices(4)


def second() -> str:
    """The name of the second replica's device: not every replica is told by a GPU id."""
    return str(cutorch.device(2))


class _Trap(nn.Module):
    """Passes its input through; a replica falls into it when ``errors`` has its number."""

    errors: dict[int, BaseException] = {}
    direction = "forward"

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def spring(self, direction: str) -> None:
        if direction == self.direction and self.number in self.errors:
            raise self.errors[self.number]

    def updateOutput(self, input: torch.Tensor) -> torch.Tensor:
        self.spring("forward")
        self.output = input
        return self.output

    def updateGradInput(self, input: torch.Tensor, gradOutput: torch.Tensor) -> torch.Tensor:
        self.spring("backward")
        self.gradInput = gradOutput
        return self.gradInput


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def arm(direction: str, **errors: BaseException) -> None:
        monkeypatch.setattr(_Trap, "direction", direction)
        numbered = {int(name.removeprefix("r")): error for name, error in errors.items()}
        monkeypatch.setattr(_Trap, "errors", numbered)

    return arm


@pytest.fixture
def make() -> Iterator[Callable[..., DataParallelTable]]:
    made: list[DataParallelTable] = []

    def build(threads: bool = True, **options: Any) -> DataParallelTable:
        net = nn.Sequential().add(nn.Linear(4, 3)).add(_Trap()).add(nn.Tanh())
        dpt = DataParallelTable(1, **options).add(net, [1, second(), 3])
        if threads:
            dpt.threads()

        def number(module: Any, i: int) -> None:
            module.get(2).number = i

        dpt.exec(number)
        made.append(dpt)
        return dpt

    yield build
    for dpt in made:
        dpt.close()


def replica_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("dptable-replica")]


def gradients(dpt: DataParallelTable) -> list[list[torch.Tensor]]:
    return [[g.clone() for g in m.parameters()[1]] for m in dpt.exec(lambda m, i: m)]


# Errors.


@DISPATCHERS
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_an_error_names_replica_device_and_place(
    make: Any, trap: Any, threads: bool, direction: str
) -> None:
    dpt = make(threads)
    trap(direction, r2=ValueError("a bad number"))
    with pytest.raises(ValueError) as caught:
        dpt.forward(INPUT)
        dpt.backward(INPUT, GRADIENT)
    assert str(caught.value) == f"replica 2 ({second()}): nn.Sequential[2] _Trap: a bad number"
    lines = "".join(traceback.format_exception(caught.value))
    assert "in spring" in lines
    assert ("worker.py" in lines) == threads


@DISPATCHERS
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_container_works_after_an_error(
    make: Any, trap: Any, threads: bool, direction: str
) -> None:
    dpt, unhurt = make(threads), make(threads)
    for own, other in zip(unhurt.parameters()[0], dpt.parameters()[0], strict=True):
        own.copy_(other)
    unhurt.syncParameters()
    for net in (dpt, unhurt):
        net.zeroGradParameters()
        net.forward(INPUT)
        net.backward(INPUT, GRADIENT)

    before = gradients(dpt)
    trap(direction, r3=ValueError("no"))
    with pytest.raises(ValueError, match=rf"replica 3 \(GPU 3, {cutorch.device(3)}\)"):
        dpt.forward(INPUT)
        dpt.backward(INPUT, GRADIENT)
    after = gradients(dpt)
    assert not any(g.any() for replica in after[1:] for g in replica)
    if direction == "forward":
        torch.testing.assert_close(after, before, rtol=0, atol=0)

    trap(direction)
    for net in (dpt, unhurt):
        net.zeroGradParameters()
        torch.testing.assert_close(net.forward(INPUT), unhurt.output)
        net.backward(INPUT, GRADIENT)
    torch.testing.assert_close(gradients(dpt), gradients(unhurt))


def test_every_replica_has_stopped_when_the_error_is_raised(make: Any) -> None:
    ended: list[int] = []

    def job(module: Any, i: int) -> None:
        if i == 1:
            raise ValueError("at once")
        time.sleep(0.1)
        ended.append(i)

    with pytest.raises(ValueError, match=rf"replica 1 \(GPU 1, {cutorch.device(1)}\): at once"):
        make().exec(job)
    assert sorted(ended) == [2, 3]


@DISPATCHERS
def test_the_first_of_several_errors_is_raised(make: Any, trap: Any, threads: bool) -> None:
    trap("forward", r3=KeyError("late"), r2=OSError(5, "early"))
    with pytest.raises(OSError, match="early") as caught:
        make(threads).forward(INPUT)
    if sys.version_info >= (3, 11):
        notes = "".join(caught.value.__notes__)
        assert f"replica 2 ({second()}): nn.Sequential[2] _Trap" in notes


@DISPATCHERS
def test_the_current_device_is_restored_after_an_error(make: Any, trap: Any, threads: bool) -> None:
    dpt = make(threads)
    cutorch.setDevice(4)
    trap("forward", r2=ValueError("no"))
    with pytest.raises(ValueError):
        dpt.forward(INPUT)
    with pytest.raises(ZeroDivisionError):
        dpt.exec(lambda m, i: (cutorch.setDevice(2), 1 / 0))
    assert cutorch.getDevice() == 4


@DISPATCHERS
def test_every_function_starts_on_its_own_device(make: Any, threads: bool) -> None:
    dpt = make(threads)
    dpt.exec(lambda module, i: cutorch.setDevice(4))
    ids = [1, cutorch.gpu_id(second()), 3]
    assert dpt.exec(lambda module, i: cutorch.getDevice()) == ids
    # The list of devices is another one now.
    cutorch.configure([*cutorch.devices(), cutorch.device(1)])
    assert dpt.exec(lambda module, i: cutorch.getDevice()) == ids
    assert cutorch.getDevice() == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_a_replica_that_is_interrupted(make: Any, trap: Any, kind: type[BaseException]) -> None:
    dpt = make()
    trap("forward", r2=kind("stop"))
    with pytest.raises(kind, match=rf"replica 2 \({second()}\)"):
        dpt.forward(INPUT)
    trap("forward")
    assert dpt.forward(INPUT).shape == (7, 3)
    assert len(replica_threads()) == 3


def test_interrupting_the_caller(make: Any) -> None:
    dpt = make()
    main = threading.main_thread().ident
    assert main is not None
    ended: list[int] = []

    def job(module: Any, i: int) -> None:
        time.sleep(0.3)
        ended.append(i)

    timer = threading.Timer(0.1, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dpt.exec(job)
    timer.join()
    assert sorted(ended) == [1, 2, 3]
    assert dpt.forward(INPUT).shape == (7, 3)


def test_a_replica_cannot_use_its_own_container(make: Any) -> None:
    dpt = make()
    with pytest.raises(RuntimeError, match=r"replica 1 .*cannot use the container itself"):
        dpt.exec(lambda m, i: dpt.forward(INPUT))


# initFunc.


def test_initFunc_runs_once_in_every_worker(make: Any) -> None:
    dpt, names = make(False), []
    dpt.threads(lambda: names.append(threading.current_thread().name))
    for _ in range(3):
        dpt.forward(INPUT)
    assert sorted(names) == [f"dptable-replica-{i}" for i in (1, 2, 3)]
    assert dpt.exec(lambda m, i: threading.current_thread().name) == sorted(names)


def test_initFunc_that_raises(make: Any) -> None:
    dpt, failing = make(False), [True]

    def init() -> None:
        if failing and threading.current_thread().name.endswith("2"):
            raise ImportError("no such layer")

    dpt.threads(init)
    for _ in range(2):
        with pytest.raises(ImportError, match=rf"replica 2 \({second()}\): no such layer"):
            dpt.forward(INPUT)
        assert not replica_threads()
    failing.clear()
    assert dpt.forward(INPUT).shape == (7, 3)
    assert len(replica_threads()) == 3


# Threads and their end.


def test_the_threads_live_as_long_as_the_container(make: Any) -> None:
    dpt = make()
    idents = dpt.exec(lambda m, i: threading.get_ident())
    assert len(set(idents)) == 3
    dpt.forward(INPUT)
    dpt.backward(INPUT, GRADIENT)
    dpt.apply(lambda m: None)
    dpt.type(dpt.get(1).type())
    assert dpt.exec(lambda m, i: threading.get_ident()) == idents
    dpt.close()
    assert not replica_threads()


def test_another_number_of_devices_needs_other_threads() -> None:
    dpt = DataParallelTable(1).threads()
    dpt.add(nn.Linear(4, 3), 1).add(None, 2)
    dpt.forward(INPUT)
    assert len(replica_threads()) == 2
    dpt.add(None, 3)
    dpt.forward(INPUT)
    assert len(replica_threads()) == 3
    dpt.close()


@pytest.mark.freed_at_once  # of "after an error"
@pytest.mark.parametrize("how", ["dropped", "after an error", "after backward", "in a net"])
def test_a_container_that_is_dropped_ends_its_threads(how: str) -> None:
    net: Any = DataParallelTable(1, True).threads().add(nn.Linear(4, 3), [1, 2, 3])
    gc.disable()
    try:
        if how == "in a net":
            net = nn.Sequential().add(net).add(nn.Tanh())
        net.forward(INPUT)
        if how == "after an error":
            with pytest.raises(ValueError):
                net.forward(torch.ones(7, 5))
        elif how != "dropped":
            net.backward(INPUT, on(1, GRADIENT))
        assert len(replica_threads()) == 3
        del net
        assert not replica_threads()
    finally:
        gc.enable()


def test_threads_of_many_containers_do_not_add_up() -> None:
    for _ in range(20):
        dpt = DataParallelTable(1).threads().add(nn.Linear(4, 3), [1, 2])
        dpt.forward(INPUT)
        assert len(replica_threads()) <= 4
    del dpt
    assert not replica_threads()


def test_switching_to_threads_anew_ends_the_old_ones(make: Any) -> None:
    dpt = make()
    old = replica_threads()
    dpt.threads()
    dpt.forward(INPUT)
    assert len(replica_threads()) == 3 and not set(old) & set(replica_threads())


# Replicas elsewhere leave the number as it is.
@pytest.mark.cpus(4)
def test_the_callers_number_of_threads_stays(make: Any) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(4)
        dpt = make()
        assert torch.get_num_threads() == 4
        assert dpt.exec(lambda m, i: torch.get_num_threads()) == [1, 1, 1]
    finally:
        torch.set_num_threads(before)


# The end of the process: scripts of their own, on CPUs.

_SCRIPT = """
    import sys, threading, time
    import torch
    from compat import cutorch, nn
    from dptable import DataParallelTable
    cutorch.configure(["cpu"] * 3)
    torch.set_num_threads(1)
    dpt = DataParallelTable(1, True).threads().add(nn.Linear(4, 3), [1, 2, 3])
    dpt.forward(torch.ones(7, 4))
    dpt.backward(torch.ones(7, 4), torch.ones(7, 3))
"""


def script(ending: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [forked_python(), "-c", textwrap.dedent(_SCRIPT) + textwrap.dedent(ending)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.cpus(3)
@pytest.mark.parametrize(
    ("ending", "code", "message"),
    [
        ("", 0, ""),
        ("held = [dpt]; held.append(held)", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("raise ValueError('the end')", 1, "the end"),
        ("dpt.exec(lambda m, i: 1 / 0)", 1, "replica 1 (GPU 1, cpu): division by zero"),
    ],
    ids=["end", "cycle", "exit", "error", "error in a replica"],
)
def test_the_interpreter_ends_while_workers_live(ending: str, code: int, message: str) -> None:
    process = script(ending)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert message in errors
    assert (errors == "") == (message == "")


@pytest.mark.cpus(3)
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_the_process() -> None:
    process = script(
        """
        print("ready", flush=True)
        while True:
            dpt.exec(lambda m, i: time.sleep(0.2))
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT


@pytest.mark.cpus(3)
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_second_ctrl_c_does_not_wait_for_a_replica_that_is_stuck() -> None:
    process = script(
        """
        ready = threading.Barrier(2)
        def stuck(module, i):
            if i == 2:
                ready.wait()
                threading.Event().wait()
        def announce():
            ready.wait()
            print("ready", flush=True)
        threading.Thread(target=announce).start()
        try:
            dpt.exec(stuck)
        except KeyboardInterrupt:
            # The container works, with other threads.
            dpt.forward(torch.ones(7, 4))
            dpt.backward(torch.ones(7, 4), torch.ones(7, 3))
            print("done", flush=True)
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for _ in range(2):
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (0, "done\n", "")


@pytest.mark.cpus(3)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    process = script(
        """
        import os
        pid = os.fork()
        out = dpt.forward(torch.ones(7, 4))
        dpt.close()
        if pid:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def _shared(dispatcher: Basic, fails: int | None = None) -> list[str]:
    """The names of the threads that did the parts, in the order of the parts."""
    gpus = [1, 2, 3, 4]
    names = [""] * 4

    def part(i: int) -> None:
        names[i] = threading.current_thread().name
        if i == fails:
            raise ValueError("mishap")

    dispatcher.share([partial(part, i) for i in range(4)], gpus)
    return names


def test_the_caller_and_the_workers_share_parts() -> None:
    dispatcher, caller = Threads(), threading.current_thread().name
    # Before there are threads, and in a worker, which could not wait for itself, one does all.
    assert _shared(dispatcher) == [caller] * 4
    dispatcher.prepare([1, 2, 3, 4])
    workers = [f"dptable-replica-{i}" for i in (2, 3, 4)]
    assert _shared(dispatcher) == [caller, *workers]
    inside = dispatcher.run([Job(_shared, dispatcher) for _ in range(4)], [1, 2, 3, 4])
    assert inside == [[f"dptable-replica-{i}"] * 4 for i in (1, 2, 3, 4)]
    dispatcher.close()
    assert _shared(dispatcher) == [caller] * 4


@pytest.mark.parametrize("part", [0, 2])
def test_a_part_that_fails(part: int) -> None:
    dispatcher = Threads()
    dispatcher.prepare([1, 2, 3, 4])
    with pytest.raises(ValueError, match="mishap") as caught:
        _shared(dispatcher, part)
    assert str(caught.value).startswith("replica 3") == (part == 2)
    assert "" not in _shared(dispatcher)
    dispatcher.close()


@pytest.mark.parametrize("flat", [False, True])
def test_large_gradients_are_zeroed_and_summed_by_all_threads(
    flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = nn.Sequential().add(nn.Linear(400, 500)).add(nn.Linear(500, 400)).double()
    alone = net.clone()
    model = DataParallelTable(1, flat).add(net, [1, 2, 3, 4]).threads()
    input, gradOutput = torch.randn(9, 400).double(), torch.randn(9, 400).double()
    helped: set[str] = set()
    share = Threads.share

    def noted(self: Threads, parts: Any, gpus: Any) -> None:
        helped.add(parts[0].func.__name__)
        share(self, parts, gpus)

    monkeypatch.setattr(Threads, "share", noted)
    for passes in (1, 2):
        for each in (alone, model):
            each.zeroGradParameters()
            for _ in range(passes):
                each.forward(input)
                each.backward(input, gradOutput)
        expected = torch.cat([g.flatten() for g in alone.parameters()[1]])
        found = torch.cat([g.flatten().cpu() for g in model.parameters()[1]])
        torch.testing.assert_close(found, expected)
        others = model.moduleParameters()[1:]
        assert all(not g.any() for _, gradients in others for g in gradients if g is not None)
    if cutorch.device(1).type == "cpu":
        assert helped == {"foreach_zero_", "reduce_slice_"}
    else:
        assert not helped
    model.zeroGradParameters()
    for _, gradients in model.moduleParameters():
        assert all(not g.any() for g in gradients if g is not None)
    model.close()
