"""Ctrl-C while Lua runs: an error in the Lua code, with its stack."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from compat.lua.runtime import Runtime

#: What the error says until ``message`` puts words in its place.
_MARK = "\x03"
_COUNT = 1 << 3
_GRACE = 0.8


def message(text: str) -> str:
    """The text of an error, with what Ctrl-C left in it said in words."""
    return text.replace(_MARK, "interrupted!")


@contextlib.contextmanager
def interruptible(runtime: Runtime) -> Iterator[None]:
    """Let Ctrl-C raise an error in the Lua code that runs meanwhile.

    The code that is running in Python gets KeyboardInterrupt. Lua code is stopped through a debug
    hook; compiled loops of LuaJIT look at no hook: if nothing ends within a second, the process
    does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    ended = threading.Event()
    stop = _hook(runtime)

    def watch() -> None:
        while data := reader.recv(1):
            if data[0] != signal.SIGINT:
                continue
            stop(True)
            if not ended.wait(_GRACE):
                with contextlib.suppress(OSError):
                    os.write(2, b"luajit: interrupted!\n")
                os._exit(130)

    def handle(number: int, frame: FrameType | None) -> None:
        # In the frame that called Lua the script has ended by itself.
        if frame is not None and frame.f_code is not Runtime.invoke.__code__:
            raise KeyboardInterrupt

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    previous_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        ended.set()
        signal.signal(signal.SIGINT, previous)
        signal.set_wakeup_fd(previous_fd)
        writer.close()
        watcher.join()
        reader.close()
        stop(False)


def _hook(runtime: Runtime) -> Any:
    """A function that has the running Lua code raise an error soon, from another thread; or not."""
    if not runtime.lua.eval("jit ~= nil"):
        return lambda on: None
    module = sys.modules[type(runtime.lua).__module__]
    # Kept alive as long as its address is used.
    anchor, state = runtime.lua.execute(
        "local state = coroutine.create(function() end) return {state}, tostring(state)"
    )
    try:
        library = ctypes.CDLL(module.__file__)
        sethook, raise_error = library.lua_sethook, library.luaL_error
        raise_error  # noqa: B018
    except (AttributeError, OSError, TypeError):
        return lambda on: None
    # LuaJIT keeps one hook for all coroutines, so that the state of any of them will do. The hook
    # is luaL_error: it takes lua_Debug, which begins with the event's number 3, for its text.
    address = ctypes.c_void_p(int(str(state).split("0x")[1], 16))
    sethook.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    sethook.restype = ctypes.c_int
    pointer = ctypes.cast(raise_error, ctypes.c_void_p)

    def stop(on: bool, _: Any = anchor) -> None:
        sethook(address, pointer if on else None, _COUNT if on else 0, 1000)

    return stop
