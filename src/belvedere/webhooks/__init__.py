"""Doors from outside: one call starts every task and workflow that is attached."""
