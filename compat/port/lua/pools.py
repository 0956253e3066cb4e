"""Pools of threads for drafts: the file's variables go with a job, as upvalues do in Lua.

A variable that a job sets is its worker's own, as Lua's global variables are; of a local variable
each job of Lua's sets a copy, which the draft marks.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from compat.port.lua.calls import call
from compat.port.lua.kinds import is_of_lua
from compat.threads import Threads
from compat.threads.serialization import has_a_name


class _Job:
    """A function with the values that its file's variables have when the job is added."""

    def __init__(self, function: FunctionType, own: set[str]) -> None:
        self.function = function
        self.variables: dict[str, Any] = {}
        self.own: dict[str, Any] = {}  # for a worker that has none yet
        found = [function]
        for each in found:  # grows
            read, stored = _globals(each.__code__)
            own |= stored
            given = function.__globals__
            for name in read & given.keys() - self.variables.keys():
                value = given[name]
                if isinstance(value, (ModuleType, type, Threads)) or is_of_lua(value):
                    continue
                if not isinstance(value, FunctionType) or not has_a_name(value):
                    (self.own if name in own else self.variables)[name] = value
                if isinstance(value, FunctionType) and value.__globals__ is given:
                    found += [value] * (value not in found)

    def __call__(self, *args: Any) -> Any:
        module = vars(sys.modules[self.function.__module__])
        module.update({**self.own, **module, **self.variables})
        return call(self.function, *args)


@functools.cache
def _globals(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the file that code reads, and those that it sets."""
    read, stored = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(step.argval)
        elif step.opname == "STORE_GLOBAL":
            stored.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more = _globals(inner)
            read, stored = read | more[0], stored | more[1]
    return frozenset(read), frozenset(stored)


class _Pool(Threads):
    def __init__(self, N: int, *init: Callable[[int], Any]) -> None:
        self._own: set[str] = set()  # what jobs set: each worker has its own
        super().__init__(N, *init)

    def addjob(self, *arguments: Any) -> None:
        place = int(self.specific())
        job = arguments[place] if len(arguments) > place else None
        end = arguments[place + 1] if len(arguments) > place + 1 else None
        if isinstance(job, FunctionType):
            job = _Job(job, self._own)
        if callable(end):
            end = functools.partial(call, end)  # which takes nil for what the job did not give
        super().addjob(*arguments[:place], job, end, *arguments[place + 2 :])


def threads(count: int, *init: Callable[[int], Any]) -> tuple[Threads, list[list[Any]]]:
    """``threads.Threads``: the pool, and what its workers' last ``init`` gave."""
    pool = _Pool(int(count), *init)
    return pool, [list(found) for found in pool.initres]
