"""Reading jobs, without changing them.

Start with `records` (a job as the API returns it) and `details` (one job with everything). `pages`
and `list_details` are lists, `index_choice` finds the index that a list uses, `text_search` reads
lists that contain a text. `ended_jobs` answers callers that wait. `jobs.api`, `workflows`,
`legacy_agents` and `overview` import these modules.
"""
