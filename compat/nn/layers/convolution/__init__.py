"""The family of convolutions, and the connection tables of ``nn.tables``."""
