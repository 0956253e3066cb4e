"""The class of char-rnn, https://github.com/karpathy/char-rnn, which its files hold."""

import compat.nn  # isort: skip  # noqa: F401  # first, because it imports the class below
from compat.nn.layers.one_hot import OneHot

__all__ = ["OneHot"]
