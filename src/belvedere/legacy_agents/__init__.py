"""The doors of the original system's agents: the same work over plain HTTP, one request each."""
