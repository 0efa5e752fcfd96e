"""`belvedere demo`: remove the demo objects of the first start."""

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def remove(args: Args) -> object:
    return connect(args).delete("/api/demo", {"all": "true"} if args.all else {})


def show_removal(result: Record) -> None:
    removed, remaining = result["removed"], result["kept"]
    if not removed and not remaining:
        print("There are no demo objects.")
        return
    if removed:
        rendering.table(
            ("removed", "name*"), ((entry["object"], entry["name"]) for entry in removed)
        )
    if remaining:
        if removed:
            print()
        rows = ((entry["object"], entry["name"], entry["reason"]) for entry in remaining)
        rendering.table(("kept", "name*", "reason*"), rows)


COMMANDS = (
    Command(
        "remove",
        remove,
        "Delete the demo objects that the first start created. Objects that were changed or are in"
        " use are kept and listed.",
        "belvedere demo remove",
        show_removal,
        options=(option("--all", action="store_true", help="also delete changed objects"),),
    ),
)
