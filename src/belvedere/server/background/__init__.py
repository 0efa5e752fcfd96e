"""Background loops and event consumers."""
