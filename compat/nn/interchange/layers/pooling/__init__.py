"""Poolings, in ``torch.nn``."""
