"""Endpoints and records of monitors."""
