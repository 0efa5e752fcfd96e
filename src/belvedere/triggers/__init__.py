"""What starts what: triggers, and which tasks and workflows a workflow runs."""
