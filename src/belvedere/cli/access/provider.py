"""`belvedere provider`: where members sign in instead of with a password."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, terminal
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect

PATH = "/api/provider"
LEVELS = ("viewer", "user", "manager", "admin")
PROVIDER = option("provider", metavar="PROVIDER", help="its name or id")


def listed(args: Args) -> Any:
    return connect(args).get(PATH)


def add(args: Args) -> Any:
    body = {
        "name": args.name,
        "issuer": args.issuer,
        "client_id": args.client_id,
        "client_secret": "" if args.public else terminal.secret("Client secret: "),
        "domains": args.domain or [],
        "level": args.level or "",
    }
    return connect(args).post(PATH, body)


def disable(args: Args) -> Any:
    return _change(args, {"enabled": False})


def enable(args: Args) -> Any:
    return _change(args, {"enabled": True})


def switch(args: Args) -> Any:
    return _change(args, {"callback": "own"})


def remove(args: Args) -> Any:
    client = connect(args)
    found = lookup.named("provider", client.get(PATH), args.provider)
    return client.delete(f"{PATH}/{found['id']}")


def _change(args: Args, body: dict[str, Any]) -> Any:
    client = connect(args)
    found = lookup.named("provider", client.get(PATH), args.provider)
    return client.patch(f"{PATH}/{found['id']}", body)


def show_providers(providers: Any) -> None:
    rendering.table(
        ("id", "name*", "issuer*", "newcomers", "domains*", "callback", "state"),
        (
            (
                each["id"],
                each["name"],
                each["issuer"],
                each["level"] or "must be invited",
                each["domains"],
                each.get("callback_kind", "shared"),
                "enabled" if each["enabled"] else "disabled",
            )
            for each in providers
        ),
        "No provider. Add one with: belvedere provider add NAME",
    )


def show_added(provider: Any) -> None:
    """The address alone on stdout: it is what must be entered at the provider."""
    rendering.note(f"{provider['name']} is added; allow it to send people back to this address:")
    print(provider["callback"])


def show_switched(provider: Any) -> None:
    rendering.note(f"{provider['name']} sends people back to its own address from now on:")
    print(provider["callback"])


def _say(text: str) -> Any:
    return lambda provider: print(text.format(provider["name"]))


VERBS = (
    Verb("list", listed, "List the providers.", "belvedere provider list", show_providers),
    Verb(
        "add",
        add,
        "Let members sign in at an OpenID provider. The client's secret is asked, or read from"
        " stdin.",
        "belvedere provider add Google --issuer https://accounts.google.com --client-id ID",
        show_added,
        options=(
            option("name", metavar="NAME", help="what the button says"),
            option("--issuer", required=True, metavar="URL", help="who vouches for people"),
            option("--client-id", required=True, metavar="ID", help="what we are called there"),
            option("--public", action="store_true", help="the client has no secret"),
            option("--domain", action="append", metavar="DOMAIN", help="only e-mails of this"),
            option(
                "--level",
                choices=LEVELS,
                help="of whoever comes without an invitation; without it nobody does",
            ),
        ),
    ),
    Verb(
        "disable",
        disable,
        "Let nobody in through a provider; sessions through it end.",
        "belvedere provider disable Google",
        _say("Nobody comes in through {}."),
        options=(PROVIDER,),
    ),
    Verb(
        "enable",
        enable,
        "Use a provider again.",
        "belvedere provider enable Google",
        _say("{} lets members in."),
        options=(PROVIDER,),
    ),
    Verb(
        "switch-callback",
        switch,
        "Let an older provider send people back to its own address. Register that address at the"
        " provider first.",
        "belvedere provider switch-callback Google",
        show_switched,
        options=(PROVIDER,),
    ),
    Verb(
        "remove",
        remove,
        "Delete a provider; sessions through it end.",
        "belvedere provider remove Google",
        _say("{} is removed."),
        options=(PROVIDER,),
    ),
)
