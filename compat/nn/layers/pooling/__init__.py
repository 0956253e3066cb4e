"""The family of poolings."""
