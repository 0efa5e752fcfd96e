"""Texts: JSON with the product's rules, patterns in linear time, search in pieces, masking."""
