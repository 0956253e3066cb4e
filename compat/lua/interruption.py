"""Ctrl-C while Lua runs: an error in the Lua code, with its stack."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from compat.lua.errors import INTERRUPTION, error_text
from compat.lua.language.main_thread import interface, main_state
from compat.lua.runtime import Runtime

_COUNT = 1 << 3
#: Seconds within which Lua code must have ended before the process does, and between attempts.
_GRACE = 0.75
_AGAIN = 0.25
_DEEPEST = 50


def message(text: str) -> str:
    """Return the text of an error, with Ctrl-C's part of it in words."""
    return text.replace(INTERRUPTION, "interrupted!")


@contextlib.contextmanager
def interruptible(runtime: Runtime, patient: bool = False) -> Iterator[None]:
    """Let Ctrl-C raise an error in the Lua code that runs meanwhile.

    The code that is running in Python gets KeyboardInterrupt. Lua code is stopped through a debug
    hook. C code and the compiled loops of LuaJIT look at no hook: if nothing ends within a second,
    the process does, and shows where Lua is.

    Args:
        patient: end the process only when Ctrl-C is pressed again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    ended = threading.Event()
    lua = _State(runtime)

    def watch() -> None:
        asked = 0
        while data := reader.recv(1):
            if data[0] != signal.SIGINT:
                continue
            asked += 1
            # Again and again: a pcall of the script may have caught the error.
            for _ in range(round(_GRACE / _AGAIN)):
                lua.interrupt(True)
                if ended.wait(_AGAIN):
                    break
            else:
                if asked > 1 or not patient:
                    _end(lua)
                _say("this may take a while; Ctrl-C again ends the process")

    late = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal late
        # In the frame that called Lua the script has ended, by itself or with the hook's error.
        late = frame is None or frame.f_code is Runtime.invoke.__code__
        if not late:
            raise KeyboardInterrupt

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    previous_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield
        if late:
            raise KeyboardInterrupt
    finally:
        ended.set()
        signal.signal(signal.SIGINT, previous)
        signal.set_wakeup_fd(previous_fd)
        writer.close()
        watcher.join()
        reader.close()
        lua.interrupt(False)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{text}\n".encode("utf-8", "surrogateescape"))


def _end(lua: _State) -> None:
    """End the process from another thread than Lua's, with what Lua has printed."""
    flush = threading.Thread(target=lambda: ctypes.CDLL(None).fflush(None), daemon=True)
    with contextlib.suppress(OSError, AttributeError, TypeError):
        flush.start()
        # A stream that Lua is reading is locked.
        flush.join(0.1)
    _say(error_text("interrupted!", lua.stack()))
    os._exit(130)


class _Activation(ctypes.Structure):
    """``lua_Debug`` of Lua 5.1: what is known of a function that is running."""

    _fields_ = [
        ("event", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("namewhat", ctypes.c_char_p),
        ("what", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
        ("currentline", ctypes.c_int),
        ("nups", ctypes.c_int),
        ("linedefined", ctypes.c_int),
        ("lastlinedefined", ctypes.c_int),
        ("short_src", ctypes.c_char * 60),
        ("i_ci", ctypes.c_int),
    ]

    def __str__(self) -> str:
        source = self.short_src.decode("latin-1")
        place = f"{source}:{self.currentline}:" if self.currentline > 0 else f"{source}:"
        if self.namewhat:
            return f"{place} in function '{(self.name or b'?').decode('latin-1')}'"
        if self.what == b"main":
            return f"{place} in main chunk"
        return f"{place} in function <{source}:{self.linedefined}>"


class _State:
    """The ``lua_State`` of a runtime, accessed through Lua's C interface from any thread.

    If the interface cannot be loaded, nothing happens, and the stack is empty.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._library: Any = None
        with contextlib.suppress(AttributeError, OSError, TypeError, ValueError):
            library = interface(runtime.lua)
            library.lua_sethook.argtypes = (ctypes.c_void_p,) * 2 + (ctypes.c_int,) * 2
            # The hook: it takes lua_Debug, which begins with the event's number 3, for its text.
            self._raise = ctypes.cast(library.luaL_error, ctypes.c_void_p)
            self._main = ctypes.c_void_p(main_state(runtime.lua))
            self._library = library

    def interrupt(self, on: bool) -> None:
        """Make the running Lua code raise an error at its next instruction, or cancel that.

        LuaJIT has one hook for all coroutines, Lua 5.1 one for each coroutine and those that it
        makes.
        """
        if self._library is not None:
            hook = self._raise if on else None
            self._library.lua_sethook(self._main, hook, _COUNT if on else 0, 1)

    def stack(self) -> str:
        """Return the stack while the code stands still, or runs a loop that does not change it.

        This only reads: Lua's own traceback would allocate memory that the running code may be
        using.
        """
        found = []
        frame = _Activation()
        reference = ctypes.byref(frame)
        library, main = self._library, getattr(self, "_main", None)
        for level in range(_DEEPEST if library is not None else 0):
            if not library.lua_getstack(main, level, reference):
                break
            library.lua_getinfo(main, b"Sln", reference)
            found.append(f"\n\t{frame}")
        return "stack traceback:" + "".join(found) if found else ""
