"""Generated input for parsers: docs/contributing/fuzzing.md."""
