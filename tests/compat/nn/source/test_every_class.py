"""Every class of the registry becomes source, or is refused by a line that says what to do."""

from __future__ import annotations

import inspect
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ruff.__main__ import find_ruff_bin
from support.nn_golden import case_names, copied, load_case, restored

from compat import nn, random
from compat.nn.interchange import counterparts
from compat.nn.interchange.modules import STANDING_ALONE
from compat.nn.source.standing import with_needed
from compat.nn.source.written import write

STEP = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
STEPS = [STEP, STEP.flip(0) / 2, -STEP, STEP + 1]
SEQUENCE = torch.stack(STEPS)


def sums(inputs: int, outputs: int) -> Any:
    both = nn.ParallelTable(nn.Linear(inputs, outputs), nn.Linear(outputs, outputs))
    return nn.Sequential(both, nn.CAddTable(), nn.Tanh())


def attention() -> Any:
    action = nn.Sequential(nn.Linear(4, 2), nn.ReinforceNormal(0.1))
    return nn.RecurrentAttention(sums2(), action, 3, [4])


def sums2() -> Any:
    return nn.Sequential(nn.ParallelTable(nn.Linear(3, 4), nn.Linear(2, 4)), nn.CAddTable())


def language_model() -> Any:
    made = {"model_type": "lstm", "wordvec_size": 4, "rnn_size": 5, "num_layers": 2}
    words = {1: "a", 2: "b", 3: "c"}
    return nn.LanguageModel(idx_to_token=words, dropout=0.5, batchnorm=1, **made)


def graph() -> Any:
    x = nn.Identity()()
    return nn.gModule([x], [nn.CAddTable()([nn.Linear(3, 3)(x), x])])


def inception() -> Any:
    sizes = {"inputSize": 2, "outputSize": [2, 2], "reduceSize": [2, 2, 2, 2]}
    return nn.Inception(sizes)


def unpooled() -> Any:
    pooling = nn.SpatialMaxPooling(2, 2, 2, 2)
    return nn.Sequential(pooling, nn.ReLU(), nn.SpatialMaxUnpooling(pooling))


# What is not recorded one by one: a net with the class in it, and an input.
MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    "BiSequencer": (lambda: nn.BiSequencer(nn.LSTM(3, 4), nn.GRU(3, 4)), STEPS),
    "BiSequencerLM": (lambda: nn.BiSequencerLM(nn.LSTM(3, 4)), STEPS),
    "CopyGrad": (lambda: nn.CopyGrad(), STEP),
    "DataParallelTable": (lambda: nn.DataParallelTable(1).add(nn.Linear(3, 4), [1]), STEP),
    "GPU": (lambda: nn.GPU(nn.Linear(3, 4), 1), STEP),
    "Inception": (inception, torch.randn(2, 2, 8, 8)),
    "Serial": (lambda: nn.Serial(nn.Linear(3, 4)), STEP),
    "SpatialClassifier": (lambda: nn.SpatialClassifier(nn.Linear(3, 4)), torch.randn(3, 4, 5)),
    "SpatialNormalization": (
        lambda: nn.SpatialNormalization(2, torch.ones(3, 3)),
        torch.randn(2, 6, 6),
    ),
    "SpatialPadding": (lambda: nn.SpatialPadding(1, 2), torch.randn(2, 3, 4)),
    "SpatialReSampling": (
        lambda: nn.SpatialReSampling({"oheight": 3, "owidth": 5}),
        torch.randn(2, 2, 4, 4),
    ),
    "gModule": (graph, STEP),
    "FastLSTM": (lambda: nn.Sequencer(nn.FastLSTM(3, 4)), STEPS),
    "GRU": (lambda: nn.GRU(3, 4), STEP),
    "LSTM": (lambda: nn.LSTM(3, 4), STEP),
    "LanguageModel": (language_model, torch.tensor([[1, 3, 2], [2, 2, 1]])),
    "LookupTableMaskZero": (lambda: nn.LookupTableMaskZero(5, 3), torch.tensor([[0, 1], [5, 0]])),
    "MaskZero": (lambda: nn.Sequencer(nn.MaskZero(nn.Linear(3, 4), 1)), STEPS),
    "ModuleFromCriterion": (lambda: nn.ModuleFromCriterion(nn.MSECriterion()), STEPS[:2]),
    "MuFuRu": (lambda: nn.Sequencer(nn.MuFuRu(3, 4)), STEPS),
    "NormStabilizer": (lambda: nn.Sequencer(nn.NormStabilizer(0.5)), STEPS),
    "Recurrence": (lambda: nn.Recurrence(sums(3, 4), 4, 1), STEP),
    "Recurrent": (lambda: nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4)), STEP),
    "RecurrentAttention": (attention, STEP),
    "Recursor": (lambda: nn.Recursor(nn.Sequential(nn.GRU(3, 4))), STEP),
    "Repeater": (lambda: nn.Repeater(nn.LSTM(3, 3), 3), STEP),
    "ReverseSequence": (lambda: nn.ReverseSequence(), SEQUENCE),
    "ReverseTable": (lambda: nn.ReverseTable(), STEPS),
    "ReverseUnreverse": (lambda: nn.ReverseUnreverse(nn.SeqGRU(3, 4)), SEQUENCE),
    "RecGRU": (lambda: nn.Sequencer(nn.RecGRU(3, 4)), STEPS),
    "RecLSTM": (lambda: nn.Sequencer(nn.RecLSTM(3, 4, 2)), STEPS),
    "StepGRU": (lambda: nn.StepGRU(3, 4), [torch.randn(2, 3), torch.randn(2, 4)]),
    "StepLSTM": (lambda: nn.StepLSTM(3, 4), [torch.randn(2, n) for n in (3, 4, 4)]),
    "LinearRNN": (lambda: nn.Sequencer(nn.LinearRNN(3, 4)), STEPS),
    "LookupRNN": (lambda: nn.LookupRNN(5, 4), torch.tensor([0, 5])),
    "SAdd": (lambda: nn.SAdd(1, True), STEP),
    "SeqBGRU": (lambda: nn.SeqBGRU(3, 4), SEQUENCE),
    "SeqBLSTM": (lambda: nn.SeqBLSTM(3, 4), SEQUENCE),
    "SeqBRNN": (lambda: nn.SeqBRNN(3, 4), SEQUENCE),
    "SeqGRU": (lambda: nn.SeqGRU(3, 4), SEQUENCE),
    "SeqLSTM": (lambda: nn.SeqLSTM(3, 4), SEQUENCE),
    "SeqLSTMP": (lambda: nn.SeqLSTMP(3, 4, 2), SEQUENCE),
    "SeqReverseSequence": (lambda: nn.SeqReverseSequence(1), SEQUENCE),
    "Sequencer": (lambda: nn.Sequencer(nn.Linear(3, 4)), STEPS),
    "SpatialMaxUnpooling": (unpooled, torch.randn(2, 2, 4, 4)),
    "TrimZero": (lambda: nn.Sequencer(nn.TrimZero(nn.Linear(3, 4), 1)), STEPS),
    "LinearNoBias": (lambda: nn.LinearNoBias(3, 4), STEP),
    "ReinforceGamma": (lambda: nn.Sequential(nn.Exp(), nn.ReinforceGamma(0.5)), STEP),
    "VanillaRNN": (lambda: nn.VanillaRNN(3, 4), SEQUENCE),
}
# What no source can be written for, and what the line says.
REFUSED = {
    "LayerNormalization": "put a torch.nn.LayerNorm in its place",
    "Reinforce": "nn.Reinforce: torch.nn has no equivalent",
}
# What nets are not made of.
BASES = {"AbstractRecurrent", "AbstractSequencer", "Container", "Decorator", "Module"}
BASES |= {"Unknown", "Native"}
CLASSES = sorted(
    name
    for name, cls in vars(nn).items()
    if inspect.isclass(cls) and issubclass(cls, nn.Module) and name not in BASES
)
RECORDED: dict[str, list[tuple[str, str]]] = {}
for _folder in ("nn", "dpnn"):
    for _name, _case in case_names(_folder):
        RECORDED.setdefault(_name, []).append((_folder, _case))


def net_of(name: str) -> tuple[Any, Any]:
    """A net with a module of a class, and an input."""
    if name in MADE:
        make, input = MADE[name]
        return make(), input
    folder, case_name = RECORDED[name][0]
    case = load_case(folder, name, case_name)
    return restored(case, "module"), copied(case["input"])


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_becomes_source_or_says_what_to_do(name: str) -> None:
    if name not in MADE and name not in RECORDED:
        pytest.fail(f"nn.{name} is new: give it a net in MADE, or a reason in REFUSED")
    net, input = net_of(name)
    if name in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[name]) as raised:
            write(nn.Sequential(nn.Identity(), net), input)
        told = str(raised.value)
        assert told.startswith("nn.Sequential[2]") and "\n" not in told
        return
    written = write(net, input)  # which compares outputs in both modes, and gradients
    assert "compat" not in written.text


def standing() -> list[type]:
    counterparts.load_all()
    return sorted(STANDING_ALONE, key=lambda cls: cls.__name__)


def test_classes_that_stand_alone_are_laid_out(tmp_path: Path) -> None:
    text = "\n\n\n".join("\n".join(lines) for lines in with_needed(standing()).values())
    path = tmp_path / "alone.py"
    path.write_text(text + "\n")
    ruff = [find_ruff_bin(), "format", "--check", "--isolated", "-q", str(path)]
    assert subprocess.run(ruff).returncode == 0


def test_classes_that_stand_alone_need_nothing_of_this_package() -> None:
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "Tensor": torch.Tensor, "Any": Any}
    names |= {"functional": torch.nn.functional, "math": __import__("math")}
    for lines in with_needed(standing()).values():
        assert "compat" not in "\n".join(lines)
        exec("from __future__ import annotations\n" + "\n".join(lines), names)
    assert names["GradientReversal"]().factor == 1.0
