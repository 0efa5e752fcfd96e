"""Encryption at rest: columns with sealed values, sealing old rows, change of the key."""
