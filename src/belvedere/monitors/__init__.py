"""Monitors: recurring checks of hosts and services, their results, and the states that follow."""
