"""Nets as PyTorch source that needs nothing of this package.

What ``to_torch`` makes of a net runs once and is recorded: layers of ``torch.nn``, functions of
torch between them. Repeated parts become classes, and the classes text.
"""
