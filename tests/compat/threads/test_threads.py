"""Torch7's pool of workers: its order of events, its errors, its end."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import resource_sharer

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT

from compat import random, threads
from compat.threads import Threads, threadid
from compat.threads.serialization import dumps, loads

counter = 0
KINDS = pytest.mark.parametrize("processes", [True, False], ids=["processes", "threads"])


def count() -> int:
    """How often this was called in this process."""
    global counter
    counter += 1
    return counter


@KINDS
def test_values_and_arguments_go_there_and_back(processes):
    got = []
    with Threads(2, processes=processes) as pool:
        for job in (lambda: None, lambda: 1, lambda: (1, None), lambda: [1, 2], lambda: ()):
            pool.addjob(job, lambda *values: got.append(values))
        pool.addjob(lambda a, b: (b, a), lambda *values: got.append(values), 1, {"x": 2})
        pool.addjob(lambda: got)
        pool.synchronize()
        assert not pool.hasjob()
    wanted = [(), (1,), (1, None), ([1, 2],), (), ({"x": 2}, 1)]
    assert sorted(got, key=repr) == sorted(wanted, key=repr)


@KINDS
def test_init_runs_in_every_worker_in_order(processes):
    seen = []
    with Threads(3, lambda i: None, lambda i: (i, threadid()), processes=processes) as pool:
        assert sorted(pool.initres) == [(1, 1), (2, 2), (3, 3)]
        assert Threads(1, lambda i: None, processes=processes).initres == [()]
        pool.specific(True)
        for i in (3, 1, 2, 3):
            pool.addjob(i, threadid, seen.append)
        pool.synchronize()
    assert sorted(seen) == [1, 2, 3, 3]
    assert threadid() is None


def test_a_process_has_globals_of_its_own_and_copies_of_upvalues():
    upvalue = [1]

    def change():
        upvalue.append(2)
        return count(), list(upvalue)

    got = []
    with Threads(1) as pool:
        for _ in range(2):
            pool.addjob(change, lambda *values: got.append(values))
        pool.synchronize()
    assert got == [(1, [1, 2]), (2, [1, 2])]
    assert counter == 0 and upvalue == [1]


def test_upvalues_are_those_of_the_moment_when_the_job_was_added():
    value, got = 1, []
    with Threads(1) as pool:
        pool.addjob(lambda: value, got.append)
        value = 2
        pool.addjob(lambda: value, got.append)
        pool.synchronize()
    assert got == [1, 2]


@KINDS
def test_each_worker_draws_from_a_stream_of_its_own(processes):
    state = random.getRNGState()
    streams = []
    for _ in range(2):
        with Threads(2, lambda i: random.uniform(), processes=processes) as pool:
            streams += pool.initres
    assert len(set(streams)) == 4
    assert random.getRNGState().equal(state)


def test_the_other_generators_of_worker_processes_differ_too():
    def draw(i):
        import numpy as np

        return torch.rand(()).item(), np.random.rand()

    with Threads(2, draw) as pool:
        (a, b), (c, d) = pool.initres
    assert a != c and b != d


def test_the_queue_holds_as_many_jobs_as_there_are_workers():
    started, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def job():
        started.release()
        go_on.acquire()

    with Threads(2, processes=False) as pool:
        for _ in range(2):
            pool.addjob(job)
        for _ in range(2):
            assert started.acquire(timeout=60)  # both are taken from the queue
        for _ in range(2):
            assert pool.acceptsjob()
            pool.addjob(job)
        assert not pool.acceptsjob()
        called = []
        for _ in range(4):
            go_on.release()
        pool.addjob(lambda: 5, called.append)  # waits for room
        pool.synchronize()
        assert called == [5] and pool.acceptsjob() and not pool.hasjob()


@KINDS
def test_asynchronous_use(processes):
    results: list[int] = []
    added = 0
    with Threads(3, processes=processes) as pool:

        def get():
            nonlocal added
            while added < 20 and pool.acceptsjob():
                added += 1
                pool.addjob(lambda n: n * n, results.append, added)
            if pool.hasjob():
                pool.dojob()
                return True
            return False

        while get():
            pass
        with pytest.raises(RuntimeError, match="dojob waits for a job, and there is none"):
            pool.dojob()
    assert sorted(results) == [n * n for n in range(1, 21)]


@KINDS
def test_specific_mode_waits_for_the_jobs_and_checks_the_number(processes):
    done = []
    with Threads(2, processes=processes) as pool:
        assert pool.specific() is False
        pool.addjob(lambda: 1, done.append)
        pool.specific(True)
        assert done == [1] and pool.specific() is True
        for wrong in (0, 3, "1", lambda: 1):
            with pytest.raises((ValueError, TypeError), match=r"id is .*; a whole number"):
                pool.addjob(wrong, lambda: 1)
        with pytest.raises(TypeError, match="id is None"):
            pool.acceptsjob()
        assert pool.acceptsjob(2)
        with pytest.raises(TypeError, match="flag is 1; True or False is accepted"):
            pool.specific(1)


class Odd(Exception):
    """An error that pickle writes, but cannot read."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def fail():
    raise KeyError("boo")


@KINDS
def test_an_error_of_a_job_is_raised_here_and_the_others_go_on(processes):
    got = []
    with Threads(2, processes=processes) as pool:
        pool.addjob(fail, got.append)
        pool.addjob(lambda: 5, got.append)
        with pytest.raises(KeyError, match=r"\[thread \d callback\] boo") as error:
            pool.synchronize()
        if processes:
            assert "in fail" in str(error.value.__cause__)
        else:
            assert error.traceback[-1].name == "fail"
        assert not pool.haserror()
        pool.synchronize()
        assert got == [5]
        pool.addjob(lambda: 5, lambda value: 1 / 0)
        with pytest.raises(ZeroDivisionError, match=r"\[thread \d endcallback\] division"):
            pool.synchronize()
        pool.addjob(lambda: 6, got.append)
        pool.synchronize()
        assert got == [5, 6]


def test_errors_and_values_that_cannot_travel_are_told():
    with Threads(1) as pool:

        def odd():
            raise Odd(1, 2)

        pool.addjob(odd)
        with pytest.raises(RuntimeError, match=r"\[thread 1 callback\] Odd: 1 2"):
            pool.synchronize()
        pool.addjob(lambda: (i for i in ()))
        with pytest.raises(TypeError, match=r"\[thread 1 callback\] cannot pickle 'generator'"):
            pool.synchronize()
        with pytest.raises(TypeError, match="callback or an argument cannot go to another process"):
            pool.addjob(lambda x: x, None, (i for i in ()))
        assert not pool.hasjob()


def test_a_process_that_dies_is_an_error_with_its_exit_code():
    with Threads(2) as pool:
        pool.addjob(lambda: os.kill(os.getpid(), signal.SIGKILL))
        with pytest.raises(RuntimeError, match=r"\[thread \d callback\] .* exit code -9"):
            pool.synchronize()


@KINDS
def test_an_error_of_init_is_raised_and_ends_the_pool(processes):
    with pytest.raises(KeyError, match=r"\[thread 1 callback\] boo"):
        Threads(2, lambda i: None if i == 2 else fail(), processes=processes)


@KINDS
def test_terminate_finishes_the_jobs_and_then_nothing_runs(processes):
    got = []
    pool = Threads(2, processes=processes)
    for i in range(4):
        pool.addjob(lambda i: i, got.append, i)
    pool.terminate()
    assert sorted(got) == [0, 1, 2, 3]
    assert not pool.isrunning()
    pool.terminate()
    pool.synchronize()
    for refused in (pool.dojob, pool.hasjob, pool.acceptsjob, pool.specific, pool.addjob):
        with pytest.raises(RuntimeError, match="the pool was terminated"):
            refused()
    assert not multiprocessing.active_children()


@KINDS
def test_terminate_raises_the_errors_of_the_last_jobs_and_still_ends(processes):
    pool = Threads(1, processes=processes)
    pool.addjob(fail)
    with pytest.raises(KeyError, match="boo"):
        pool.terminate()
    assert not pool.isrunning() and not multiprocessing.active_children()


def test_after_an_error_terminate_drops_the_jobs_that_are_left():
    got = []
    with pytest.raises(KeyError, match="boo"), Threads(1) as pool:
        pool.addjob(fail)
        pool.addjob(lambda: time.sleep(1000), got.append)
        pool.synchronize()
    assert not got and not multiprocessing.active_children()


def test_collecting_a_pool_ends_its_workers():
    pool = Threads(2)
    pool.addjob(lambda: time.sleep(1000))
    del pool
    gc.collect()
    deadline = time.monotonic() + 30
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not multiprocessing.active_children()


def test_a_script_that_forgets_terminate_ends():
    code = """
from compat.threads import Threads
pools = [Threads(2), Threads(2, processes=False)]
for pool in pools:
    pool.addjob(lambda: 1, print)
pools[0].addjob(lambda: __import__("time").sleep(1000))
pools[1].synchronize()
"""
    run = [forked_python(), "-c", code]
    assert subprocess.run(run, cwd=ROOT, timeout=120, check=True, capture_output=True).stdout


def test_workers_end_with_a_process_that_is_killed():
    code = """
import os
from compat.threads import Threads
pool = Threads(2, lambda i: os.getpid())
print(*[one for one, in pool.initres], flush=True)
pool.addjob(lambda: 1)
input()
"""
    command = [forked_python(), "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    deadline = time.monotonic() + 60
    while any(running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(running(pid) for pid in pids)


def running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("scheme", ["threads.serialize", "threads.sharedserialize"])
def test_serialization_copies_or_shares_tensors(scheme):
    x = torch.zeros(3)
    before = Threads.serialization()
    try:
        assert Threads.serialization(scheme) == Threads.serialization() == scheme
        with Threads(1) as pool:
            pool.addjob(lambda: x.add_(1).sum().item() and None)
            pool.synchronize()
    finally:
        Threads.serialization(before)
        resource_sharer.stop(timeout=5)
    assert x.tolist() == [float(scheme == "threads.sharedserialize")] * 3
    with pytest.raises(ValueError, match=r"name is 'serialize'; .* is accepted"):
        Threads.serialization("serialize")


def test_functions_of_all_kinds_go_by_value():
    def recursive(n, *, one=1):
        return one if n == 0 else n * recursive(n - 1)

    recursive.note = note = {"a": 1}
    again = loads(dumps(recursive, "threads.serialize"))
    assert again(5) == 120 and again.note == note
    assert again.__qualname__ == recursive.__qualname__
    assert loads(dumps(count, "threads.serialize")) is count
    assert loads(dumps([pickle, threading], "threads.serialize")) == [pickle, threading]
    assert loads(dumps(torch.relu, "threads.serialize")) is torch.relu

    def unset():
        return missing

    with pytest.raises(NameError, match="missing"):
        loads(dumps(unset, "threads.serialize"))()
    missing = 1


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_do_not_begin_as_copies(method, tmp_path):
    code = f"""
import multiprocessing, torch
from compat.threads import Threads

def init(i):
    global loader
    loader = i

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    got = []
    with Threads(2, init) as pool:
        for _ in range(4):
            pool.addjob(lambda n: torch.ones(n) * (loader > 0), got.append, 2)
    assert [x.tolist() for x in got] == [[1, 1]] * 4
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, script], env=environment, timeout=120, check=True)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None])
def test_arguments_are_checked(wrong):
    with pytest.raises((ValueError, TypeError), match=f"N is {wrong}; a whole number"):
        Threads(wrong)
    with pytest.raises(TypeError, match="init is an int; a function is accepted"):
        Threads(1, 1)
    with Threads(1, processes=False) as pool:
        with pytest.raises(TypeError, match="callback is None; a function is accepted"):
            pool.addjob()
        with pytest.raises(TypeError, match="endcallback is a str; a function is accepted"):
            pool.addjob(lambda: 1, "x")


def test_a_function_that_another_makes_global_goes_by_value(tmp_path, monkeypatch):
    text = "def make():\n    global made\n    def made(): return 3\ndef own(): return 4\n"
    (tmp_path / "makes_global.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("makes_global")
    module.make()
    data = dumps([module.made, module.own], "threads.serialize")
    del module.made  # as in a worker, which imports the module anew
    made, own = loads(data)
    assert made() == 3 and own is module.own


def test_what_is_left_out_is_named():
    left_out = r"threads\.Mutex does not exist here: use threading\.Lock"
    with pytest.raises(AttributeError, match=left_out):
        _ = threads.Mutex
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = threads.other


def test_what_a_module_defines_while_it_is_imported_goes_by_value(tmp_path, monkeypatch):
    (tmp_path / "growing_module.py").write_text(
        "from compat.threads import Threads\n"
        "found = []\n"
        "with Threads(1) as pool:\n"
        "    def later():\n"
        "        return 5\n"
        "    pool.addjob(later, found.append)\n"
        "    pool.synchronize()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert importlib.import_module("growing_module").found == [5]
    finally:
        sys.modules.pop("growing_module", None)
