"""After a reconnect: the agent's journal against the database (`resync`). After a restore: what is
held, what an agent proves, and which jobs are adopted."""
