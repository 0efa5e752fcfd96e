"""`belvedere status-page`: public pages with the state of monitors and indicators."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

PAGE = option("page", metavar="PAGE", help="its title, the last part of its address, or its id")


def list_all(args: Args) -> object:
    return connect(args).get("/statuspage")


def get(args: Args) -> object:
    return lookup.status_page(connect(args), args.page)


def create(args: Args) -> object:
    client = connect(args)
    parts = [
        *({"name": tag, "tag": tag} for tag in args.tag or ()),
        *(_monitor(client, text) for text in args.monitor or ()),
    ]
    if not parts:
        raise CommandError("The page is empty; use --monitor MONITOR or --tag TAG.", 2)
    body = {"title": args.title, "parts": parts}
    if args.slug:
        body["slug"] = args.slug
    return client.post("/statuspage", body)


def _monitor(client: Client, text: str) -> dict[str, str]:
    monitor = lookup.monitor(client, text)
    return {"name": monitor["name"], "monitor_id": monitor["id"]}


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/statuspage/{lookup.status_page(client, args.page)['id']}")


def show_pages(pages: list[Record]) -> None:
    rendering.table(
        ("id", "title*", "address*", "components", "visible", "changed"),
        (
            (
                page["id"],
                page["title"],
                page["slug"],
                len(page["parts"]),
                "yes" if page["enable"] else "no",
                time_words.age(page["last_update"]),
            )
            for page in pages
        ),
        "No status pages yet. Create one with: belvedere status-page create TITLE --tag TAG",
    )


def show_page(page: Record) -> None:
    rendering.fields(
        (
            ("id", page["id"]),
            ("title", page["title"]),
            ("description", page["description"]),
            ("visible to everyone", "yes" if page["enable"] else "no"),
            ("address", page["url"].replace("/-/status/", "/ui/status/")),
            ("as JSON", page["url"]),
            ("components", [_part(part) for part in page["parts"]]),
            ("version", page["version"]),
            ("changed", time_words.when(page["last_update"])),
        )
    )


def _part(part: Record) -> str:
    """The public name, and the object that it shows."""
    kind = next(kind for kind in ("monitor_id", "indicator_id", "tag") if part.get(kind))
    return f"{part['name']} ({kind.removesuffix('_id')} {part[kind]})"


COMMANDS = (
    Command("list", list_all, "List status pages.", "belvedere status-page list", show_pages),
    Command(
        "show",
        get,
        "Show a status page: its address, and what it shows under which names.",
        "belvedere status-page show Shop",
        show_page,
        options=(PAGE,),
    ),
    Command(
        "create",
        create,
        "Create a public page that needs no sign-in.",
        "belvedere status-page create Shop --monitor 'Shop answers' --tag payment --slug shop",
        show_page,
        options=(
            option("title", metavar="TITLE", help="the heading of the page"),
            option(
                "--monitor",
                action="append",
                metavar="MONITOR",
                help="show this monitor; can be repeated",
            ),
            option(
                "--tag",
                action="append",
                metavar="TAG",
                help="show all monitors with this tag; can be repeated",
            ),
            option("--slug", help="the last part of its address (default: random)"),
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a status page; its address and its badge stop working immediately.",
        "belvedere status-page delete Shop",
        lambda page: print(f"Status page {page['title']} deleted."),
        options=(PAGE,),
    ),
)
