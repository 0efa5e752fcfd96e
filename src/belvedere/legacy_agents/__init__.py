"""TheEye agents, which poll for work over plain HTTP: everything that only they need.

- `api`: their endpoints, except those of job results (`job_reports`).
- `registration`: which host an agent works for, and whether its configuration is current.
- `polling`: the long poll for work; `claims` claims jobs and returns unsent ones.
- `monitor_configs`, `check_reports`: monitors as these agents read them, and their results.
- `job_reports`: the result of a job.
- `host_stats`: statistics and process lists of hosts.

Belvedere's own agent uses `belvedere.protocol` and `server.agents` instead. Rules that apply to
all agents belong in `jobs`, `monitors` and `hosts`.
"""
