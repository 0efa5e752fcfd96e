"""What knows nothing of the product: errors, clock, ids, JSON text."""
