"""Endpoints, records and badges of indicators."""
