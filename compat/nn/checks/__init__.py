"""What modules take, and where in the net was the mistake. Knows no modules."""
