"""Copies and sums of tensors between devices. Knows no module, no thread, no process."""
