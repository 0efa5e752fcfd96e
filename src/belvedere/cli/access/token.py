"""`belvedere token`: integration tokens for programs."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def list_all(args: Args) -> object:
    return connect(args).get("/api/token")


def create(args: Args) -> object:
    body: Record = {"name": args.name}
    if args.expires:
        body["expires_in"] = time_words.duration_ms(args.expires) // 1_000
    return connect(args).post("/api/token", body)


def delete(args: Args) -> object:
    client = connect(args)
    token = lookup.by_name("token", client.get("/api/token"), args.token)
    client.delete(f"/api/token/{token['id']}")
    return token


def show_tokens(tokens: list[Record]) -> None:
    rendering.table(
        ("id", "name*", "prefix", "created by*", "created", "last use", "expires"),
        (
            (
                token["id"],
                token["name"],
                token.get("prefix"),
                token.get("created_by"),
                time_words.age(token.get("creation_date")),
                time_words.age(token.get("last_use")),
                time_words.age(token.get("expires")),
            )
            for token in tokens
        ),
        "No integration tokens. Create one with: belvedere token create NAME",
    )


def show_new(token: Record) -> None:
    rendering.note(f"the token {token['name']!r} is shown only once; it has the level admin")
    print(token["token"])


COMMANDS = (
    Command("list", list_all, "List integration tokens.", "belvedere token list", show_tokens),
    Command(
        "create",
        create,
        "Create an integration token and print it once.",
        "belvedere token create ci --expires 90d",
        show_new,
        options=(
            option("name", metavar="NAME", help="what it is for"),
            option("--expires", metavar="DURATION", help="expire after this time, for example 90d"),
        ),
    ),
    Command(
        "delete",
        delete,
        "Revoke an integration token immediately.",
        "belvedere token delete ci",
        lambda token: print(f"Token {token['name']!r} revoked."),
        options=(option("token", metavar="TOKEN", help="its name or id"),),
    ),
)
