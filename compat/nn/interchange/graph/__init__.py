"""Graphs of modules, in ``torch.nn``."""
