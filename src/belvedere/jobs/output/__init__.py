"""What a script produces: its log and its artifacts.

Start with `log_store` (chunks by byte offset, in the database of logs). `log_stream` returns a log
over HTTP, also live; `log_lines` reads and searches lines; `artifacts` stores files.
`server.agents` and `legacy_agents` write, `jobs.api` reads.
"""
