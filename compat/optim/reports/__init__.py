"""Reports on a training run: ``optim.ConfusionMatrix`` and ``optim.Logger``."""
