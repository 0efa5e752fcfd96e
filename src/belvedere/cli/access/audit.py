"""`belvedere audit`: who changed what."""

from typing import Any

from belvedere.cli.framework import rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def entries(args: Args) -> Any:
    query: dict[str, Any] = {"limit": args.limit}
    if args.object:
        query["object_id"] = args.object
    return connect(args).get("/api/audit", query)


def show_entries(rows: Any) -> None:
    rendering.table(
        ("when", "who*", "action", "on", "from*"),
        (
            (
                time_words.local(each["date"])[:16],
                each["user"],
                each["action"],
                each["object_id"],
                each["address"],
            )
            for each in rows
        ),
        "Nothing was changed yet.",
    )


VERBS = (
    Verb(
        "audit",
        entries,
        "List who changed what, newest first. --json adds the values before and after.",
        "belvedere audit --limit 50",
        show_entries,
        options=(
            option("--limit", type=int, default=30, metavar="N", help="how many (default 30)"),
            option("--object", metavar="ID", help="only changes of the record with this id"),
        ),
    ),
)
