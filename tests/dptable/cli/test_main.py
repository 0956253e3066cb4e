"""The command line as a whole."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT

from compat import cutorch
from compat.port import command as port_command
from dptable import models
from dptable.cli import command_line, main
from dptable.training.options import MODELS


def test_an_error_is_one_line_and_exit_code_1(capsys, tmp_path):
    assert main(["train", "--data", str(tmp_path / "none.t7")]) == 1
    output = capsys.readouterr()
    assert output.err.startswith("dptable: ")
    assert output.err.count("\n") == 1
    assert "none.t7" in output.err
    assert output.out == ""


def test_traceback_shows_the_error_itself(tmp_path):
    with pytest.raises(FileNotFoundError):
        main(["train", "--traceback", "--data", str(tmp_path / "none.t7")])


@pytest.mark.parametrize(
    ("argv", "program", "wrong"),
    [
        ([], "dptable", "COMMAND"),
        (["fly"], "dptable", "invalid choice: 'fly'"),
        (["train", "--epochs", "0"], "dptable train", "argument --epochs: epochs is 0"),
        (
            ["port", "a.lua", "--seconds", "0"],
            "dptable port",
            "--seconds: 0 is given; a number above",
        ),
        (
            ["port", "a.lua", "--ignore", "("],
            "dptable port",
            "'(' is given; a regular expression is",
        ),
        (
            ["port", "a.lua", "--tolerance", "-1"],
            "dptable port",
            "--tolerance: -1 is given; a number",
        ),
        (["train", "--lr", "x"], "dptable train", "argument --lr: invalid float value: 'x'"),
        (
            ["train", "--lr", "0"],
            "dptable train",
            "argument --lr: lr is 0.0; a number above 0, up to 1e+30 is accepted",
        ),
        (
            ["train", "--momentum", "-1"],
            "dptable train",
            "--momentum: momentum is -1.0; a number from 0 to 1 is accepted",
        ),
        (["inspect"], "dptable inspect", "the following arguments are required: file"),
        (["convert", "a.t7", "b.pt", "--to-gpu"], "dptable convert", "arguments: --to-gpu"),
        (["--qiet", "devices"], "dptable devices", "--qiet (did you mean --quiet?)"),
        (["x/run.lua"], "dptable", "(did you mean dptable lua x/run.lua?)"),
        (["net.t7", "--all"], "dptable", "(did you mean dptable inspect net.t7?)"),
        (["--hlep"], "dptable", "--hlep (did you mean --help?)"),
        (["convert", "--jsno"], "dptable convert", "--jsno (did you mean --json?)"),
        (["run", "x.lua"], "dptable", "'run' (did you mean lua?)"),
        (["help", "convrt"], "dptable", "'convrt' (did you mean convert?)"),
        (["convrt", "a"], "dptable", "'convrt' (did you mean convert?)"),
        (["train", "--modle=x"], "dptable train", "--modle=x (did you mean --model?)"),
        (["train", "--model", "lnet"], "dptable train", "'lnet' (did you mean lenet?)"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(argv, program, wrong, capsys):
    with pytest.raises(SystemExit) as raised:
        main(argv)
    assert raised.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{program}: ") and wrong in line
    assert line.endswith(f"; see {program} --help")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--json inspect a.t7", "inspect --json a.t7"),
        ("-q --input 1x2 convert a b", "convert -q --input 1x2 a b"),
        ("--quiet lua -q a.lua", "lua --quiet -q a.lua"),
        ("help convert", "convert --help"),
        ("help", "--help"),
        ("help help", "--help"),
        ("--help view", "view --help"),
        ("--version inspect", "--version inspect"),
        ("inspect --all help", "inspect --all help"),
        ("lua train", "lua train"),
        ("a.lua train", "a.lua train"),
        ("", ""),
    ],
)
def test_options_may_come_before_the_command(given, meant):
    assert command_line.arranged(given.split()) == meant.split()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--help"], 0),
        (["help", "train"], 0),
        (["--version"], 0),
        (["train", "--help"], 0),
        (["inspect", "--help"], 0),
        (["convert", "--help"], 0),
        (["devices", "--help"], 0),
        (["train", "--lr", "0"], 2),
        (["fly"], 2),
    ],
)
def test_help_and_refusals_come_without_pytorch(argv, code, tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('PyTorch is loaded')")
    done = subprocess.run(
        [sys.executable, "-m", "dptable", *argv],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert "PyTorch is loaded" not in done.stderr


def test_inspect_loads_no_nets(golden):
    script = "import sys; from dptable.cli import main; main(sys.argv[1:])\n"
    script += "sys.exit('compat.nn' in sys.modules)"
    # As the command is started.
    program = f"import sys; sys.argv[0] = 'dptable'; exec({script!r})"
    done = subprocess.run(
        [sys.executable, "-c", program, "inspect", str(golden / "format" / "nn_mlp.t7")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_command_line_names_what_there_is():
    assert sorted(MODELS) == sorted(models.MODELS)
    shown = subprocess.run(
        [sys.executable, "-m", "dptable", "devices", "--help"], capture_output=True, text=True
    ).stdout
    assert cutorch.ENVIRONMENT_VARIABLE in shown


def test_version_tells_those_of_what_it_stands_on(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["--version"])
    assert raised.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("dptable ")
    assert torch.__version__.partition("+")[0] in shown.replace("\n", "")


def test_ctrl_c_while_the_command_loads_ends_it_quietly(tmp_path):
    # In the place of PyTorch, so that the moment is certain.
    (tmp_path / "torch.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)")
    command = subprocess.Popen(
        [sys.executable, "-m", "dptable", "devices"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout.readline() == "loading\n"
    command.send_signal(signal.SIGINT)
    assert command.communicate(timeout=30) == ("", "")
    assert command.returncode == -signal.SIGINT


def test_loading_the_library_leaves_ctrl_c_alone():
    script = "import signal, dptable\n"
    script += "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([forked_python(), "-c", script], check=True, cwd=ROOT)


def test_devices_lists_the_logical_devices(capsys):
    cutorch.configure(["cpu"] * 3)
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["1", "cpu"], ["2", "cpu"], ["3", "cpu"]]
    assert main(["devices", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["devices"]
    assert [entry["gpu"] for entry in listed] == [1, 2, 3]


@pytest.mark.parametrize(("argv", "interval"), [([], 2.0), (["0.5"], 0.5)])
def test_devices_are_watched_until_ctrl_c(argv, interval, monkeypatch, capsys):
    cutorch.configure(["cpu"])
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("dptable.devices.time.sleep", sleep)
    assert main(["devices", "--watch", *argv]) == 0
    assert waits == [interval] * 2
    assert capsys.readouterr().out.count("  cpu  ") == 2


def test_python_m_dptable_is_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "dptable", "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("usage: dptable")
    assert "train" in shown.stdout


def test_a_warning_is_one_line(tmp_path):
    train = ["train", "--model", "mlp", "--capture", "--devices", "cpu", "--epochs", "1"]
    done = subprocess.run(
        [forked_python(), "-m", "dptable", *train],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    reason = "cpu is not a GPU; such passes are computed normally"
    # On a busy machine a progress bar follows.
    assert done.stderr.startswith(f"dptable: capture: {reason}\n")
    assert done.stderr.count("capture") == 1 and "Warning" not in done.stderr


def test_quiet_leaves_warnings_and_the_progress_bar_out(tmp_path):
    train = ["train", "-q", "--model", "mlp", "--capture", "--devices", "cpu", "--epochs", "1"]
    done = subprocess.run(
        [forked_python(), "-m", "dptable", *train],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stderr == "" and "epoch 1" in done.stdout.replace("epoch   1", "epoch 1")


def test_verbose_shows_where_an_error_arose():
    with pytest.raises(FileNotFoundError):
        main(["inspect", "-v", "/no/such/file.t7"])


def test_the_help_tells_the_exit_status(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "exit status: 0 done, 1 an error, 2" in capsys.readouterr().out


def test_a_script_beside_a_folder_of_that_name_finds_the_library(tmp_path):
    # As a script does that lies beside the clone.
    finds = "from importlib.util import find_spec\nassert find_spec('dptable').origin"
    (tmp_path / "script.py").write_text(finds)
    script = [sys.executable, "script.py"]
    if subprocess.run(script, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("dptable is not installed")
    (tmp_path / "dptable").mkdir()
    subprocess.run(script, check=True, cwd=tmp_path)


def test_the_help_of_every_command_ends_with_examples_that_parse(capsys):
    whole = command_line.parser()
    known = [("dptable", *example) for example in command_line.EXAMPLES_OF_ALL]
    for command, examples in command_line.EXAMPLES.items():
        known += [(f"dptable {command}", *example) for example in examples]
    for program, example, what in known:
        words = shlex.split(example)
        assert " ".join(words).startswith(program)
        if words[1] != "lua":
            assert whole.parse_args(port_command.joined(words[1:])).command == words[1]
        assert what
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    assert capsys.readouterr().out.rstrip().endswith(command_line.EXAMPLES["convert"][-1][1])
