"""Reads across features for the console: one request for a page instead of one for each row.

`rows` builds the rows of list pages, `search` finds objects, `counts` are the numbers of the
navigation and `pending_decisions` what waits for the caller.
"""
