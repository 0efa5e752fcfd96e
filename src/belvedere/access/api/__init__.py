"""Every endpoint of access; each module has its rows of the route table at its end.

Start with `sessions` (sign-in and sign-out), then `members` and `credentials`. `records` has the
responses. Other features import `route_builders`, which builds the ACL endpoints that several of
them have, and the session response from `sessions`.
"""

from belvedere.access.api import (
    audit,
    consent,
    credentials,
    customers,
    login_tickets,
    members,
    passwords,
    profile,
    second_factor,
    sessions,
)
from belvedere.access.api.route_builders import acl_routes
from belvedere.rest.route import Route

ROUTES: tuple[Route, ...] = (
    *sessions.ROUTES,
    *consent.ROUTES,
    *profile.ROUTES,
    *login_tickets.ROUTES,
    *passwords.ROUTES,
    *second_factor.ROUTES,
    *members.ROUTES,
    *credentials.ROUTES,
    *customers.ROUTES,
    *audit.ROUTES,
)

__all__ = ["ROUTES", "acl_routes"]
