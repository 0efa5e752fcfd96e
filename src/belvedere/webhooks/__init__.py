"""Webhooks: a call from another system starts every attached task and workflow.

`api` manages webhooks, `calls_api` receives calls and lists `deliveries`. `targets` is the table of
what a webhook can start.
"""
