"""Every endpoint of access; each file of handlers has its rows at its end."""

from belvedere.access.api import api_preferences, api_ticket
from belvedere.access.api import audit as api_audit
from belvedere.access.api import consent as api_consent
from belvedere.access.api import credentials as api_token
from belvedere.access.api import customers as api_customer
from belvedere.access.api import members as api_member
from belvedere.access.api import passwords as api_password
from belvedere.access.api import second_factor as api_second_factor
from belvedere.access.api import sessions as api_session
from belvedere.access.api.acl import acl_routes
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
