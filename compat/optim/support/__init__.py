"""Helpers of the optimizers."""
