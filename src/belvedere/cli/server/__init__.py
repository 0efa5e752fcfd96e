"""Commands that start or measure a server, and those that work on the server's machine."""
