"""Python that has loaded PyTorch already, for tests that start programs.

``forked_python()`` is the path of a command that takes Python's arguments: -c, -m or a file.
A server has loaded PyTorch and what else takes long, all but dptable itself, and forks when the
command asks for it. The child runs the program with the arguments, environment, folder and standard
files of the command. The command passes signals on, and ends as the program ends. Where a new
interpreter takes two seconds of a processor, this takes a hundredth; a quarter with -c, which ends
as Python does, PyTorch taken down, where the others leave when all that they registered has run.

Tests of terminals, of groups of processes and of what is imported use ``sys.executable``.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_SERVER = Path(__file__).with_name("fork_server.py")
_COMMAND = Path(__file__).with_name("fork_command.py")


@cache
def forked_python() -> str:
    """Return the command; the server lives as long as this process."""
    if not hasattr(os, "pidfd_open"):  # Linux
        return sys.executable
    folder = Path(tempfile.mkdtemp(prefix="python"))
    command = folder / "python"
    command.write_text(
        f"#!{sys.executable} -IS\nPYTHON = {sys.executable!r}\n{_COMMAND.read_text()}"
    )
    command.chmod(0o755)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket"))
    listening.listen(100)
    server = subprocess.Popen(
        [sys.executable, _SERVER, str(listening.fileno()), folder],
        stdin=subprocess.PIPE,  # whose end is the server's, which removes the folder
        stdout=subprocess.DEVNULL,
        pass_fds=[listening.fileno()],
        cwd="/",
        start_new_session=True,
    )
    listening.close()
    atexit.register(server.communicate)
    return str(command)
