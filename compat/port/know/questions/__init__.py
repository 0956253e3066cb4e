"""Questions that a draft asks of its file when the types are known, one in each file."""
