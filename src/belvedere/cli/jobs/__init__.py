"""Commands that run work and read jobs.

Start with `run` (run a task, follow it, exit with its status). `job` and `job_files` read jobs,
`exec` runs a command on hosts. `follow` prints a log until the end, `outcome` has exit statuses,
`job_rendering` the output for people. `cli.automation` imports `run`, `follow` and `outcome` for
workflows.
"""
