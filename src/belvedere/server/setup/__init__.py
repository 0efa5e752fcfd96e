"""The first start, and the setup of a server that has no organization yet.

Start with `first_start` (creates what the settings name). `setup_code` proves that a person can
read the server's log; `api` lets that person create the organization and its owner. Only `server`
imports this package.
"""
