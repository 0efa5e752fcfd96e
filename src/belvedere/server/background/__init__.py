"""Work that no request starts.

Start with `loops` (periodic work, one row each) and `consumers` (what reacts to events, one row
each). `trigger_starts` runs what triggers start, `job_publishing` writes ends of jobs to Redis,
`search_index` fills the search index. A new loop or consumer is a row in its table.
"""
