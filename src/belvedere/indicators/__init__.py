"""Indicators on the dashboard: texts, bars, counters, charts and files that scripts push.

`model` and `values` define what each type accepts, `service` has the operations, `counting` the
atomic counters. `history` keeps old values, `public_links` the badges without sign-in.
"""
