"""Messages to a Redis server, for programs that wait there for jobs to end."""
