"""Conversion to and from ``torch.nn``; each file of ``compat.nn`` has a counterpart here.

A counterpart holds the ``torch.nn.Module`` classes that ``torch.nn`` lacks, and the converters to
``torch.nn`` and back. The classes carry Torch7's names, count dimensions and entries from 0 as
PyTorch does, and take batches. In a class with ``sample_dims``, dimensions count within a sample of
that many dimensions; an input with one more dimension is a batch.

Other layers become ``Computed``, which runs the layer's own ``updateOutput``. Classes that act by
their gradient, or draw numbers, stand alone: sources of nets copy them as they are here.
"""
