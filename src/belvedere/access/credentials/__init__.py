"""Tokens, enrolment, one-time links, secret keys, and TheEye clients."""
