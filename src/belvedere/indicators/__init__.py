"""What the dashboard shows on top: texts, bars and counters that anybody's script can push."""
