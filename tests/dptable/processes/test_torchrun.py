"""The main job under torchrun: on two hosts, and with a process that is killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import torch
from support.checkpoints import parameters

from compat import t7
from dptable import checkpoints
from dptable.cli import main

PATIENCE = 100
pytestmark = [
    pytest.mark.timeout(3 * PATIENCE),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc"),
]
_MARK = "DPTABLE_TEST_PROGRAM"


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """A working folder with a small data set in it."""
    monkeypatch.chdir(tmp_path)
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(500) % 5 + 1
    data = torch.rand(500, 1, 4, 5, generator=generator)
    data[torch.arange(500), 0, :, labels - 1] += 0.3
    t7.save("digits.t7", {"data": data, "labels": labels.to(torch.uint8)})
    return str(tmp_path / "digits.t7")


class Program:
    """A program and all that it starts, with its output in a file."""

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self.log = log
        path = os.pathsep.join(entry for entry in sys.path if entry)
        settings = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
        # By which its processes are told, those of torchrun being in sessions of their own.
        settings[_MARK] = self.mark = str(log)
        with log.open("w") as output:
            self.process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env={**os.environ, **settings, **environment},
            )

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str) -> re.Match[str]:
        return until(lambda: re.search(pattern, self.output), lambda: self.output)

    def code(self) -> int:
        return self.process.wait(PATIENCE)

    def processes(self) -> Iterator[tuple[int, list[bytes]]]:
        """The processes it consists of, each with its environment."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"{_MARK}={self.mark}".encode() in environment:
                yield int(folder.name), environment

    def worker(self, rank: int) -> int | None:
        """The process id of a rank."""
        mark = f"RANK={rank}".encode()
        return next((pid for pid, environment in self.processes() if mark in environment), None)

    def end(self) -> None:
        """Kill whatever is left of it."""
        while alive := list(self.processes()):
            for pid, _ in alive:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.poll()
        self.process.wait()


def until(condition: Callable[[], object], explain: Callable[[], str] = str) -> object:
    """What ``condition`` gives once it is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, explain()
        time.sleep(0.05)
    return found


@contextmanager
def running(*programs: Program) -> Iterator[None]:
    try:
        yield
    finally:
        for program in programs:
            program.end()


def torchrun(*options: str) -> list[str]:
    return [sys.executable, "-m", "torch.distributed.run", "--monitor-interval", "0.1", *options]


def train(data: str, epochs: int, *options: str) -> list[str]:
    fixed = ["--data", data, "--model", "mlp", "--batch-size", "9", "--lr", "0.01"]
    return ["train", *fixed, "--epochs", str(epochs), "--output", "run", *options]


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_the_result_is_the_same(digits, tmp_path, capsys):
    assert main([*train(digits, 4)[:-1], "whole", "--ngpus", "1"]) == 0
    expected = capsys.readouterr().out
    command = train(digits, 4, "--distributed", "--sharded", "--timeout", "30")
    program = Program(
        [
            *torchrun("--standalone", "--nproc-per-node", "2", "--max-restarts", "1"),
            *("-m", "dptable", *command),
        ],
        tmp_path / "log",
    )
    with running(program):
        program.wait_for(r"epoch +1 .*images/s")
        until(lambda: checkpoints.exists("run"))
        victim = until(lambda: program.worker(1))
        os.kill(victim, signal.SIGKILL)
        # All the while, what is in the folder can be gone on with.
        epochs = set()
        while program.process.poll() is None:
            if checkpoints.exists("run"):
                table, _, state = checkpoints.latest("run")
                assert state["evalCounter"] == table["epoch"] * 45
                epochs.add(table["epoch"])
            time.sleep(0.01)
        assert program.code() == 0, program.output
        output = program.output
    assert "dptable: rank 0: rank 1 is gone" in output
    assert re.search(r"Resuming after epoch [1-3], step 0", output)
    assert epochs and checkpoints.latest("run")[0]["epoch"] == 4
    accuracy = re.compile(r"Test accuracy: ([\d.]+) %")
    assert accuracy.search(output)[1] == accuracy.search(expected)[1]
    torch.testing.assert_close(parameters("run"), parameters("whole"), rtol=1e-4, atol=1e-5)


def test_ctrl_c_saves_every_completed_step(digits, tmp_path):
    command = train(digits, 10_000, "--distributed", "--timeout", "30")
    program = Program(
        [
            *torchrun("--standalone", "--nproc-per-node", "2", "--max-restarts", "1"),
            *("-m", "dptable", *command),
        ],
        tmp_path / "log",
    )
    with running(program):
        program.wait_for(r"epoch +1 .*images/s")
        program.process.send_signal(signal.SIGINT)
        assert program.code() != 0
        output = program.output
    assert "Interrupted; the checkpoint holds every completed step" in output
    assert "Resuming" not in output
    table, _, state = checkpoints.latest("run")
    assert state["evalCounter"] == table["epoch"] * 45 + table["step"]


class Hosts:
    """Two network namespaces with a link between them."""

    def __init__(self) -> None:
        self.names = [f"dpt{os.getpid()}{end}" for end in "ab"]
        self.addresses = ["10.213.7.1", "10.213.7.2"]

    def ip(self, *arguments: str) -> None:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")

    def __enter__(self) -> Hosts:
        a, b = self.names
        try:
            self.ip("netns", "add", a)
            self.ip("netns", "add", b)
            self.ip(
                "link", "add", "link0", "netns", a, "type", "veth", *("peer", "link0", "netns", b)
            )
            for name, address in zip(self.names, self.addresses, strict=True):
                self.ip("-n", name, "addr", "add", f"{address}/30", "dev", "link0")
                self.ip("-n", name, "link", "set", "link0", "up")
                self.ip("-n", name, "link", "set", "lo", "up")
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def cut(self) -> None:
        self.ip("-n", self.names[0], "link", "set", "link0", "down")

    def sent(self, host: int) -> int:
        """The bytes that have gone from a host into the link."""
        command = ["ip", "netns", "exec", self.names[host], "cat", "/proc/net/dev"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return int(re.search(r"link0:\s*(.*)", lines)[1].split()[8])

    def start(self, host: int, folder: Path, command: list[str]) -> Program:
        folder.mkdir()
        options = torchrun(
            *("--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d"),
            *("--rdzv-endpoint", f"{self.addresses[0]}:29400", "--rdzv-id", "test"),
            *("--rdzv-conf", f"is_host={1 - host}", "--local-addr", self.addresses[host]),
        )
        prefix = ["ip", "netns", "exec", self.names[host]]
        return Program(
            [*prefix, *options, "-m", "dptable", *command],
            folder / "log",
            GLOO_SOCKET_IFNAME="link0",
        )


@pytest.fixture
def hosts():
    if shutil.which("ip") is None:
        pytest.skip("there is no ip command to make network namespaces with")
    try:
        with Hosts() as hosts:
            yield hosts
    except OSError as error:
        pytest.skip(f"network namespaces are not permitted here: {error}")


# The test below shows that hosts find each other; the others, what two processes compute.
@pytest.mark.slow
def test_two_hosts_train_as_one_process(hosts, digits, tmp_path, capsys):
    assert main([*train(digits, 2)[:-1], "whole", "--ngpus", "1"]) == 0
    capsys.readouterr()
    before = hosts.sent(0)
    command = train(digits, 2, "--distributed")
    programs = [hosts.start(i, tmp_path / f"host{i}", command) for i in range(2)]
    with running(*programs):
        assert [program.code() for program in programs] == [0, 0], programs[1].output
    outputs = [program.output for program in programs]
    # Which host is rank 0 is torchrun's choice.
    [first] = [i for i, output in enumerate(outputs) if "Test accuracy" in output]
    assert "in 2 processes" in outputs[first]
    assert not (tmp_path / f"host{1 - first}" / "run").exists()
    found = parameters(str(tmp_path / f"host{first}" / "run"))
    torch.testing.assert_close(found, parameters("whole"), rtol=1e-4, atol=1e-5)
    # A ring of two sends the gradients once in each step; the rest is small.
    gradients = 4 * found.numel() * 2 * 45
    assert gradients < hosts.sent(0) - before < 2 * gradients


def test_a_link_that_is_cut_ends_both_sides_in_time(hosts, digits, tmp_path):
    command = train(digits, 10_000, "--distributed", "--timeout", "5")
    programs = [hosts.start(i, tmp_path / f"host{i}", command) for i in range(2)]
    with running(*programs):
        until(lambda: any("epoch   1" in p.output for p in programs), lambda: programs[0].output)
        hosts.cut()
        start = time.monotonic()
        messages = [p.wait_for(r"dptable: rank (\d): (.*)") for p in programs]
        assert time.monotonic() - start < 45
        assert {message[1] for message in messages} == {"0", "1"}
        for message in messages:
            other = 1 - int(message[1])
            assert re.match(rf"rank {other}( is gone|'s store does not answer)", message[2]), (
                message
            )
        # The processes do not outlive their message; torchrun has timeouts of its own.
        until(lambda: not any(p.worker(rank) for p in programs for rank in range(2)))
