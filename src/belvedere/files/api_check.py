"""Checking a script before it is saved, over HTTP."""

import asyncio

import msgspec

from belvedere.files import syntax_check
from belvedere.files.syntax_check import Checked
from belvedere.rest.route import Ask, Reply, Route


class CheckBody(msgspec.Struct, forbid_unknown_fields=True):
    """The text as it stands in an editor; the rest tells its language."""

    source: str
    filename: str = ""
    # The command of its task, such as `python3 %script%`.
    runas: str = ""


async def check(ask: Ask) -> Reply:
    body: CheckBody = ask.body
    # Two at a time: an editor asks often, and jobs need the machine, too.
    async with ask.house.checks:
        found = await asyncio.to_thread(syntax_check.check, body.source, body.filename, body.runas)
    return Reply(found, status=200)


ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/script/check",
        "admin",
        check,
        "Say where a script does not parse; nothing is run",
        body=CheckBody,
        answer=Checked,
        known=False,
    ),
)
