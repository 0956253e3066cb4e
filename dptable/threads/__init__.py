"""A function on every device, each in a thread of its own. Knows no gradient."""
