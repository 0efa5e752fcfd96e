"""Monitors: recurring checks of hosts and services, their results and the resulting states.

`config` validates what a monitor checks and `service` changes it. `agent_config` is the list that
an agent gets. `evaluation` turns samples into states and events; `history` and `state_log` read
them. `push` and `trials` are checks that a program reports, and checks that run only once.
"""
