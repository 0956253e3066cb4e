"""Convolutions, in ``torch.nn``."""
