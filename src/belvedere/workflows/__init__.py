"""Tasks in order: a graph of tasks that runs as one job with jobs of its own."""
