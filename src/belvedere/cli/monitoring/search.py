"""`belvedere search`: find anything by name."""

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def search(args: Args) -> object:
    query = {"q": " ".join(args.words), "limit": args.limit}
    return connect(args).get("/-/search", query | ({"kind": args.kind} if args.kind else {}))


def show_matches(matches: list[Record]) -> None:
    rendering.table(
        ("kind", "id", "name*", "state", "detail*"),
        (
            (match["kind"], match["id"], match["name"], match["state"] or "", match["detail"])
            for match in matches
        ),
        "No matches: nothing that you may see has all these words in its name, tags or details.",
    )


COMMANDS = (
    Command(
        "search",
        search,
        "Find tasks, workflows, monitors, hosts and other objects by words in their name or tags,"
        " or by their short id; best matches first.",
        "belvedere search nightly backup --kind task,schedule",
        show_matches,
        options=(
            option("words", metavar="WORD", nargs="+", help="words that must all match"),
            option("--kind", metavar="KINDS", help="only these kinds, separated by commas"),
            option("--limit", type=int, default=20, help="maximum number (default 20)"),
        ),
        # Scripts can test whether there is a match.
        status=lambda _, matches: 0 if matches else 1,
    ),
)
