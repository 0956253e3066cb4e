"""Ctrl-C as a request to stop."""

from __future__ import annotations

import signal
import threading

import pytest

from dptable.training.stopping import stop_requests


def test_no_request_without_signal():
    with stop_requests() as stopped:
        assert not stopped()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noted_and_raises_nothing(number):
    with stop_requests() as stopped:
        signal.raise_signal(number)
        assert stopped()


def test_the_second_ctrl_c_interrupts():
    with pytest.raises(KeyboardInterrupt), stop_requests():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_handlers_are_as_before_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with stop_requests():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_never_asked():
    answers = []

    def work():
        with stop_requests() as stopped:
            answers.append(stopped())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [False]
