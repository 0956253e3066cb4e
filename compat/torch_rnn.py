"""The classes of torch-rnn, https://github.com/jcjohnson/torch-rnn, which its files hold.

Its ``nn.LSTM`` has the name of another class of package rnn, which in Python is ``compat.nn.LSTM``.
"""

import compat.nn  # isort: skip  # noqa: F401  # first, because it imports the classes below
from compat.nn.recurrent.language_model import LanguageModel
from compat.nn.recurrent.torch_rnn import LSTM, VanillaRNN

__all__ = ["LSTM", "LanguageModel", "VanillaRNN"]
