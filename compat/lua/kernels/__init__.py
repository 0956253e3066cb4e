"""The computations of Lua's tensors, by kind of operation. No kernel knows Lua."""
