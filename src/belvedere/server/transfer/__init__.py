"""`belvedere migrate`: moves an installation to the other database engine.

`moves` has the whole command; `cli.server.migrate` calls it. The rows are copied by `db.transfer`.
"""
