"""Copies a database into a backup file while servers use it, and loads it into an empty one.

Start with `copy`, which works with both engines, then `archive` (the file). `postgres_tables` and
`postgres_restore`, `sqlite_files` and `sqlite_restore` are the engines; `restore_marker` records
how far a restore has come. `upgrade_copy` copies a SQLite database before migrations. Other
packages import `copy`, `archive` and `upgrade_copy`.
"""
