"""Containers, in ``torch.nn``."""
