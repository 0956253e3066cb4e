"""Checks of what modules take, and the place of a mistake in the net. Knows no modules."""
