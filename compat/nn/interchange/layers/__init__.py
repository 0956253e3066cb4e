"""The layers, in ``torch.nn``: a file for each of ``compat/nn/layers/``."""
