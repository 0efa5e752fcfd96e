"""Texts: JSON with the product's rules, patterns in linear time, masking of credentials.

Start with `json_text`, which most packages use. `regex` and `regex_syntax` match patterns of users.
`masking` and `secret_forms` mask secrets in output; `credentials`, `argument_masking` and
`request_masking` mask credentials in commands and web requests. Every package may import all of it.
"""
