"""First start and set-up code."""
