"""Who may call which route: the expected status, derived from the declaration of the route only."""

from dataclasses import dataclass
from enum import StrEnum

from belvedere.access import Level
from belvedere.rest.route import Route

OK = "ok"


class PathOwner(StrEnum):
    """Whose id the path contains, from the caller's point of view."""

    OWN = "own"
    OTHER = "another organization's"
    MISSING = "missing"
    MALFORMED = "malformed"


@dataclass(frozen=True)
class Principal:
    name: str
    # None: there is no credential, or no valid one.
    level: Level | None
    # member, token or agent
    kind: str = "member"
    # For an agent: whether the work in the path belongs to its own host.
    is_of_the_host: bool = True


PRINCIPALS = (
    Principal("anonymous", None),
    Principal("bad token", None),
    Principal("expired token", None),
    Principal("revoked token", None),
    Principal("viewer", Level.VIEWER),
    Principal("user", Level.USER),
    Principal("manager", Level.MANAGER),
    Principal("admin", Level.ADMIN),
    Principal("owner", Level.OWNER),
    Principal("integration token", Level.ADMIN, "token"),
    Principal("agent", Level.AGENT, "agent"),
    Principal("agent of another host", Level.AGENT, "agent", is_of_the_host=False),
    Principal("admin of another organization", Level.ADMIN),
)


# They create what they do not find, in the caller's own organization, and show the name in the
# path.
MAKES = frozenset({"PUT /indicator/title/{title}", "PUT /secret/{name}"})
# Parts of paths that name an object of any organization, and why this does not break isolation.
PUBLIC = {
    "{token}": "whoever has the link of a badge may see the badge",
    "{link}": "whoever has the link in the mail of an approver may decide, without signing in",
    "{slug}": "a status page is for the public",
    "/-/oidc/{id}": "the sign-in page offers the providers of an organization to anyone",
}


def names_an_object(route: Route) -> bool:
    if f"{route.method} {route.path}" == "POST /host":
        # By the name in its body.
        return True
    return any(word in route.path for word in ("{id}", "{title}", "{hostname}", "{name}"))


def is_by_link(route: Route) -> bool:
    """Everyone who has the token may call it."""
    return any(part in route.path for part in PUBLIC)


def expected_status(route: Route, principal: Principal, which: PathOwner) -> str:
    """ok, or the status of the refusal."""
    if which is PathOwner.MALFORMED and "{id}" in route.path:
        # The path itself is invalid.
        return "404"
    if "{secret}" in route.path:
        # The same refusal for every combination that is invalid.
        return OK if which is PathOwner.OWN else "403"
    if route.path.endswith("/signed"):
        # No member of the matrix sends a signature.
        return "403"
    if route.path == "/-/metrics":
        # No principal of the matrix has the metrics token.
        return "401"
    if route.path == "/token":
        # No principal of the matrix has a client id and secret.
        return "401"
    if route.path == "/-/oidc/{id}/callback":
        # A browser is redirected to the sign-in page, which shows the reason.
        return OK
    if is_by_link(route):
        return OK if which in (PathOwner.OWN, PathOwner.OTHER) else "404"
    if route.level == Level.ANONYMOUS:
        return OK
    if principal.level is None:
        return "401"
    if not _passes(route, principal):
        return "403"
    if not names_an_object(route) or f"{route.method} {route.path}" in MAKES:
        return OK
    if route.path == "/api/session/invitation/{id}":
        # No principal of the matrix has a membership to accept.
        return "404"
    if which is not PathOwner.OWN:
        # Another organization is refused like one that does not exist. An agent registers its own
        # host only, whether another of that name exists or not.
        is_registration = route.path == "/host/{hostname}"
        return "403" if is_registration or "/customer/{id}" in route.path else "404"
    if principal.kind == "agent" and not principal.is_of_the_host:
        return "403" if route.level == Level.AGENT else "404"
    return OK


def _passes(route: Route, principal: Principal) -> bool:
    assert principal.level is not None
    if principal.kind == "agent":
        return route.level == Level.AGENT or route.also_agent
    if route.people and principal.kind != "member":
        return False
    return principal.level.reaches(Level(route.level))
