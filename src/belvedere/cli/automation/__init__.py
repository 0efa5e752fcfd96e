"""Commands for tasks, workflows, schedules, webhooks, definitions and secrets."""
