"""`belvedere provider`: sign-in with OpenID Connect instead of a password."""

from belvedere.cli.framework import lookup, rendering, terminal
from belvedere.cli.framework.command import Args, Command, Record, Show, option
from belvedere.cli.framework.profile import connect

PATH = "/api/provider"
LEVELS = ("viewer", "user", "manager", "admin")
PROVIDER = option("provider", metavar="PROVIDER", help="its name or id")


def list_all(args: Args) -> object:
    return connect(args).get(PATH)


def add(args: Args) -> object:
    body = {
        "name": args.name,
        "issuer": args.issuer,
        "client_id": args.client_id,
        "client_secret": "" if args.public else terminal.secret("Client secret: "),
        "domains": args.domain or [],
        "level": args.level or "",
    }
    return connect(args).post(PATH, body)


def disable(args: Args) -> object:
    return _change(args, {"enabled": False})


def enable(args: Args) -> object:
    return _change(args, {"enabled": True})


def switch_callback(args: Args) -> object:
    return _change(args, {"callback": "own"})


def remove(args: Args) -> object:
    client = connect(args)
    provider = lookup.by_name("provider", client.get(PATH), args.provider)
    return client.delete(f"{PATH}/{provider['id']}")


def _change(args: Args, body: Record) -> object:
    client = connect(args)
    provider = lookup.by_name("provider", client.get(PATH), args.provider)
    return client.patch(f"{PATH}/{provider['id']}", body)


def show_providers(providers: list[Record]) -> None:
    rendering.table(
        ("id", "name*", "issuer*", "new members", "domains*", "callback", "state"),
        (
            (
                provider["id"],
                provider["name"],
                provider["issuer"],
                provider["level"] or "must be invited",
                provider["domains"],
                provider.get("callback_kind", "shared"),
                "enabled" if provider["enabled"] else "disabled",
            )
            for provider in providers
        ),
        "No providers. Add one with: belvedere provider add NAME",
    )


def show_added(provider: Record) -> None:
    """Only the address goes to stdout: it has to be registered at the provider."""
    rendering.note(f"{provider['name']} added; register this callback address at the provider:")
    print(provider["callback"])


def show_switched(provider: Record) -> None:
    rendering.note(f"{provider['name']} now uses its own callback address:")
    print(provider["callback"])


def _confirmation(text: str) -> Show:
    return lambda provider: print(text.format(provider["name"]))


COMMANDS = (
    Command("list", list_all, "List providers.", "belvedere provider list", show_providers),
    Command(
        "add",
        add,
        "Let members sign in with an OpenID Connect provider. The client secret is prompted for, or"
        " read from stdin.",
        "belvedere provider add Google --issuer https://accounts.google.com --client-id ID",
        show_added,
        options=(
            option("name", metavar="NAME", help="the text of the sign-in button"),
            option("--issuer", required=True, metavar="URL", help="the issuer URL of the provider"),
            option(
                "--client-id",
                required=True,
                metavar="ID",
                help="the client id issued by the provider",
            ),
            option("--public", action="store_true", help="the client has no secret"),
            option(
                "--domain",
                action="append",
                metavar="DOMAIN",
                help="only e-mail addresses of this domain; can be repeated",
            ),
            option(
                "--level",
                choices=LEVELS,
                help="level of people who sign in without an invitation (default: not allowed)",
            ),
        ),
    ),
    Command(
        "disable",
        disable,
        "Disable a provider; sessions that were opened through it end.",
        "belvedere provider disable Google",
        _confirmation("{} is disabled."),
        options=(PROVIDER,),
    ),
    Command(
        "enable",
        enable,
        "Enable a disabled provider.",
        "belvedere provider enable Google",
        _confirmation("{} is enabled."),
        options=(PROVIDER,),
    ),
    Command(
        "switch-callback",
        switch_callback,
        "Switch an older provider to its own callback address. Register that address with the"
        " provider first.",
        "belvedere provider switch-callback Google",
        show_switched,
        options=(PROVIDER,),
    ),
    Command(
        "remove",
        remove,
        "Delete a provider; sessions that were opened through it end.",
        "belvedere provider remove Google",
        _confirmation("{} removed."),
        options=(PROVIDER,),
    ),
)
