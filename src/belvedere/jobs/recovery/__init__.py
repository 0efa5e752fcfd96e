"""Recovery. After a reconnect: compare the agent's journal with the database (`resync`). After a
restore: which jobs are held, what an agent's journal proves, and which jobs are adopted.
"""
