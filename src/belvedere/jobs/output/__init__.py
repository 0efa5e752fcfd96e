"""The output of a job: log chunks, lines, live stream, artifacts."""
