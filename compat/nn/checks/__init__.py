"""Is this argument acceptable, and where in the net was the mistake. Knows no modules."""
