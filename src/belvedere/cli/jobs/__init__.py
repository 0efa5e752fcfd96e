"""Commands that run work and read jobs."""
