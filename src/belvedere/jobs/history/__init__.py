"""Finished jobs: retention, limits, and the check of rows against events."""
