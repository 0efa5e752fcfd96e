"""Rows of the list pages of the console."""
