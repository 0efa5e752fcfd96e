"""JSON with the product's rules, regular expressions in linear time, masking of credentials."""
