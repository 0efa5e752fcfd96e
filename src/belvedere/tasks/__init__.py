"""Tasks: definitions of what can be run.

`model` is the definition that is stored with each version, `definition` validates it and its
arguments, `bindings` resolves names to ids. `service` has the operations, `api` the routes. Running
a task belongs to `jobs`, above.
"""
