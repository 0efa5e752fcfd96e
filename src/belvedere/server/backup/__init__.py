"""`belvedere backup` and `belvedere restore`."""
