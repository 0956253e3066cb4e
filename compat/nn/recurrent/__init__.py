"""The classes of Torch7's package rnn, which are called ``nn.X`` in Lua."""
