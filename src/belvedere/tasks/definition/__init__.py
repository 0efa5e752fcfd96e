"""Checking the definition of a task; types and values of its arguments."""
