"""What is watched: recurring checks, what they saw, and what follows from it."""
