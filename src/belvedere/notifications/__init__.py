"""Telling people: channels, rules, messages on their way, and everybody's inbox."""
