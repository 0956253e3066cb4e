"""The basis of reader and writer: errors, value types, limits, files."""
