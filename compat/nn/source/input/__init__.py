"""Parses or finds an input that a net takes."""
