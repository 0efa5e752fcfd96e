"""`belvedere view`: pages of the console that were saved with their filters."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def list_all(args: Args) -> object:
    return connect(args).get("/view")


def delete(args: Args) -> object:
    client = connect(args)
    candidates = [view for view in client.get("/view") if view["mine"] or view["id"] == args.view]
    return client.delete(f"/view/{lookup.by_name('view', candidates, args.view)['id']}")


def show_views(views: list[Record]) -> None:
    rendering.table(
        ("id", "name*", "page", "filters*", "owner", "changed"),
        (
            (
                view["id"],
                view["name"],
                view["page"],
                view["query"],
                _owner(view),
                time_words.age(view["last_update"]),
            )
            for view in views
        ),
        "No saved views yet. Save one in the console: filter a list, then Save view.",
    )


def _owner(view: Record) -> str:
    if not view["mine"]:
        return str(view["user"])
    return "mine, shared" if view["shared"] else "mine"


COMMANDS = (
    Command(
        "list",
        list_all,
        "List your saved views, then the shared views of others.",
        "belvedere view list",
        show_views,
    ),
    Command(
        "delete",
        delete,
        "Delete one of your views. Managers can also delete a shared view by its id.",
        "belvedere view delete 'Failed tonight'",
        lambda view: print(f"View {view['name']} deleted."),
        options=(option("view", metavar="VIEW", help="its name or id"),),
    ),
)
