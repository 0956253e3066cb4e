"""Nets of ``torch.nn`` made of Torch7's, and the other way round."""
