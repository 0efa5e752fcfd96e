"""`belvedere migrate`."""
