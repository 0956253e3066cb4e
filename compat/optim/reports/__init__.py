"""What a training run tells: ``optim.ConfusionMatrix`` and ``optim.Logger``."""
