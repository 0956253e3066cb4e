"""One test that goes through many quick cases: every test costs pytest milliseconds.

All cases run, with the seed that a test begins with; the test fails with those that fail, by name.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pytest
import torch

from compat import random

T = TypeVar("T")


def seed() -> None:
    """Random numbers depend on the test alone, not on what ran before it."""
    random.manualSeed(1)
    if torch.cuda.is_available():
        torch.manual_seed(1)
    else:  # For devices that are not there yet, PyTorch would keep the stack of every call.
        torch.default_generator.manual_seed(1)


def grouped(values: Iterable[T], name: Callable[[T], str]) -> dict[str, list[T]]:
    """Return the values in groups of one name."""
    groups: dict[str, list[T]] = {}
    for value in values:
        groups.setdefault(name(value), []).append(value)
    return groups


def each(argument: str, groups: Mapping[str, Sequence[Any]]) -> Callable[[Any], Any]:
    """Parametrise a test by groups; each runs it for all values of the group.

    Args:
        argument: the name of the test's argument.
        groups: by name; the repr of a value tells which one it is.
    """
    assert groups and all(groups.values()), "a group without values would test nothing"

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def run(_group: Sequence[Any], **fixtures: Any) -> None:
            failed = []
            for value in _group:
                seed()
                try:
                    test(**{argument: value}, **fixtures)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                    failed.append(f"{value!r}:\n{traceback.format_exc()}")
            if failed:
                pytest.fail(
                    f"{len(failed)} of {len(_group)} fail\n\n" + "\n".join(failed), pytrace=False
                )

        signature = inspect.signature(test)
        parameters = [p for p in signature.parameters.values() if p.name != argument]
        group = inspect.Parameter("_group", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        vars(run)["__signature__"] = signature.replace(parameters=[group, *parameters])
        return pytest.mark.parametrize("_group", groups.values(), ids=list(groups))(run)

    return decorate
