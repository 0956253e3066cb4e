"""The module around a ``torch.nn`` module, in ``torch.nn``."""
