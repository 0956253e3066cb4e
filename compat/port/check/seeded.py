"""Runs of a script and of its draft that draw the same numbers, though neither sets a seed.

``python -m compat.port.check.seeded lua places script.lua arguments…``, ``… python places draft.py
…`` and ``… kept places script.lua …``, which is Lua where no pass of a net overwrites what an
earlier one gave, tell in the file ``places`` which statement prints what. What Torch7 takes from
the operating system, the seeds of generators, is here counted from a fixed number, and the first
time that ``os.time`` or ``os.date`` tells is the same. PyTorch computes in both.
"""

from __future__ import annotations

import inspect
import io
import linecache
import multiprocessing
import os
import runpy
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import torch

import compat
from compat.lua import Runtime
from compat.lua.kernels import reductions
from compat.random import Generator, default_generator

_SEED = 5489_2017
_START = 1_500_000_000

# What packages draw while they are loaded counts after a seed of the script's: drafts draw it then,
# but not in the threads of a pool, which have the packages from their beginning.
_IN_LUA = """
local seed, seconds, is_own, tell = ...
local draw = {nn = true, nngraph = true, rnn = true, dpnn = true, cunn = true, cudnn = true}
local load, now, date = require, os.time, os.date
local function is_free() return __threadid or torch.initialSeed() == seed end
function require(name)
   if not draw[name] then return load(name) end
   local state = is_free() and torch.getRNGState()
   local found = load(name)
   if state and is_free() then torch.setRNGState(state) end
   return found
end
function os.time(moment) return moment and now(moment) or seconds() end
function os.date(form, moment) return date(form or '%c', moment or seconds()) end
local stdout, info = io.stdout, debug.getinfo
local function told(write)
   return function(...)
      local level, at = 2, info(2, 'Sl')
      while at and not is_own(at.source:match('^@(.*)') or '') do
         level, at = level + 1, info(level + 1, 'Sl')
      end
      if at then tell(stdout:seek(), at.source:sub(2), at.currentline) end
      return write(...)
   end
end
local methods = getmetatable(stdout).__index
local write, told_write = methods.write, told(methods.write)
function methods.write(...) return ((...) == stdout and told_write or write)(...) end
print, io.write = told(print), told(io.write)
"""
_LIBRARIES = (str(Path(compat.__file__).parent), sysconfig.get_path("stdlib"))


def _is_own(path: str) -> bool:
    """Return whether a file is one of the program's."""
    return path.endswith((".lua", ".py")) and not path.startswith(_LIBRARIES)


class _Places:
    """The statements of the program that print, each with the place in the output where what it
    prints begins.
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", 1, "utf-8", "replace")  # noqa: SIM115
        self._last: tuple[str, int] | None = None

    def tell(self, offset: float, path: str, line: float) -> None:
        if self._last != (path, line):
            self._last = path, int(line)
            text = linecache.getline(path, int(line)).strip()
            self._file.write(f"{int(offset)} {os.path.basename(path)}:{int(line)}: {text}\n")


class _Output(io.TextIOWrapper):
    """Standard output that tells who prints."""

    places: _Places

    def write(self, text: str) -> int:
        frame = inspect.currentframe()
        while frame is not None and not _is_own(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            offset = os.lseek(self.fileno(), 0, os.SEEK_CUR)
            self.places.tell(offset, frame.f_code.co_filename, frame.f_lineno)
        return super().write(text)


class _Clock:
    """Seconds from the first question on."""

    def __init__(self) -> None:
        self._first: float | None = None

    def __call__(self) -> int:
        now = time.monotonic()
        if self._first is None:
            self._first = now
        return _START + int(now - self._first)


def _seed_alike() -> None:
    next_number = multiprocessing.Value("q", _SEED)  # of all workers, too, which may be processes

    def seed(self: Generator) -> int:
        with next_number.get_lock():
            number: int = next_number.value
            next_number.value += 1
        self.manualSeed(number)
        return number

    Generator.seed = seed  # type: ignore[method-assign]
    default_generator.seed()
    torch.manual_seed(_SEED)
    # A number that one thread sets holds for all, from some moment on, and rounds sums otherwise.
    # A forked process has one thread, and waits for ever for others.
    own, set_number = os.getpid(), torch.set_num_threads
    torch.set_num_threads = lambda nthreads: None if os.getpid() == own else set_number(nthreads)
    # The Lua runtime computes as drafts do, the one behind a draft, too.
    reductions.in_double = False
    Runtime.at_start.append(lambda it: it.execute("torch._t7.leave_numbers_to_pytorch()"))


def _lua(arguments: list[str], overwrites: bool, places: _Places) -> int:
    from compat.lua.command import main

    Runtime.reuses_buffers = overwrites
    seconds = _Clock()
    Runtime.at_start.append(
        lambda runtime: runtime.execute(_IN_LUA, _SEED, seconds, _is_own, places.tell)
    )
    return main(arguments)


def _python(draft: str, arguments: list[str], places: _Places) -> int:
    from compat import cmdline
    from compat.port import lua

    seconds, at, shown = _Clock(), lua.time, lua.date

    def moment(table: Any = None) -> int:
        return seconds() if table is None else at(table)

    def date(template: str = "%c", when: float | None = None) -> str:
        return shown(template, seconds() if when is None else when)

    lua.time, lua.date = moment, date
    cmdline.now = date
    said = sys.stdout
    sys.stdout = _Output(said.buffer, said.encoding, said.errors, write_through=True)
    sys.stdout.places = places
    sys.argv = [draft, *arguments]
    sys.path[0] = os.path.dirname(draft)
    runpy.run_path(draft, run_name="__main__")
    return 0


if __name__ == "__main__":
    from compat.lua.command import leave

    _seed_alike()
    language, places, program, *given = sys.argv[1:]
    if language == "python":
        leave(_python(program, given, _Places(places)))
    else:
        leave(_lua([program, *given], language == "lua", _Places(places)))
