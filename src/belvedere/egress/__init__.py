"""Separate processes that call other systems, behind a network guard: notifications, mail,
sign-in through providers.

`pool` starts the workers, `lanes` limits the calls of each kind and organization, `worker` is the
process and `network_guard` restricts it. Only `http_calls` and Apprise run there.
"""
