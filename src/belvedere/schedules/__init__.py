"""Schedules: tasks and workflows that start by date, cron expression or interval.

`model` has the row and decides what is due (pure, over `timing`), `firing` starts it or records it
as missed in `run_history`, `service` has the operations and `api` the routes. `targets` is what a
schedule can start; the entry for workflows comes from `workflows`, above. `clock_step` corrects
schedules after the server's clock was changed.
"""
