"""Many simulated agents in a separate process."""
