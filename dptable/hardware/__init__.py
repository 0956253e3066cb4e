"""Facts about devices from their driver."""
