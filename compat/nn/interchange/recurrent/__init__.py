"""Package rnn and torch-rnn, in ``torch.nn``."""
