"""Sessions, login, tickets and second factors."""
