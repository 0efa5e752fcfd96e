"""People involved in a job: assignees, observers and approvers."""
