"""Nets as PyTorch source that needs nothing of this package.

``to_torch`` converts the net. A recording of one run of the result lists the calls of ``torch.nn``
layers and torch functions. Repeated parts become classes, and the classes are written as text.
"""
