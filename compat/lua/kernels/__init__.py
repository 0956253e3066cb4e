"""The numbers behind Lua's tensors, by kind of operation. No kernel knows Lua."""
