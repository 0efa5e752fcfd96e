"""Servers, databases, agents and processes that are measured."""
