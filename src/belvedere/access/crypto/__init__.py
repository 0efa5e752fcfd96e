"""Keys, encryption, password hashes and TOTP."""
