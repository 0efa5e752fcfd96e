"""What is made up and thrown at parsers: docs/contributing/fuzzing.md."""
