"""The server's side of agent connections."""
