"""`belvedere token`: integration tokens for programs."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def listed(args: Args) -> Any:
    return connect(args).get("/api/token")


def create(args: Args) -> Any:
    body: dict[str, Any] = {"name": args.name}
    if args.expires:
        body["expires_in"] = time_words.duration_ms(args.expires) // 1_000
    return connect(args).post("/api/token", body)


def delete(args: Args) -> Any:
    client = connect(args)
    found = lookup.named("token", client.get("/api/token"), args.token)
    client.delete(f"/api/token/{found['id']}")
    return found


def show_tokens(tokens: Any) -> None:
    rendering.table(
        ("id", "name*", "begins", "by*", "created", "used", "expires"),
        (
            (
                each["id"],
                each["name"],
                each.get("prefix"),
                each.get("created_by"),
                time_words.age(each.get("creation_date")),
                time_words.age(each.get("last_use")),
                time_words.age(each.get("expires")),
            )
            for each in tokens
        ),
        "No integration token. Make one with: belvedere token create NAME",
    )


def show_new(token: Any) -> None:
    rendering.note(f"the token {token['name']!r} is shown this once; it can do what an admin can")
    print(token["token"])


VERBS = (
    Verb("list", listed, "List integration tokens.", "belvedere token list", show_tokens),
    Verb(
        "create",
        create,
        "Make an integration token and print it, once.",
        "belvedere token create ci --expires 90d",
        show_new,
        options=(
            option("name", metavar="NAME", help="what it is for"),
            option("--expires", metavar="DURATION", help="it ends after this long, like 90d"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Revoke an integration token, at once.",
        "belvedere token delete ci",
        lambda token: print(f"The token {token['name']!r} is revoked."),
        options=(option("token", metavar="TOKEN", help="its name or id"),),
    ),
)
