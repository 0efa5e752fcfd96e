"""Endpoints, records and the preview of schedules."""
