"""From what a person types (a name, an e-mail, an id) to the one record that is meant."""

import difflib
from collections.abc import Callable, Sequence
from typing import Any

from belvedere.base.ids import is_id
from belvedere.cli.framework.command import Stop
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

Record = dict[str, Any]


def task(client: Client, text: str, host: str | None = None) -> Record:
    """The task with this id or name, on that host where several share the name."""
    if is_id(text):
        found: Record = client.get(f"/task/{text}")
        return found
    named = client.get("/task", {"where[name]": text})
    fitting = [one for one in named if not host or host in (one["hostname"], one.get("host_id"))]
    if len(fitting) == 1:
        return dict(fitting[0])
    if not named:
        raise _missing("task", text, [one["name"] for one in client.get("/task")])
    hosts = _list(one["hostname"] or one["id"] for one in fitting or named)
    if not fitting:
        raise Stop(f"There is no task {text!r} on {host}; there is one on {hosts}.")
    if len({one["hostname"] for one in fitting}) == len(fitting):
        raise Stop(f"{len(fitting)} tasks are called {text!r}; choose with --host: {hosts}", 2)
    told = _list(f"{one['id']} on {one.get('hostname') or 'no host'}" for one in fitting)
    raise Stop(f"{len(fitting)} tasks are called {text!r}; name one by its id: {told}", 2)


def host(client: Client, text: str) -> Record:
    return _one("host", client.get("/host"), text, lambda one: (one["hostname"],))


def monitor(client: Client, text: str) -> Record:
    return _one("monitor", client.get("/monitor"), text, lambda one: (one["name"],))


def schedule(client: Client, text: str) -> Record:
    return _one("schedule", client.get("/schedule"), text, lambda one: (one["name"],))


def definition(client: Client, text: str) -> Record:
    return _one("definition", client.get("/definition"), text, lambda one: (one["name"],))


def webhook(client: Client, text: str) -> Record:
    return _one("webhook", client.get("/webhook"), text, lambda one: (one["name"],))


def workflow(client: Client, text: str) -> Record:
    return _one("workflow", client.get("/workflows"), text, lambda one: (one["name"],))


def status_page(client: Client, text: str) -> Record:
    return _one(
        "status page",
        client.get("/statuspage"),
        text,
        lambda one: (one["title"], one["slug"]),
        "status-page list",
    )


def member(client: Client, text: str) -> Record:
    return _one(
        "member",
        client.get("/api/member"),
        text,
        lambda one: (one["user"]["email"], one["user"]["username"]),
    )


def _one(
    what: str,
    records: list[Record],
    text: str,
    names: Callable[[Record], Any],
    listed_by: str = "",
) -> Record:
    wanted = text.lower()
    fitting = [one for one in records if one["id"] == text] or [
        one for one in records if wanted in {str(name).lower() for name in names(one)}
    ]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        known = [str(name) for one in records for name in names(one)]
        raise _missing(what, text, known, listed_by)
    told = _list(one["id"] for one in fitting)
    raise Stop(f"{len(fitting)} {what}s are called {text!r}; name one by its id: {told}", 2)


def named(what: str, records: list[Record], text: str, listed_by: str = "") -> Record:
    """Among records that were listed, by their name; `listed_by` is the command that lists them."""
    return _one(what, records, text, lambda one: (one["name"],), listed_by)


def _missing(what: str, text: str, known: Sequence[str], listed_by: str = "") -> Problem:
    near = difflib.get_close_matches(text, known, 1)
    see = listed_by or f"{what} list"
    hint = f" Did you mean {near[0]!r}?" if near else f" See: belvedere {see}"
    return Problem(404, "not_found", f"There is no {what} {text!r}.{hint}")


def _list(words: Any) -> str:
    return ", ".join(sorted(str(word) for word in words))
