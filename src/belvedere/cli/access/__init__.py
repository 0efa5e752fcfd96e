"""Commands for people and credentials."""
