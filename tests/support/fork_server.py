"""The server of support.forked_python: forks for each command that connects."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
import types
import warnings
from typing import Any

LOADED = (
    *("torch", "numpy", "lupa", "tqdm", "safetensors.torch", "tree_sitter", "tree_sitter_lua"),
    *("compat.nn", "compat.optim", "compat.cutorch", "compat.lua.command"),
)

# What programs read when they or their libraries are loaded.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OMP_", "MKL_", "KMP_", "TORCH", "MALLOC_", "ATEN_")
NOT_AT_START = ("PYTHONPATH", "PYTHONUNBUFFERED")


def settings(environment: dict[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(AT_START) and name not in NOT_AT_START
    }


def main() -> None:
    """Serve until standard input ends; a child returns from here to run its program."""
    with selectors.DefaultSelector() as ready:
        listening = socket.socket(fileno=int(sys.argv[1]))
        ready.register(listening, selectors.EVENT_READ, "command")
        ready.register(0, selectors.EVENT_READ, "end")
        connections: dict[int, socket.socket] = {}  # by the pid of the program
        while True:
            for key, _ in ready.select():
                if key.data == "end":
                    shutil.rmtree(sys.argv[2])
                    os._exit(0)
                if key.data == "command":
                    connection, _ = listening.accept()
                    request, files = received(connection)
                    if settings(request["env"]) != SETTINGS:
                        connection.sendall(b"0\n")
                        pid = 0
                    else:
                        with warnings.catch_warnings():
                            # From Python 3.12 on: numpy's threads, which know of forks.
                            warnings.simplefilter("ignore", DeprecationWarning)
                            pid = os.fork()
                        if not pid:
                            for other in list(ready.get_map().values()):
                                if other.data != "end":
                                    os.close(other.fd)
                            os.close(connection.detach())
                            become(request, files)
                            return
                        connection.sendall(b"%d\n" % pid)
                    for file in files:
                        os.close(file)
                    if pid:
                        connections[pid] = connection
                        ready.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
                        ready.register(connection, selectors.EVENT_READ, -pid)
                    else:
                        connection.close()
                elif key.data < 0:  # the command was killed
                    ready.unregister(key.fileobj)
                    os.kill(-key.data, signal.SIGKILL)
                else:
                    ready.unregister(key.fd)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(key.data, 0)[1])
                    connection = connections.pop(key.data)
                    if connection in ready.get_map():
                        ready.unregister(connection)
                        connection.sendall(b"%d\n" % code)
                    connection.close()


def received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a command sends, with its standard files."""
    text, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not text.endswith(b"\n"):
        text += connection.recv(1 << 16)
    return json.loads(text), files


def become(request: dict[str, Any], files: list[int]) -> None:
    """Make this child what the command would be: files, folder, environment, signals."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    if os.environ.get("PYTHONUNBUFFERED"):
        sys.stdout.reconfigure(write_through=True)
    sys.argv[:] = request["argv"]
    sys.orig_argv[:] = [sys.executable, *request["argv"]]
    first = os.getcwd() if sys.argv[0] == "-m" else ""
    if sys.argv[0] not in ("-m", "-c"):
        first = os.path.dirname(os.path.abspath(sys.argv[0]))
    given = os.environ.get("PYTHONPATH")
    sys.path[:] = [first, *(given.split(os.pathsep) if given else []), *sys.path]


def run() -> None:
    """Run the program as Python does what it is started with."""
    program = types.ModuleType("__main__")
    sys.modules["__main__"] = program
    if sys.argv[0] == "-m":
        name = sys.argv.pop(1)
        runpy._run_module_as_main(name)  # what python -m calls
        return
    if sys.argv[0] == "-c":
        source, place = sys.argv.pop(1), "<string>"
    else:
        place = program.__file__ = sys.argv[0]
        with open(place, "rb") as file:
            source = file.read()
    exec(compile(source, place, "exec", dont_inherit=True), program.__dict__)


def leave(code: int) -> None:
    """End as Python does, but for taking PyTorch down, which is most of what is left."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads; Python tells
        sys.exit(code)
    os._exit(code)


def show(kind: Any, value: Any, trace: Any) -> None:
    """Print an error as Python does, without what is below the program."""
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, value, trace)


if __name__ == "__main__":
    SETTINGS = settings(dict(os.environ))
    sys.path.pop(0)
    for name in LOADED:
        with contextlib.suppress(ImportError):  # of an extra
            importlib.import_module(name)
    gc.freeze()
    main()
    sys.excepthook = show
    end = sys.exit if sys.argv[0] == "-c" else leave
    code = 0
    try:
        run()
    except SystemExit as ending:
        if not isinstance(ending.code, int | None):
            raise
        code = ending.code or 0
    end(code)
