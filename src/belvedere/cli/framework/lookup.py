"""Finds the record that a name, an e-mail address or an id on the command line means."""

import difflib
from collections.abc import Callable, Iterable, Sequence

from belvedere.base.ids import is_id
from belvedere.cli.framework.command import CommandError, Record
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client


def task(client: Client, text: str, host: str | None = None) -> Record:
    """The task with this id or name, and on this host if several have the name."""
    if is_id(text):
        record: Record = client.get(f"/task/{text}")
        return record
    candidates = client.get("/task", {"where[name]": text})
    matches = [
        candidate
        for candidate in candidates
        if not host or host in (candidate["hostname"], candidate.get("host_id"))
    ]
    if len(matches) == 1:
        return dict(matches[0])
    if not candidates:
        raise _not_found("task", text, [candidate["name"] for candidate in client.get("/task")])
    hosts = _list(candidate["hostname"] or candidate["id"] for candidate in matches or candidates)
    if not matches:
        raise CommandError(f"There is no task {text!r} on {host}, only on {hosts}.")
    if len({candidate["hostname"] for candidate in matches}) == len(matches):
        raise CommandError(
            f"{len(matches)} tasks are named {text!r}; choose one with --host: {hosts}", 2
        )
    choices = _list(
        f"{candidate['id']} on {candidate.get('hostname') or 'no host'}" for candidate in matches
    )
    raise CommandError(f"{len(matches)} tasks are named {text!r}; use an id: {choices}", 2)


def host(client: Client, text: str) -> Record:
    return _find_unique("host", client.get("/host"), text, lambda record: (record["hostname"],))


def monitor(client: Client, text: str) -> Record:
    return _find_unique("monitor", client.get("/monitor"), text, lambda record: (record["name"],))


def schedule(client: Client, text: str) -> Record:
    return _find_unique("schedule", client.get("/schedule"), text, lambda record: (record["name"],))


def definition(client: Client, text: str) -> Record:
    return _find_unique(
        "definition", client.get("/definition"), text, lambda record: (record["name"],)
    )


def webhook(client: Client, text: str) -> Record:
    return _find_unique("webhook", client.get("/webhook"), text, lambda record: (record["name"],))


def workflow(client: Client, text: str) -> Record:
    return _find_unique(
        "workflow", client.get("/workflows"), text, lambda record: (record["name"],)
    )


def status_page(client: Client, text: str) -> Record:
    return _find_unique(
        "status page",
        client.get("/statuspage"),
        text,
        lambda record: (record["title"], record["slug"]),
        "status-page list",
    )


def member(client: Client, text: str) -> Record:
    return _find_unique(
        "member",
        client.get("/api/member"),
        text,
        lambda record: (record["user"]["email"], record["user"]["username"]),
    )


def _find_unique(
    kind: str,
    records: list[Record],
    text: str,
    names_of: Callable[[Record], Sequence[str]],
    list_command: str = "",
) -> Record:
    lowered = text.lower()
    matches = [record for record in records if record["id"] == text] or [
        record for record in records if lowered in {str(name).lower() for name in names_of(record)}
    ]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        names = [str(name) for record in records for name in names_of(record)]
        raise _not_found(kind, text, names, list_command)
    ids = _list(record["id"] for record in matches)
    raise CommandError(f"{len(matches)} {kind}s are named {text!r}; use an id: {ids}", 2)


def by_name(kind: str, records: list[Record], text: str, list_command: str = "") -> Record:
    """The record with this id or name; `list_command` is the command that lists them."""
    return _find_unique(kind, records, text, lambda record: (record["name"],), list_command)


def _not_found(kind: str, text: str, names: Sequence[str], list_command: str = "") -> Problem:
    suggestions = difflib.get_close_matches(text, names, 1)
    command = list_command or f"{kind} list"
    hint = f" Did you mean {suggestions[0]!r}?" if suggestions else f" See: belvedere {command}"
    return Problem(404, "not_found", f"There is no {kind} {text!r}.{hint}")


def _list(words: Iterable[object]) -> str:
    return ", ".join(sorted(str(word) for word in words))
