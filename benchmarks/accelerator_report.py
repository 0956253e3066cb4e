"""Run what needs accelerators on those of this machine, and record it in RESULTS.md.

    make accelerator-report            (or: python benchmarks/accelerator_report.py [--only PART])
    python benchmarks/accelerator_report.py --rehearse        on simulated devices, with no record

Runs, each in a process of its own: the tests that need a device (on it as two logical devices, if
there is one only), a training step (`step.py --only gpu`) and communication (`comm.py`). Each
prints as it goes. At the end RESULTS.md gets a section for this hardware, in place of an earlier
one of the same, with the versions, how the tests ended and the tables.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

import torch

from compat import accelerators, cutorch

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
# A benchmark in a process that has simulated devices.
SIMULATED = (
    "import os, runpy, simulator, sys; simulator.load(2); sys.argv = sys.argv[1:]; "
    "sys.path.insert(0, os.path.dirname(sys.argv[0])); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
RESULTS = HERE / "RESULTS.md"
HEADING = "## On accelerators: "


def parts(devices: list[str], rehearsed: bool) -> dict[str, tuple[str, list[str]]]:
    """For each part its title and its command."""
    python, two = [sys.executable], ",".join(devices[:2])
    run = [*python, "-c", SIMULATED] if rehearsed else python
    short = ["--budget", "0"] if rehearsed else []
    small = ["--rows", "4"] if rehearsed else []
    return {
        "tests": ("Tests", [*python, "-m", "pytest", "-q", "-m", "cuda or accelerator"]),
        "step": ("A training step", [*run, str(HERE / "step.py"), "--only", "gpu", *short, *small]),
        "comm": ("Communication", [*run, str(HERE / "comm.py"), "--devices", two, *short]),
    }


def output_of(command: list[str], devices: list[str], rehearsed: bool) -> tuple[str, int]:
    """What a command prints, which is shown as it comes, and how it ended."""
    environment = os.environ | {
        "DPTABLE_TEST_DEVICES": "" if rehearsed else ",".join(devices),
        "PYTHONPATH": f"{HERE.parent}{os.pathsep}{TESTS}",
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command,
        cwd=HERE.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines), process.returncode


def hardware(devices: tuple[torch.device, ...]) -> str:
    """The names of the devices, alike ones counted."""
    names = [str(cutorch.getDeviceProperties(device).name) for device in devices]
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))


def versions() -> str:
    """What the figures depend on besides the hardware."""
    backend = torch.version.cuda or torch.version.hip or accelerators.kind()
    return f"torch {torch.__version__} ({backend}), Python {platform.python_version()}"


def section(title: str, body: str, results: str) -> str:
    """``results`` with a section ``title``, in place of one of that title."""
    before, found, after = results.partition(f"{HEADING}{title}\n")
    if found:
        start = after.find("\n## ")
        after = "" if start < 0 else after[start + 1 :]
    else:
        after = ""
        before = before.rstrip() + "\n\n"
    end = f"\n{after}" if after else ""
    return f"{before}{HEADING}{title}\n\n{body.rstrip()}\n{end}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Tests and benchmarks on accelerators.")
    parser.add_argument("--only", action="append", choices=["tests", "step", "comm"])
    parser.add_argument(
        "--rehearse", action="store_true", help="see on simulated devices that it runs"
    )
    options = parser.parse_args()
    if options.rehearse:
        sys.path.insert(0, str(TESTS))
        import simulator

        simulator.load(2)
    found = accelerators.devices()
    if not found:
        sys.exit("accelerator-report: PyTorch sees no accelerator on this machine")
    names = [str(device) for device in found] * (2 if len(found) == 1 else 1)
    chosen = parts(names, options.rehearse)
    pieces = [f"{date.today():%d %B %Y}; {versions()}."]
    failed = []
    for name in options.only or chosen:
        title, command = chosen[name]
        text, code = output_of(command, names, options.rehearse)
        shown = text.strip().splitlines()[-1:] if name == "tests" else text.strip().splitlines()
        pieces.append("\n".join([f"**{title}**", "", "```", *shown, "```"]))
        if code:
            failed.append(name)
    new = section(hardware(found), "\n\n".join(pieces), RESULTS.read_text())
    if options.rehearse:
        print("not recorded: " + new[new.index(f"{HEADING}{hardware(found)}") :].splitlines()[0])
    else:
        temporary = RESULTS.with_suffix(".new")
        temporary.write_text(new)
        temporary.replace(RESULTS)
        print(f"recorded in {RESULTS}")
    if failed:
        sys.exit(f"accelerator-report: {', '.join(failed)} failed")


if __name__ == "__main__":
    main()
