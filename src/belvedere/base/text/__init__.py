"""Texts: JSON with the product's rules, patterns in linear time, masking of credentials.

Start with `json_text`, which most packages use. `regex` and `regex_syntax` match patterns of users.
`masking` and `secret_forms` remove secrets from output; `credentials`, `argument_masking` and
`request_masking` from definitions. Every package may import all of it.
"""
