"""What a workflow is: definition, graph, nesting, rows and versions. Below `jobs`, which reads it.

Start with `model` (nodes, edges, `WorkflowSpec` and the rows). `graph_validation` finds every fault
of a definition, with `graph_cycles` for reachability and `nesting` for workflows that run other
workflows. `store` reads and writes workflows with their versions, `workflow_jobs` the row that
binds a job to a version. How a workflow job runs belongs to `workflows`, above.
"""
