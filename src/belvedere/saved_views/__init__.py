"""Pages as people keep them."""
