"""Reads across features for the console: one request for a page instead of one for each row."""
