"""Torch7's package rnn: recurrent nets. Its classes are in ``compat.nn`` too, as in Lua."""

from compat.nn.recurrent.cells import GRU, LSTM, CopyGrad, FastLSTM, LinearNoBias, SAdd
from compat.nn.recurrent.masking import LookupTableMaskZero, MaskZero, TrimZero
from compat.nn.recurrent.memory import (
    AbstractRecurrent,
    Recurrence,
    Recurrent,
    Recursor,
    forget,
    shared_clone,
)
from compat.nn.recurrent.sequencers import (
    AbstractSequencer,
    BiSequencer,
    BiSequencerLM,
    Repeater,
    RepeaterCriterion,
    ReverseTable,
    Sequencer,
    SequencerCriterion,
    remember,
)
from compat.nn.recurrent.whole_sequence import SeqBRNN, SeqGRU, SeqLSTM, SeqReverseSequence

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
    "Recurrence",
    "Recurrent",
    "Recursor",
    "Repeater",
    "RepeaterCriterion",
    "ReverseTable",
    "SAdd",
    "SeqBRNN",
    "SeqGRU",
    "SeqLSTM",
    "SeqReverseSequence",
    "Sequencer",
    "SequencerCriterion",
    "TrimZero",
    "forget",
    "remember",
    "shared_clone",
]
