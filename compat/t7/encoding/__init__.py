"""Bytes to numbers, strings and tables, and back. Knows no classes."""
