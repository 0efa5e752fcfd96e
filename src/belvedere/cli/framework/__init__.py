"""What every command uses. Read `command` (the row), then `dispatch` (how it runs).

`lookup` finds records by name, `profile` has the login, `rendering` prints tables and records,
`terminal` prompts, `terminal_text` removes control sequences, `time_words` reads durations.
"""
