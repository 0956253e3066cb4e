"""The criterions, in ``torch.nn``."""
