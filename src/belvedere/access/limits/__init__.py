"""Limits of anonymous requests: windows per address, wrong attempts, known browsers."""
