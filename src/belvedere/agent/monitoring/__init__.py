"""Checks of monitors on a host.

Start with `scheduler` (runs each check periodically, in the groups of `start_groups`), then
`checker_process` and `checker_main`: checks run in a separate process. `script_checks` runs scripts
as checks. `monitor_list` receives the configuration, `sample_buffer` and `sample_journal` keep
results until the server has them. The checks themselves are in `agent.checks`.
"""
