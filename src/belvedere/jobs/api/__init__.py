"""Endpoints of jobs. Each module ends with its rows of the route table.

Start with `create` (run a task), then `jobs` (read and change a job). `run_requests` has what all
run requests share, `wait` the responses that wait for the end, `request_size` their limit.
`list_pages` reads lists, `bulk` changes many jobs, `results` and `logs` return what a job produced.
`workflows.runs_api` runs workflows with the same modules; only the server imports the others.
"""
