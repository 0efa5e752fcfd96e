"""Workflows: creating, starting, cancelling and restarting them.

A definition (`workflow_specs`) is changed through `service` and shown by `records`; `api` has the
routes. `start` creates a workflow job and `control` and `restart` act on one; their routes are in
`runs_api`. `execution` decides how a job advances and is called by the event consumer in
`server.background`. `recipes` exports and imports. `schedule_targets` is what `schedules` starts.
"""
