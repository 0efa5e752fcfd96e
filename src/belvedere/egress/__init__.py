"""Processes that call other systems, behind a network guard: notifications, checks, sign-in."""
