"""Which input a net takes: as it was given, or found out from the net."""
