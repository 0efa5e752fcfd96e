"""Search of jobs by any part of their name, id, starter, arguments and result."""
