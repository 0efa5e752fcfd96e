"""Cron, recurrence and time zones."""
