"""What one process finds out for all of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch.distributed as dist
from support.processes import together

from dptable.processes.agreement import decided


class Awkward(Exception):
    """Cannot be made again from what it is made of."""

    def __init__(self, name: str, *, why: str) -> None:
        super().__init__(f"{name}: {why}")


def failing(error: Exception) -> Any:
    raise error


def outcomes() -> list[str]:
    found = [decided(lambda: "done", lambda function: function())]
    own = ValueError("plain")
    own.held = lambda: None
    for error in (ValueError("plain"), Awkward("here", why="no reason"), own):
        with pytest.raises(Exception) as caught:
            decided(lambda: failing(error), lambda function: function())  # noqa: B023
        found.append(f"{type(caught.value).__name__}: {caught.value}")
    dist.barrier()
    return found


def test_any_error_of_the_first_process_reaches_all():
    for found in together(outcomes, 2, timeout=20):
        assert found[:2] == ["done", "ValueError: plain"]
        assert found[2] == "RuntimeError: Awkward: here: no reason"
        assert found[3] == "RuntimeError: ValueError: plain"
