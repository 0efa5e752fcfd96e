"""Special bodies: uploads in a form, and files in data URLs."""
