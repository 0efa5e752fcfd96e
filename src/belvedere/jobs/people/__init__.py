"""The people of a job: assignees, observers and approvers."""
