"""``torch.nn`` in and out: for each file of ``compat.nn`` one of that place and name.

It holds the ``torch.nn.Module`` classes that ``torch.nn`` lacks, and what converts to ``torch.nn``
and back. They carry Torch7's names, count dimensions and entries from 0 as PyTorch does, and take
batches. Where a class has ``sample_dims``, a dimension is that of a sample of so many dimensions:
an input with one more is a batch, and its dimension the next one.

What is left of the layers is ``Computed``: it runs the layer's own ``updateOutput``. Classes that
act by their gradient, or draw numbers, stand alone: sources of nets have them as they are here.
"""
