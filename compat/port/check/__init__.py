"""Comparison of a draft with its script: both run, and what they do is compared."""
