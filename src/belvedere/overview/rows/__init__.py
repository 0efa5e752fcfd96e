"""Rows of the list pages of the console, read across features.

Start with `tasks` or `monitors`; `hosts` and `indicators` are alike. `queries` has what they share,
`recent_jobs`, `check_strip` and `monitor_series` the small charts. `overview.api_rows` returns the
rows; `statuspages` imports `check_strip` and `queries`.
"""
