"""Jobs: one run of a task or workflow, from the request to the result.

Start with `model` (the row and the table of transitions), then `lifecycle`: create, claim, finish.
`store` has the rows of jobs and `attempts` those of their attempts with the fences. `events` writes
every change to the event log. `recovery` compares agents' journals with the database. `approvals`,
`output`, `history` and `people` are parts of a job with their own tables; `queries` reads jobs for
`api`. What a workflow job does next belongs to `workflows`, above.
"""
