"""Run a function on every device, each in its own thread. This package knows no gradients."""
