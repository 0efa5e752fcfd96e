"""Secrets and variables for scripts: encrypted at rest, passed in the environment, masked in
output."""
