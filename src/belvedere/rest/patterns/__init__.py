"""Patterns that the server matches with RE2."""
