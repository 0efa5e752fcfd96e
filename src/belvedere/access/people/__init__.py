"""Users, memberships, names and preferences."""
