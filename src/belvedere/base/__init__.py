"""Code that is independent of the product: errors, clock, ids, masking, JSON text."""
