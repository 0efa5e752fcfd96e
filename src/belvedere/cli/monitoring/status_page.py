"""`belvedere status-page`: what everybody may see of monitors and indicators."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect

PAGE = option("page", metavar="PAGE", help="its title, the last part of its address, or its id")


def listed(args: Args) -> Any:
    return connect(args).get("/statuspage")


def one(args: Args) -> Any:
    return lookup.status_page(connect(args), args.page)


def create(args: Args) -> Any:
    client = connect(args)
    parts = [
        *({"name": tag, "tag": tag} for tag in args.tag or ()),
        *(_monitor(client, text) for text in args.monitor or ()),
    ]
    if not parts:
        raise Stop("say what it shows: --monitor MONITOR or --tag TAG", 2)
    body = {"title": args.title, "parts": parts}
    if args.slug:
        body["slug"] = args.slug
    return client.post("/statuspage", body)


def _monitor(client: Any, text: str) -> dict[str, str]:
    found = lookup.monitor(client, text)
    return {"name": found["name"], "monitor_id": found["id"]}


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/statuspage/{lookup.status_page(client, args.page)['id']}")


def show_pages(pages: Any) -> None:
    rendering.table(
        ("id", "title*", "slug", "parts", "public", "changed"),
        (
            (
                each["id"],
                each["title"],
                each["slug"],
                len(each["parts"]),
                "yes" if each["enable"] else "no",
                time_words.age(each["last_update"]),
            )
            for each in pages
        ),
        "No status page yet. Make one with: belvedere status-page create TITLE --tag TAG",
    )


def show_page(page: Any) -> None:
    rendering.fields(
        (
            ("id", page["id"]),
            ("title", page["title"]),
            ("description", page["description"]),
            ("public", "yes" if page["enable"] else "no"),
            ("address", page["url"].replace("/-/status/", "/ui/status/")),
            ("as JSON", page["url"]),
            ("shows", [_part(part) for part in page["parts"]]),
            ("version", page["version"]),
            ("changed", time_words.when(page["last_update"])),
        )
    )


def _part(part: Any) -> str:
    """The public name, and what stands behind it."""
    kind = next(kind for kind in ("monitor_id", "indicator_id", "tag") if part.get(kind))
    return f"{part['name']} ({kind.removesuffix('_id')} {part[kind]})"


VERBS = (
    Verb("list", listed, "List the status pages.", "belvedere status-page list", show_pages),
    Verb(
        "show",
        one,
        "Show one: where it is, and what it shows under which names.",
        "belvedere status-page show Shop",
        show_page,
        options=(PAGE,),
    ),
    Verb(
        "create",
        create,
        "Make a page that everybody may see, without signing in.",
        "belvedere status-page create Shop --monitor 'Shop answers' --tag payment --slug shop",
        show_page,
        options=(
            option("title", metavar="TITLE", help="what stands on top"),
            option("--monitor", action="append", metavar="MONITOR", help="show this one"),
            option("--tag", action="append", metavar="TAG", help="show all monitors with this tag"),
            option("--slug", help="the last part of its address; else one that nobody guesses"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete one; its address and its badge are gone at once.",
        "belvedere status-page delete Shop",
        lambda it: print(f"The status page {it['title']} is deleted."),
        options=(PAGE,),
    ),
)
