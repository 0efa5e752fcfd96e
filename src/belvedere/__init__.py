"""Belvedere: runs scripts on hosts, watches them, and shows the state of it all."""

__version__ = "0.1.0"
