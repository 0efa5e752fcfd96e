"""`belvedere view`: pages of the console that were saved with their filters."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def listed(args: Args) -> Any:
    return connect(args).get("/view")


def delete(args: Args) -> Any:
    client = connect(args)
    mine = [one for one in client.get("/view") if one["mine"] or one["id"] == args.view]
    return client.delete(f"/view/{lookup.named('view', mine, args.view)['id']}")


def show_views(views: Any) -> None:
    rendering.table(
        ("id", "name*", "page", "filters*", "whose", "changed"),
        (
            (
                each["id"],
                each["name"],
                each["page"],
                each["query"],
                _whose(each),
                time_words.age(each["last_update"]),
            )
            for each in views
        ),
        "No view yet. The console saves one: filter a list, then Save view.",
    )


def _whose(view: Any) -> str:
    if not view["mine"]:
        return str(view["user"])
    return "mine, shared" if view["shared"] else "mine"


VERBS = (
    Verb(
        "list",
        listed,
        "List your saved views, then those that others share.",
        "belvedere view list",
        show_views,
    ),
    Verb(
        "delete",
        delete,
        "Delete one of your views; a manager also a shared one of others, by its id.",
        "belvedere view delete 'Failed tonight'",
        lambda it: print(f"The view {it['name']} is deleted."),
        options=(option("view", metavar="VIEW", help="its name or id"),),
    ),
)
