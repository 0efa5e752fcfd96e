"""Who may call which route: the expected status, derived from the declaration of the route only."""

from dataclasses import dataclass
from enum import StrEnum

from belvedere.access import Level
from belvedere.rest.route import Route

OK = "ok"


class PathOwner(StrEnum):
    """Whose id stands in the path, as seen by the one who asks."""

    OWN = "own"
    OTHER = "another organization's"
    MISSING = "missing"
    MALFORMED = "malformed"


@dataclass(frozen=True)
class Principal:
    name: str
    # None: there is no credential, or none that is good.
    level: Level | None
    # member, token or agent
    kind: str = "member"
    # For an agent: whether the work in the path is that of its own host.
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


# They make what they do not find.
MAKES = frozenset({"PUT /indicator/title/{title}", "PUT /secret/{name}"})


def names_an_object(route: Route) -> bool:
    if f"{route.method} {route.path}" == "POST /host":
        # By the name in its body.
        return True
    return any(word in route.path for word in ("{id}", "{title}", "{hostname}", "{name}"))


def is_by_link(route: Route) -> bool:
    """Whoever holds it passes."""
    return any(word in route.path for word in ("{token}", "{link}", "{slug}", "/-/oidc/{id}"))


def expected_status(route: Route, principal: Principal, which: PathOwner) -> str:
    """ok, or the status of the refusal."""
    if which is PathOwner.MALFORMED and "{id}" in route.path:
        # It is not even a path.
        return "404"
    if "{secret}" in route.path:
        # One and the same refusal for everything that does not fit together.
        return OK if which is PathOwner.OWN else "403"
    if route.path.endswith("/signed"):
        # Nobody signs here.
        return "403"
    if route.path == "/-/metrics":
        # Nobody has the metrics token.
        return "401"
    if route.path == "/token":
        # Nobody has a client id and secret here.
        return "401"
    if route.path == "/-/oidc/{id}/callback":
        # A browser is led to the sign-in page, which says why.
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
        # Nobody is offered a membership here.
        return "404"
    if which is not PathOwner.OWN:
        # An organization that is not one's own is refused like one that nobody has heard of.
        # An agent registers its own host only, whether another of that name exists or not.
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
