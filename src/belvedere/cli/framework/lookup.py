"""Finds the record that a name, an e-mail address or an id on the command line means."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from belvedere.base.ids import as_short_id, is_id, short_id
from belvedere.cli.framework.command import Args, CommandError, Record
from belvedere.cli.framework.profile import connect
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

# Objects that an error lists, and entries of a history that are searched for a short id.
MAX_CANDIDATES = 20
MAX_ENTRIES = 1_000


def connect_to_job(args: Args) -> Client:
    """As `connect`, for commands on a job; a short id in `args.job` is replaced by the full id."""
    client = connect(args)
    if args.job:
        args.job = job_id(client, args.job)
    return client


def job_id(client: Client, text: str) -> str:
    """The id of the job with this id or short id."""
    if is_id(text):
        return text
    return object_id(client, "job", text)


def object_id(client: Client, kind: str, text: str) -> str:
    """The id of the object with this short id. The server searches, because lists can be long.
    An empty kind means any."""
    short, noun = as_short_id(text), kind or "object"
    if is_id(text) or short is None:
        return text
    query = {"q": f"#{short}", "limit": MAX_CANDIDATES}
    matches = client.get("/-/search", query | ({"kind": kind} if kind else {}))
    candidates = [match for match in matches if match["id"].endswith(short)]
    if not candidates:
        raise _not_found(noun, text, (), f"{kind} list" if kind else "search WORD")
    if len(candidates) > 1:
        raise _ambiguous(noun, text, ((match["id"], match["name"]) for match in candidates))
    return str(candidates[0]["id"])


def history_id(client: Client, kind: str, path: str, text: str) -> str:
    """The id of an entry of a history: a short id is searched for in the newest entries."""
    short = as_short_id(text)
    if short is None:
        return text
    entries = client.read_list(path, {}, MAX_ENTRIES)
    ids = [str(entry["id"]) for entry in entries if entry["id"].endswith(short)]
    if len(ids) > 1:
        raise _ambiguous(kind, text, ((entry_id, "") for entry_id in ids))
    if not ids:
        raise Problem(404, "not_found", f"None of the newest {MAX_ENTRIES} is {kind} {text!r}.")
    return ids[0]


def task(client: Client, text: str, host: str | None = None) -> Record:
    """The task with this id or name, and on this host if several have the name."""
    if is_id(text):
        record: Record = client.get(f"/task/{text}")
        return record
    candidates = client.get("/task", {"where[name]": text})
    matches = [candidate for candidate in candidates if not host or _is_on(candidate, host)]
    if len(matches) == 1:
        return dict(matches[0])
    if not candidates:
        tasks = client.get("/task")
        return _by_short_id("task", tasks, text, lambda record: (record["name"],))
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


def _is_on(task: Record, host: str) -> bool:
    host_id = task.get("host_id") or ""
    return host in (task["hostname"], host_id) or as_short_id(host) == short_id(host_id)


def indicator_path(client: Client, text: str) -> str:
    """By id, short id or title. A title that looks like a short id is a title."""
    by_title = f"/indicator/title/{quote(text, safe='')}"
    if is_id(text):
        return f"/indicator/{text}"
    if as_short_id(text) is None:
        return by_title
    try:
        record = _find_unique(
            "indicator", client.get("/indicator"), text, lambda record: (record["title"],)
        )
    except Problem:
        return by_title
    return f"/indicator/{record['id']}"


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


def incident(incidents: list[Record], text: str) -> Record:
    """One of the incidents of a status page."""
    return _find_unique(
        "incident", incidents, text, lambda record: (record["title"],), "incident list PAGE"
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
        return _by_short_id(kind, records, text, names_of, list_command)
    ids = _list(record["id"] for record in matches)
    raise CommandError(f"{len(matches)} {kind}s are named {text!r}; use an id: {ids}", 2)


def _by_short_id(
    kind: str,
    records: list[Record],
    text: str,
    names_of: Callable[[Record], Sequence[str]],
    list_command: str = "",
) -> Record:
    """After names, because a name can look like a short id."""
    short = as_short_id(text)
    matches = [record for record in records if short and record["id"].endswith(short)]
    if not matches:
        names = [str(name) for record in records for name in names_of(record)]
        raise _not_found(kind, text, names, list_command)
    if len(matches) > 1:
        raise _ambiguous(kind, text, ((record["id"], names_of(record)[0]) for record in matches))
    return matches[0]


def by_name(kind: str, records: list[Record], text: str, list_command: str = "") -> Record:
    """The record with this id or name; `list_command` is the command that lists them."""
    return _find_unique(kind, records, text, lambda record: (record["name"],), list_command)


def _not_found(kind: str, text: str, names: Sequence[str], list_command: str = "") -> Problem:
    suggestions = difflib.get_close_matches(text, names, 1)
    command = list_command or f"{kind} list"
    hint = f" Did you mean {suggestions[0]!r}?" if suggestions else f" See: belvedere {command}"
    return Problem(404, "not_found", f"There is no {kind} {text!r}.{hint}")


def _ambiguous(kind: str, text: str, candidates: Iterable[tuple[str, str]]) -> CommandError:
    choices = [f"{object_id} ({name})" if name else object_id for object_id, name in candidates]
    return CommandError(
        f"The {kind} {text!r} is ambiguous: {len(choices)} have this short id;"
        f" use a full id: {_list(choices)}",
        2,
    )


def _list(words: Iterable[object]) -> str:
    return ", ".join(sorted(str(word) for word in words))
