"""Limits on anonymous requests: rate windows per address, failed attempts, known browsers."""
