"""The journal: its file, its state, the rules and their effects."""
