"""Layers of other families, in ``torch.nn``."""
