"""The losses of Torch7's nn."""
