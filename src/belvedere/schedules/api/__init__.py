"""Endpoints (`schedules`), records and the preview of schedules."""
