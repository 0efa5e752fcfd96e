"""Checking a script before it is saved, over HTTP."""

import asyncio
from dataclasses import dataclass, field

import msgspec

from belvedere.access.request import Request
from belvedere.files import syntax_check
from belvedere.files.syntax_check import Checked
from belvedere.rest.route import Reply, Route


class CheckBody(msgspec.Struct, forbid_unknown_fields=True):
    """The text of an editor; the other fields determine its language."""

    source: str
    filename: str = ""
    # The command of its task, such as `python3 %script%`.
    runas: str = ""


@dataclass(frozen=True, slots=True)
class SyntaxChecks:
    """Runs two checks at a time: editors check often, and jobs need the machine too."""

    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))


async def check(request: Request[CheckBody]) -> Reply:
    body: CheckBody = request.body
    async with request.services.of(SyntaxChecks).places:
        problems = await asyncio.to_thread(
            syntax_check.check, body.source, body.filename, body.runas
        )
    return Reply(problems, status=200)


ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/script/check",
        "admin",
        check,
        "Check the syntax of a script without running it",
        body=CheckBody,
        answer=Checked,
        from_interface=False,
    ),
)
