"""Belvedere: runs scripts on hosts, monitors hosts and services, and shows their state."""

__version__ = "0.1.0"
