"""Torch7's package rnn: recurrent nets. Its classes are in `compat.nn` too, as in Lua."""

import compat.nn  # isort: skip  # noqa: F401  # first, because it imports the classes below
from compat.rnn.cells import GRU, LSTM, CopyGrad, FastLSTM, LinearNoBias, SAdd
from compat.rnn.masking import LookupTableMaskZero, MaskZero, TrimZero
from compat.rnn.recurrent import (
    AbstractRecurrent,
    Recurrence,
    Recurrent,
    Recursor,
    forget,
    shared_clone,
)
from compat.rnn.seq import SeqBRNN, SeqGRU, SeqLSTM, SeqReverseSequence
from compat.rnn.sequencers import (
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
