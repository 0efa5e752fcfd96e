"""Bodies of special kinds: uploads of a form, and files in data URLs."""
