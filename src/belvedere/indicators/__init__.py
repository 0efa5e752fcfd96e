"""Indicators of the dashboard: texts, bars, counters, charts and files that scripts push."""
