"""Endpoints and records of notifications."""
