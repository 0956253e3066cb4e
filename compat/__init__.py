"""Torch7 as a Python library: nn, optim, the .t7 format, random numbers, cutorch."""
