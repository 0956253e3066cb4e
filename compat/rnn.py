"""Torch7's package rnn: recurrent nets. Its classes are in ``compat.nn`` too, as in Lua."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from compat.hints import answers
from compat.nn.core.module import Module
from compat.nn.recurrent.attention import RecurrentAttention
from compat.nn.recurrent.bisequencers import BiSequencer, BiSequencerLM
from compat.nn.recurrent.cells import GRU, LSTM, FastLSTM
from compat.nn.recurrent.masking import LookupTableMaskZero, MaskZero, MaskZeroCriterion, TrimZero
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.mufuru import MuFuRu
from compat.nn.recurrent.norm_stabilizer import NormStabilizer
from compat.nn.recurrent.parts import CopyGrad, LinearNoBias, SAdd
from compat.nn.recurrent.recurrences import Recurrence, Recurrent, Recursor
from compat.nn.recurrent.seq_brnn import (
    ReverseSequence,
    ReverseUnreverse,
    SeqBGRU,
    SeqBLSTM,
    SeqBRNN,
    SeqReverseSequence,
)
from compat.nn.recurrent.seq_gru import SeqGRU
from compat.nn.recurrent.seq_lstm import SeqLSTM, SeqLSTMP
from compat.nn.recurrent.sequence_criterions import RepeaterCriterion, SequencerCriterion
from compat.nn.recurrent.sequencers import AbstractSequencer, Repeater, ReverseTable, Sequencer
from compat.nn.recurrent.steps import LinearRNN, LookupRNN, RecGRU, RecLSTM, StepGRU, StepLSTM

M = TypeVar("M", bound=Module)

__all__ = [
    "GRU",
    "LSTM",
    "AbstractRecurrent",
    "AbstractSequencer",
    "BiSequencer",
    "BiSequencerLM",
    "CopyGrad",
    "FastLSTM",
    "LinearNoBias",
    "LinearRNN",
    "LookupRNN",
    "LookupTableMaskZero",
    "MaskZero",
    "MaskZeroCriterion",
    "MuFuRu",
    "NormStabilizer",
    "RecGRU",
    "RecLSTM",
    "Recurrence",
    "Recurrent",
    "RecurrentAttention",
    "Recursor",
    "Repeater",
    "RepeaterCriterion",
    "ReverseSequence",
    "ReverseTable",
    "ReverseUnreverse",
    "SAdd",
    "SeqBGRU",
    "SeqBLSTM",
    "SeqBRNN",
    "SeqGRU",
    "SeqLSTM",
    "SeqLSTMP",
    "SeqReverseSequence",
    "Sequencer",
    "SequencerCriterion",
    "StepGRU",
    "StepLSTM",
    "TrimZero",
    "forget",
    "get_grad_hidden_state",
    "get_hidden_state",
    "max_bptt_step",
    "remember",
    "set_grad_hidden_state",
    "set_hidden_state",
    "shared_clone",
    "step_clone",
]


def shared_clone(module: M) -> M:
    """``module.sharedClone()``: a copy that trains the same parameters."""
    return module.sharedClone()


def step_clone(module: M) -> M:
    """``module.stepClone()``: one for another step, in which recurrent modules are the same."""
    return module.stepClone()


def forget(module: Module) -> None:
    """``module.forget()``: have every recurrent module in it start anew."""
    module.forget()


def remember(module: M, when: str | None = "both") -> M:
    """``module.remember(when)``: that of every ``Sequencer`` in it."""
    return module.remember(when)


def max_bptt_step(module: Module, rho: int) -> None:
    """``module.maxBPTTstep(rho)``: set the ``rho`` of the recurrent modules in it."""
    module.maxBPTTstep(rho)


def get_hidden_state(module: Module, step: int | None = None, input: Any = None) -> Any:
    """``module.getHiddenState(step, input)``: the states of the recurrent modules in it."""
    return module.getHiddenState(step, input)


def set_hidden_state(module: Module, step: int | None, hiddenState: Any) -> None:
    """``module.setHiddenState(step, hiddenState)``: set what ``get_hidden_state`` tells."""
    module.setHiddenState(step, hiddenState)


def get_grad_hidden_state(module: Module, step: int | None = None) -> Any:
    """``module.getGradHiddenState(step)``: the gradients of ``get_hidden_state``."""
    return module.getGradHiddenState(step)


def set_grad_hidden_state(module: Module, step: int | None, gradHiddenState: Any) -> None:
    """``module.setGradHiddenState(step, gradHiddenState)``: set what the former tells."""
    module.setGradHiddenState(step, gradHiddenState)


__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "rnn", {}, __all__)
