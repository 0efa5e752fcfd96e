"""Files and output between server and agents, and their limits."""
