"""Copy and sum tensors between devices. This package knows no module, thread or process."""
