"""`belvedere search`: anything by its name."""

from typing import Any

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def search(args: Args) -> Any:
    query = {"q": " ".join(args.words), "limit": args.limit}
    return connect(args).get("/-/search", query | ({"kind": args.kind} if args.kind else {}))


def show_found(found: Any) -> None:
    rendering.table(
        ("kind", "id", "name*", "state", "detail*"),
        (
            (each["kind"], each["id"], each["name"], each["state"] or "", each["detail"])
            for each in found
        ),
        "Nothing that you may see has all these words in its name, its tags or beside its name.",
    )


VERBS = (
    Verb(
        "search",
        search,
        "Find tasks, workflows, monitors, hosts and the rest by words of their name or tags, and"
        " jobs by the start of their id; the best first.",
        "belvedere search nightly backup --kind task,schedule",
        show_found,
        options=(
            option("words", metavar="WORD", nargs="+", help="all of them must be there"),
            option("--kind", metavar="KINDS", help="only these, separated by commas"),
            option("--limit", type=int, default=20, help="at most so many (default 20)"),
        ),
        # Nothing found is an answer that a script may want to know.
        status=lambda _, found: 0 if found else 1,
    ),
)
