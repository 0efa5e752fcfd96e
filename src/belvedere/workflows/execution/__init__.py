"""How a workflow job advances from its first step to its end.

`advance` is the entry point: it updates the steps from their jobs, asks `decision` what follows
(pure, over the `visits` of nodes) and starts it through `step_jobs`. `nested` handles nodes that
run workflows, `admission` workflows that run one job at a time, `approval_scope` what an approval
in a workflow covers. `step_store` has the rows, `requests` the types in between.
"""
