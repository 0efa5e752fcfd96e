"""Validation of a task's definition; types and values of its arguments."""
