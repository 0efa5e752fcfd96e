"""The server's side of the connection with agents."""
