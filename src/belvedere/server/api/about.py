"""`GET /api/about`: versions, database, and the libraries in use."""

import asyncio
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
    """`schema`: the last migration of the database. `agents`: connected to this server process.
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
        # Not on the event loop: the first call reads the metadata of all packages.
        list(await asyncio.to_thread(_libraries)),
        runtime.proxies.undeclared() if request.actor.level.reaches(Level.ADMIN) else [],
    )


def _facts(tx: Tx) -> tuple[str, bool]:
    last = tx.value("select max(name) from migrations where name like 'migrations/%'")
    return str(last).removeprefix("migrations/"), scripts_user.shares(tx)


@cache
def _libraries() -> tuple[Library, ...]:
    """All direct and indirect dependencies of this installation."""
    libraries: dict[str, Library] = {}
    names = ["belvedere"]
    while names:
        name = names.pop().lower().replace("_", "-")
        if name in libraries:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            # For another operating system, or for an extra that is not installed.
            continue
        libraries[name] = Library(
            distribution.metadata["Name"], distribution.version, _licence(distribution.metadata)
        )
        names += [_name(text) for text in distribution.requires or () if _is_needed(name, text)]
    return tuple(sorted(libraries.values(), key=lambda library: library.name.lower()))


def _is_needed(name: str, requirement: str) -> bool:
    """Only the extra `belvedere[server]` counts."""
    marker = requirement.partition(";")[2]
    return "extra ==" not in marker or (name == "belvedere" and "server" in marker)


def _name(requirement: str) -> str:
    """The name before extras, versions and markers."""
    for n, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:n]
    return requirement


def _licence(package: "metadata.PackageMetadata") -> str:
    licences = [
        *(package.get_all("License-Expression") or ()),
        *(package.get_all("License") or ()),
        "",
    ]
    text_license = licences[0]
    if text_license and "\n" not in text_license and len(text_license) <= 80:
        return str(text_license)
    names = [text for text in package.get_all("Classifier") or () if text.startswith("License :: ")]
    return ", ".join(text.rpartition(" :: ")[2] for text in names)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/api/about",
        "viewer",
        about,
        "Show versions, database and licences of the server",
        style="plain",
        answer=About,
        from_interface=False,
    ),
)
