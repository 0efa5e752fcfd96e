"""Webhooks: one call of another system starts every task and workflow that is attached."""
