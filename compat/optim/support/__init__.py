"""What the optimizers are written with."""
