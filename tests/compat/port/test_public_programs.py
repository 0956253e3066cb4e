"""Drafts of public programs, without a run: TORCH7_SOURCES names a folder with their checkouts.

docs/port_programs.md has the figures; ``figures`` measures them.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import public_checkouts

pytestmark = [
    *public_checkouts.MARKS,
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

# The scripts of each program; they bring its other files.
SCRIPTS = {
    "AdaIN-style": "train.lua test.lua",
    "Autoencoders": "main.lua",
    "ConvNet-torch": "Main.lua",
    "CycleGAN": "train.lua test.lua",
    "DenseNet": "main.lua",
    "ENet-training": "train/run.lua",
    "MemNN": "MemN2N-lang-model/main.lua",
    "NAMAS": "summary/train.lua",
    "ResNeXt": "main.lua",
    "VAE-Torch": "main.lua",
    "char-rnn": "train.lua sample.lua",
    "cifar.torch": "train.lua",
    "crnn": "src/main_train.lua",
    "dcgan.torch": "main.lua generate.lua",
    "demos": "train-a-digit-classifier/train-on-mnist.lua",
    "fast-neural-style": "train.lua fast_neural_style.lua",
    "fb.resnet.torch": "main.lua",
    "imagenet-multiGPU.torch": "main.lua",
    "lstm": "main.lua",
    "lstm-char-cnn": "main.lua",
    "neural-style": "neural_style.lua",
    "neuralconvo": "train.lua eval.lua",
    "neuraltalk2": "train.lua eval.lua",
    "pix2pix": "train.lua test.lua",
    "pose-hg-train": "src/main.lua",
    "sent-conv-torch": "main.lua",
    "seq2seq-attn": "train.lua s2sa/beam.lua",
    "stnbhwd": "demo/demo_mnist.lua init.lua",
    "texture_nets": "train.lua test.lua",
    "torch-rnn": "train.lua sample.lua",
    "treelstm": "relatedness/main.lua sentiment/main.lua",
    "tutorials": "2_supervised/doall.lua",
    "waifu2x": "convert_data.lua",
    "wide-residual-networks": "train.lua",
}


def figures(folder: Path, scripts: str) -> dict[str, Any]:
    """Files, lines of Lua and Python, marks and helpers of a program's draft."""
    from compat.port.program import make
    from compat.port.project.following import follow

    made = make(follow([folder / name for name in scripts.split()]))
    texts = [one.text for one in made.files]
    return {
        "files": len(texts),
        "lua": sum(source.text.count(b"\n") for source in made.program.sources),
        "python": sum(text.count("\n") for text in texts),
        "marks": sum(len(one.report.marks) for one in made.files),
        "helpers": sum(len(re.findall(r"\blua\.\w+\(", text)) for text in texts),
        "in Lua": [one.source.name for one in made.files if one.in_lua == "file"],
        "texts": {one.module: one.text for one in made.files},
    }


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_program_gets_a_draft_as_a_whole(name: str) -> None:
    found = figures(public_checkouts.need(name), SCRIPTS[name])
    for module, text in found["texts"].items():
        compile(text, module, "exec", dont_inherit=True)
    assert not found["in Lua"]
    assert found["marks"] < 0.2 * found["python"]


def _text(folder: Path) -> None:
    (folder / "data/tiny").mkdir(parents=True)
    (folder / "data/tiny/input.txt").write_text("the quick brown fox jumps over the dog. " * 150)


def _words(folder: Path) -> None:
    draw = random.Random(1)
    for part, lines in (("train", 240), ("valid", 160), ("test", 160)):
        rows = (" ".join(f"w{draw.randrange(30)}" for _ in range(8)) for _ in range(lines))
        (folder / f"data/ptb.{part}.txt").write_text("\n".join(rows) + "\n")


def _digits(folder: Path) -> None:
    from compat.lua import Runtime

    (folder / "mnist.t7").mkdir()
    code = """
    local function set(n)
       return {data = torch.ByteTensor(n, 1, 32, 32):random(0, 255),
               labels = torch.ByteTensor(n):random(1, 10)}
    end
    torch.save(... .. '/train_32x32.t7', set(60), 'ascii')
    torch.save(... .. '/test_32x32.t7', set(30), 'ascii')
    """
    Runtime().execute(code, str(folder / "mnist.t7"))


# The folder of a program, its script, small data that it needs, arguments.
RUNS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "char-rnn": (
        "train.lua", _text,
        "-data_dir data/tiny -gpuid -1 -rnn_size 8 -seq_length 20 -max_epochs 1",
    ),
    "lstm": ("main.lua", _words, ""),
    "demos/train-a-digit-classifier": ("train-on-mnist.lua", _digits, "-b 10 -t 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_draft_does_what_the_program_does(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port import command

    script, make_data, arguments = RUNS[name]
    folder = Path(shutil.copytree(public_checkouts.need(name), tmp_path / "program"))
    make_data(folder)
    code = command.run(
        [str(folder / script)], str(tmp_path / "out"), check=[arguments], seconds=60,
        ignore=r"[Tt]ime.*|\d+\.\d+ ?(s|ms|sec)\b.*",
    )  # fmt: skip
    assert code == 0, capsys.readouterr().out
