"""Stopping a server so that no request fails: load balancers, agents and readers of streams move to
another server first."""
