"""Whether a draft does what its script does: both run, and are compared."""
