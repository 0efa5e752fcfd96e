"""Code that is independent of the product: errors, clock, ids, JSON text."""
