"""Several processes: membership, who is to blame, agreement, sliced files. Knows no container."""
