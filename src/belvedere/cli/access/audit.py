"""`belvedere audit`: who changed what."""

from http import HTTPStatus

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

# Fields of a record in the audit that contain its name; the first one is used.
NAME_FIELDS = ("name", "title", "hostname", "filename", "email")
# Objects whose entries can lack a name, and their kind in the list of names.
NAMED_KINDS = {
    "file": "script",
    "host": "host",
    "indicator": "indicator",
    "member": "member",
    "monitor": "monitor",
    "schedule": "schedule",
    "task": "task",
    "webhook": "webhook",
    "workflow": "workflow",
}


def entries(args: Args) -> object:
    client = connect(args)
    query: Record = {}
    if args.object:
        query["object_id"] = lookup.object_id(client, "", args.object)
    rows = client.read_list("/api/audit", query, args.limit)
    if not args.json:
        _add_names(client, rows)
    return rows


def _add_names(client: Client, rows: list[Record]) -> None:
    """The name that the entry recorded, or the present one of the object."""
    for row in rows:
        row["name"] = _recorded_name(row)
    # Another entry of the same object may have recorded the name.
    names: dict[str, str] = {row["object_id"]: row["name"] for row in rows if row["name"]}
    nameless = {row["object"] for row in rows if row["object_id"] not in names}
    for kind in sorted(nameless & NAMED_KINDS.keys()):
        names |= _present_names(client, NAMED_KINDS[kind])
    for row in rows:
        row["name"] = row["name"] or names.get(row["object_id"], "")


def _present_names(client: Client, kind: str) -> dict[str, str]:
    """By id; empty if the server is of an older version, which has no such list."""
    try:
        objects = client.get("/-/names", {"kind": kind})
    except Problem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        return {}
    return {record["id"]: record["name"] for record in objects}


def _recorded_name(row: Record) -> str:
    records = [record for record in (row.get("after"), row.get("before")) if record]
    values = (record.get(field) for record in records for field in NAME_FIELDS)
    return next((value for value in values if value and isinstance(value, str)), "")


def show_entries(rows: list[Record]) -> None:
    rendering.table(
        ("when", "who*", "what", "object*", "id", "from address*"),
        (
            (
                time_words.local(row["date"])[:16],
                row["user"],
                row["action"],
                row["name"],
                row["object_id"],
                row["address"],
            )
            for row in rows
        ),
        "No changes yet.",
    )


COMMANDS = (
    Command(
        "audit",
        entries,
        "List who changed what, newest first. --json adds the values before and after.",
        "belvedere audit list --limit 50",
        show_entries,
        options=(
            option("what", metavar="list", nargs="?", choices=("list",), help="may be omitted"),
            option(
                "--limit", type=int, default=30, metavar="N", help="maximum number (default 30)"
            ),
            option("--object", metavar="ID", help="only changes of the object with this id"),
        ),
    ),
)
