"""Definitions: one task or monitor for every host with a tag, kept identical on all of them.

`service` has the operations and `rollout` applies a definition to its hosts, through the table of
`managed_kinds` (task, monitor). `model` has the row and the record, `store` the SQL, `api` the
routes. What a definition created is in `hosts.managed_objects`.
"""
