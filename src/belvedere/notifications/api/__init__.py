"""Endpoints of notifications: `channels` (with rules and messages), `inbox`, `recipients`, and
their records.
Each file has its own `ROUTES`."""
