"""Endpoints of jobs."""
