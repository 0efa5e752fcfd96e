"""Triggers: which event starts which task or workflow.

`sources` is the table of what can start something, `store` has the rows and `fire`, by which a
feature reports that something happened, `service` the operations on the triggers of a target.
`cycles` rejects a target that would start itself; that is why the members of workflows
(`workflow_tasks`, `workflow_parts`) belong to this package. Both sides of a trigger are in
packages above this one, which is why it knows them only by kind and id. The starts themselves
happen in `server.background`.
"""
