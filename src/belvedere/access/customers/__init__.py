"""Changes to customers and their members: invitations, consent, recovery."""
