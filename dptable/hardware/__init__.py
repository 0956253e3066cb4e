"""What the driver says of the devices."""
