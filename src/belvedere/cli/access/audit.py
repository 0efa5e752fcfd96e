"""`belvedere audit`: who changed what."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def entries(args: Args) -> object:
    client = connect(args)
    query: Record = {}
    if args.object:
        query["object_id"] = lookup.object_id(client, "", args.object)
    return client.read_list("/api/audit", query, args.limit)


def show_entries(rows: list[Record]) -> None:
    rendering.table(
        ("when", "who*", "what", "object", "from address*"),
        (
            (
                time_words.local(row["date"])[:16],
                row["user"],
                row["action"],
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
