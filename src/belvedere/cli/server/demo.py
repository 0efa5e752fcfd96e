"""`belvedere demo`: the samples of the first start."""

from typing import Any

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def remove(args: Args) -> Any:
    return connect(args).delete("/api/demo", {"all": "true"} if args.all else {})


def show_removal(answer: Any) -> None:
    removed, kept = answer["removed"], answer["kept"]
    if not removed and not kept:
        print("There is no demo here.")
        return
    if removed:
        rendering.table(("removed", "name*"), ((each["object"], each["name"]) for each in removed))
    if kept:
        if removed:
            print()
        rows = ((each["object"], each["name"], each["reason"]) for each in kept)
        rendering.table(("stays", "name*", "why*"), rows)


VERBS = (
    Verb(
        "remove",
        remove,
        "Take away what the first start made as a demo. What somebody has changed, or uses, stays"
        " and is told.",
        "belvedere demo remove",
        show_removal,
        options=(option("--all", action="store_true", help="also what was changed"),),
    ),
)
