"""Modules that hold modules."""
