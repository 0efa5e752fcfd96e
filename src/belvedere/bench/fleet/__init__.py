"""Many simulated agents in a process of their own."""
