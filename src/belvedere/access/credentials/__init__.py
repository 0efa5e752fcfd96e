"""Tokens, enrolment, one-time links, secret keys, and clients of TheEye."""
