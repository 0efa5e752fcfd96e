"""Saved views: pages of the console with their filters, saved by people under a name.

`model` has row, body and record, `service` the operations with their SQL, `api` the routes;
`layouts` has the arrangement of the cards of a page.
"""
