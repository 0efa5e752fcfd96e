"""The measurements: `load` (scripts and jobs), `features` (webhooks, counters, lists, checks) and
`history` (operations on a database with a million jobs)."""
