"""The layers of Torch7's nn, one family a file."""
