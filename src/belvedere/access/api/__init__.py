"""Every door of this room; each file of handlers has its rows at its end."""

from belvedere.access import (
    api_audit,
    api_consent,
    api_customer,
    api_member,
    api_password,
    api_preferences,
    api_second_factor,
    api_session,
    api_ticket,
    api_token,
)
from belvedere.access.api_acl import acl_routes
from belvedere.rest.route import Route

ROUTES: tuple[Route, ...] = (
    *api_session.ROUTES,
    *api_consent.ROUTES,
    *api_preferences.ROUTES,
    *api_ticket.ROUTES,
    *api_password.ROUTES,
    *api_second_factor.ROUTES,
    *api_member.ROUTES,
    *api_token.ROUTES,
    *api_customer.ROUTES,
    *api_audit.ROUTES,
)

__all__ = ["ROUTES", "acl_routes"]
