"""The optimizers of Torch7's optim, one function per file."""
