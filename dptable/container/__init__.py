"""``nn.DataParallelTable`` and the parts that only it uses."""
