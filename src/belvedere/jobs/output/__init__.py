"""What a job leaves: log chunks, lines, live stream, artifacts."""
