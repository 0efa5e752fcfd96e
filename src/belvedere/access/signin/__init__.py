"""From a password or token to an actor.

Start with `authentication` (the actor of every request), then `login` (from a password to a
session). `password_checker` is the only place that checks passwords. `login_tickets`,
`second_factors` and `recovery_codes` are the second step, `sessions` the result. `known_browsers`
and `cookies` belong to browsers. Features get an actor from `access`, not from here; `providers`
creates tickets and sessions.
"""
