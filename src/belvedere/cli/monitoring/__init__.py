"""Commands for hosts, monitors, indicators, status pages and notifications."""
