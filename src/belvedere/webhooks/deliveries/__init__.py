"""Deliveries of webhooks: receive, signatures, payload, rows, replay."""
