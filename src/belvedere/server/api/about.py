"""What this server is made of, for people who ask."""

import platform
from functools import cache
from importlib import metadata

import msgspec

from belvedere import __version__
from belvedere.access.actor import Level
from belvedere.access.request import Request
from belvedere.base.clock import SECOND, iso
from belvedere.db import Tx
from belvedere.rest.route import Route
from belvedere.server import scripts_user
from belvedere.server.runtime import runtime_of


class Library(msgspec.Struct):
    name: str
    version: str
    licence: str


class About(msgspec.Struct):
    """`schema`: the last step of the database's schema. `agents`: connected to this very server.
    `scripts_as_server`: scripts of the local agent run as the server's own user, so that an admin's
    script can read everything that the server can."""

    version: str
    engine: str
    schema: str
    python: str
    uptime_s: int
    time: str
    agents: int
    scripts_as_server: bool
    licences: list[Library]
    # Peers that sent forwarded headers within a week and are not in --proxies; only for admins.
    undeclared_proxies: list[str]


async def about(request: Request[None]) -> About:
    runtime = runtime_of(request)
    now = runtime.clock()
    schema, shares = await runtime.db.read(_facts)
    return About(
        __version__,
        runtime.db.dialect.name,
        schema,
        platform.python_version(),
        max(0, now - runtime.started_at) // SECOND,
        iso(now),
        len(runtime.agents),
        shares,
        list(_libraries()),
        runtime.proxies.undeclared() if request.actor.level.reaches(Level.ADMIN) else [],
    )


def _facts(tx: Tx) -> tuple[str, bool]:
    last = tx.value("select max(name) from migrations where name like 'migrations/%'")
    return str(last).removeprefix("migrations/"), scripts_user.shares(tx)


@cache
def _libraries() -> tuple[Library, ...]:
    """Everything that this installation needs, directly or not."""
    found: dict[str, Library] = {}
    waiting = ["belvedere"]
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            of = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            # Only for another system, or for an extra that is not installed.
            continue
        found[name] = Library(of.metadata["Name"], of.version, _licence(of.metadata))
        waiting += [_name(text) for text in of.requires or () if _is_needed(name, text)]
    return tuple(sorted(found.values(), key=lambda one: one.name.lower()))


def _is_needed(name: str, requirement: str) -> bool:
    """Of the extras only our own for the server."""
    marker = requirement.partition(";")[2]
    return "extra ==" not in marker or (name == "belvedere" and "server" in marker)


def _name(requirement: str) -> str:
    """What stands before extras, versions and markers."""
    for n, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:n]
    return requirement


def _licence(of: "metadata.PackageMetadata") -> str:
    named = [*(of.get_all("License-Expression") or ()), *(of.get_all("License") or ()), ""]
    said = named[0]
    if said and "\n" not in said and len(said) <= 80:
        return str(said)
    names = [text for text in of.get_all("Classifier") or () if text.startswith("License :: ")]
    return ", ".join(text.rpartition(" :: ")[2] for text in names)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/api/about",
        "viewer",
        about,
        "What this server is: versions, database, licences",
        style="plain",
        answer=About,
        known=False,
    ),
)
