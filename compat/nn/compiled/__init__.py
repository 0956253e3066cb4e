"""``net.compile()``: passes of a net through code that PyTorch's compiler makes."""
