"""Data parallelism for Torch7-style networks in one process."""
