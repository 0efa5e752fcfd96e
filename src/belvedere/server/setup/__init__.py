"""First start and setup code."""
