"""Signing in elsewhere: OpenID providers of an organization, and who comes in through them."""
