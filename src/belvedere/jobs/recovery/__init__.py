"""After a restore: what is held, what an agent proves, and which jobs are adopted."""
