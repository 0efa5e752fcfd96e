"""Copies a database into a backup file while servers use it, and loads it into an empty one."""
