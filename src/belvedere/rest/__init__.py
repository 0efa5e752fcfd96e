"""HTTP toolkit, independent of any feature: routes as data, queries, lists, errors.

`route` has the rows of the route table and `request` the request that HTTP delivers. `listing`,
`listing_sql` and `pagination` are lists; `query`, `fields`, `text_fields`, `bodies` and
`run_arguments` read input, and `patterns` matches text. `error_format` is the JSON of every error.
Authentication and permissions belong to `access`.
"""
