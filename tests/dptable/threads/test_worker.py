"""Worker threads: jobs in order, errors to whoever waits, an end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from dptable.threads.worker import Worker, run_all, stop_all


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    made = [Worker(f"test-{i}") for i in range(3)]
    yield made
    stop_all(made)


def fail(message: str) -> None:
    raise ValueError(message)


def interrupt_after(seconds: float) -> threading.Timer:
    """Press Ctrl-C in a while."""
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(seconds, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    return timer


def test_jobs_run_each_on_their_worker(workers: list[Worker]) -> None:
    for _ in range(3):
        results = run_all(workers, [lambda: threading.current_thread().name] * 3)
        assert [result.value for result in results] == ["test-0", "test-1", "test-2"]


def test_jobs_of_a_worker_run_in_order(workers: list[Worker]) -> None:
    seen: list[int] = []
    results = [workers[0].submit(lambda i=i: seen.append(i)) for i in range(50)]
    for result in results:
        result.wait()
    assert seen == list(range(50))


def test_an_error_is_kept_for_the_one_who_waits(workers: list[Worker]) -> None:
    results = run_all(workers, [lambda: 1, lambda: fail("no"), lambda: 3])
    assert [result.value for result in results] == [1, None, 3]
    error = results[1].error
    assert isinstance(error, ValueError) and str(error) == "no"
    assert error.__traceback__ is not None
    # The worker lives on.
    assert run_all(workers, [lambda: 4] * 3)[1].value == 4


def test_an_exit_ends_the_job_and_not_the_thread(workers: list[Worker]) -> None:
    for error in (KeyboardInterrupt, SystemExit, GeneratorExit):

        def leave(error: type[BaseException] = error) -> None:
            raise error

        assert isinstance(run_all(workers, [leave] * 3)[0].error, error)
    assert all(worker.alive for worker in workers)


def test_an_interrupt_waits_for_the_jobs_that_run(workers: list[Worker]) -> None:
    ended: list[int] = []

    def slow() -> None:
        time.sleep(0.3)
        ended.append(1)

    timer = interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        run_all(workers, [slow] * 3)
    timer.join()
    assert len(ended) == 3
    assert [r.value for r in run_all(workers, [lambda: 5] * 3)] == [5] * 3


def test_a_second_interrupt_does_not_wait(workers: list[Worker]) -> None:
    release = threading.Event()
    timers = [interrupt_after(0.1), interrupt_after(0.3)]
    with pytest.raises(KeyboardInterrupt):
        run_all(workers, [release.wait] * 3)
    assert not release.is_set()
    for timer in timers:
        timer.join()
    release.set()


def test_stopping_ends_the_threads_after_their_jobs(workers: list[Worker]) -> None:
    results = [worker.submit(lambda: time.sleep(0.05)) for worker in workers]
    stop_all(workers)
    assert not any(worker.alive for worker in workers)
    for result in results:
        result.wait()
    stop_all(workers)  # once more does no harm


def test_a_worker_may_be_stopped_from_its_own_thread() -> None:
    worker = Worker("test")
    worker.submit(lambda: stop_all([worker])).wait()
    worker.join()
    assert not worker.alive
