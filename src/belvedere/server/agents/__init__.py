"""Connections of agents."""
