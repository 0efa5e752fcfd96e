"""Messages to a Redis server, for programs that wait there for the end of a job."""
