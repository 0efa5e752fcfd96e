"""Commands for tasks, workflows, schedules, webhooks, definitions and secrets.

One module per command group, with its table `COMMANDS`; start with `schedule`, the shortest.
`task_options` builds a task from options and files, `workflow_rendering` prints workflows.
`cli.main` imports a group only when its command runs; nothing else imports it.
"""
