"""The connection to the server: socket, session, orders."""
