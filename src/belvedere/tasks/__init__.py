"""Tasks: what can be run."""
