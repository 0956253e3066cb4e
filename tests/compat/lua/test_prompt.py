"""The prompt as somebody at a terminal sees it."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
pytest.importorskip("readline")

ROOT = Path(__file__).parents[3]
_COLOURS = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]|\x07")
# The beginning of one, at the end.
_BEGUN = re.compile(r"\x1b(\[[?0-9;]*)?$")
_TIMING = re.compile(r" *\[\d+\.\d+s\]\n")


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, command: list[str], folder: Path, **environment: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environment = {"PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
            os.execve(command[0], command, os.environ | environment)
        self.text = ""
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._begun = ""
        self.code: int | None = None

    def until(self, expected: str, seconds: float = 60) -> str:
        """Read until ``expected`` appears; what came, without colours."""
        end = time.monotonic() + seconds
        while expected not in self.text:
            ready = select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]
            assert ready, f"{expected!r} has not come, but {self.text!r}"
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:  # Linux: the other end is closed
                data = b""
            assert data, f"{expected!r} has not come before the end, but {self.text!r}"
            # A letter or a colour may come in two pieces.
            new = self._begun + self._decode(data)
            begun = _BEGUN.search(new)
            new, self._begun = (new, "") if begun is None else (new[: begun.start()], begun[0])
            self.text += _COLOURS.sub("", new).replace("\r", "")
        found, _, self.text = self.text.partition(expected)
        return found

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self.fd, keys.encode())

    def give_up(self) -> None:
        """Press Ctrl-C until there is a new prompt.

        Python's readline loses one that comes just before it waits for the next key.
        """
        for _ in range(20):
            self.send("\x03")
            with contextlib.suppress(AssertionError):
                self.until("th> ", 3)
                return
        self.until("th> ", 0)

    def line(self, text: str) -> str:
        """Type a line at the prompt; what it prints, without the time that it took."""
        self.send(f"{text}\n")
        self.until(f"{text}\n")
        return _TIMING.sub("", self.until("th> "))

    def wait(self) -> int:
        """Its exit code."""
        if self.code is None:
            with contextlib.suppress(OSError, AssertionError):
                self.until("\0never", 20)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self.fd)
        return self.code

    def kill(self) -> None:
        """End it if it still runs."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompt")


@pytest.fixture(scope="module")
def terminal(folder: Path) -> Iterator[Terminal]:
    """One prompt for all tests; each begins where nothing has been typed."""
    (folder / "a file.lua").write_text("return 'from the file'")
    terminal = Terminal(
        [sys.executable, "-m", "compat.lua"], folder, TREPL_HISTORY=str(folder / "history")
    )
    try:
        terminal.until("th> ")
        yield terminal
    finally:
        terminal.kill()


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("1 + 1", "2\n"),
        ("=1, 'a', nil", "1\ta\tnil\n"),
        ("5;", ""),
        ("x = 5", ""),
        ("torch.zeros(1, 2)", " 0  0\n[torch.DoubleTensor of size 1x2]\n\n"),
        (
            "{1, 'a', x = {torch.ones(2)}}",
            '{\n  1 : 1\n  2 : "a"\n  x : \n    {\n      1 : DoubleTensor - size: 2\n    }\n}\n',
        ),
        ("for i = 1, 2 do io.write(i, ' ') end print()", "1 2 \n"),
        ("'é' -- a comment", "é\n"),
        ("('x'):rep(200)", "x" * 200 + "\n"),
        ("$ echo $((1 + 2))", "3\n"),
        ("x x", "syntax error: stdin:1: '=' expected near 'x'\n"),
    ],
)
def test_a_line_prints_what_it_gives(terminal: Terminal, line: str, printed: str) -> None:
    # readline wraps long lines at the terminal's edge.
    assert terminal.line(line) == printed


def test_a_net_prints_itself(terminal: Terminal) -> None:
    terminal.line("nn = require 'nn'")
    terminal.line("net = nn.Sequential():add(nn.Linear(3, 2))")
    assert terminal.line("net") == (
        "nn.Sequential {\n  [input -> (1) -> output]\n  (1): nn.Linear(3 -> 2)\n}\n"
    )


def test_an_unfinished_statement_goes_on_in_the_next_line(terminal: Terminal) -> None:
    for line in ("function double(x)", "return 2 * x"):
        terminal.send(f"{line}\n")
        terminal.until("..> ")
    terminal.line("end")
    assert terminal.line("double(4)") == "8\n"


def test_ctrl_c_gives_up_an_unfinished_statement(terminal: Terminal) -> None:
    terminal.send("f(\n")
    terminal.until("..> ")
    terminal.give_up()
    terminal.send("half a line")
    terminal.until("half a line")
    terminal.give_up()
    assert terminal.line("2") == "2\n"


@pytest.mark.parametrize(
    "statement",
    [
        "while true do end",
        "x = torch.ones(3) while true do x:add(1) end",
        "function endless() while true do end end endless()",
        "os.execute('sleep 100')",
        "while true do pcall(sys.sleep, 0.1) end",
        "repeat local ok = pcall(error) until ok",
    ],
)
def test_ctrl_c_ends_a_statement_and_shows_where(terminal: Terminal, statement: str) -> None:
    terminal.line("kept = 1")
    terminal.send(f"{statement}\n")
    terminal.until(f"{statement}\n")
    time.sleep(0.2)
    start = time.monotonic()
    terminal.send("\x03")
    printed = terminal.until("th> ")
    assert time.monotonic() - start < 5
    assert "interrupted!" in printed and "stdin:1: in main chunk" in printed
    assert terminal.line("kept") == "1\n"


def test_an_error_shows_lua_s_stack_alone(terminal: Terminal) -> None:
    assert terminal.line("local function f() error('boom') end f()") == (
        "stdin:1: boom\nstack traceback:\n\t[C]: in function 'error'\n"
        "\tstdin:1: in function 'f'\n\tstdin:1: in main chunk\n"
    )


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("torch.manualS", "torch.manualSeed("),
        ("net2.modules[1].wei", "net2.modules[1].weight"),
        ("net2:getParam", "net2:getParameters("),
        ("math.floor(mat", "math.floor(math"),
        ("dofile('a fi", "dofile('a file.lua"),
    ],
)
def test_tab_completes(terminal: Terminal, typed: str, completed: str) -> None:
    terminal.line("net2 = require('nn').Sequential():add(nn.Linear(3, 2))")
    terminal.send(f"{typed}\t")
    assert completed.startswith(typed)
    terminal.until(completed)
    terminal.give_up()


def test_lines_are_in_the_history(terminal: Terminal, folder: Path) -> None:
    terminal.line("'remembered'")
    terminal.send("\x1b[A\n")
    terminal.until("remembered'\n")
    assert terminal.until("th> ").startswith("remembered\n")
    assert "'remembered'" in (folder / "history").read_text()


@pytest.mark.parametrize(("keys", "code"), [("\x04", 0), ("exit\n", 0), ("os.exit(3)\n", 3)])
def test_the_prompt_after_a_script_has_its_globals_and_ends(
    tmp_path: Path, keys: str, code: int
) -> None:
    (tmp_path / "s.lua").write_text("y = arg[1] .. '!'")
    terminal = Terminal(
        [sys.executable, "-m", "compat.lua", "-i", "s.lua", "hi"],
        tmp_path,
        TREPL_HISTORY=str(tmp_path / "history"),
    )
    try:
        terminal.until("th> ")
        assert terminal.line("y") == "hi!\n"
        terminal.send(keys)
        assert terminal.wait() == code
        assert (tmp_path / "history").read_text().startswith("y\n")
    finally:
        terminal.kill()
