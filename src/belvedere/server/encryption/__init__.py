"""Encryption at rest: columns with sealed values, sealing of old rows, key rotation."""
