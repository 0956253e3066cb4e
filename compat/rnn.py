"""Torch7's package rnn: recurrent nets. Its classes are in ``compat.nn`` too, as in Lua."""

from compat.nn.recurrent.cells import GRU, LSTM, FastLSTM
from compat.nn.recurrent.hidden_states import (
    get_grad_hidden_state,
    get_hidden_state,
    max_bptt_step,
    set_grad_hidden_state,
    set_hidden_state,
)
from compat.nn.recurrent.masking import LookupTableMaskZero, MaskZero, MaskZeroCriterion, TrimZero
from compat.nn.recurrent.memory import AbstractRecurrent, forget, shared_clone, step_clone
from compat.nn.recurrent.mufuru import MuFuRu
from compat.nn.recurrent.norm_stabilizer import NormStabilizer
from compat.nn.recurrent.parts import CopyGrad, LinearNoBias, SAdd
from compat.nn.recurrent.recurrences import Recurrence, Recurrent, Recursor
from compat.nn.recurrent.sequencers import (
    AbstractSequencer,
    BiSequencer,
    BiSequencerLM,
    RecurrentAttention,
    Repeater,
    RepeaterCriterion,
    ReverseTable,
    Sequencer,
    SequencerCriterion,
    remember,
)
from compat.nn.recurrent.whole_sequence import (
    SeqBRNN,
    SeqGRU,
    SeqLSTM,
    SeqLSTMP,
    SeqReverseSequence,
)

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
    "LookupTableMaskZero",
    "MaskZero",
    "MaskZeroCriterion",
    "MuFuRu",
    "NormStabilizer",
    "Recurrence",
    "Recurrent",
    "RecurrentAttention",
    "Recursor",
    "Repeater",
    "RepeaterCriterion",
    "ReverseTable",
    "SAdd",
    "SeqBRNN",
    "SeqGRU",
    "SeqLSTM",
    "SeqLSTMP",
    "SeqReverseSequence",
    "Sequencer",
    "SequencerCriterion",
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
