"""SQLite: one writer with group commit, and readers."""
