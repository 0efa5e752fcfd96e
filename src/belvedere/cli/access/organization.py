"""`belvedere organization`: organizations on this server."""

from typing import Any

from belvedere.base.errors import Invalid
from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.server import operator_client


def create(args: Args) -> Any:
    return operator_client.ask_operator(
        args, "/organization", {"name": args.name, "email": args.email}
    )


def listed(args: Args) -> Any:
    return connect(args).get("/api/session/profile")["customers"]


def passwords(args: Args) -> Any:
    return connect(args).put("/api/customer", {"providers_only": args.wanted == "off"})


def allow_passwords(args: Args) -> Any:
    return operator_client.ask_operator(args, "/organization/allow-passwords", {"name": args.name})


def quota(args: Args) -> Any:
    gib = None if args.gib == "default" else _gib(args.gib)
    return operator_client.ask_operator(
        args, "/organization/quota", {"name": args.name, "gib": gib}
    )


def _gib(text: str) -> int:
    if not text.isdecimal():
        raise Invalid(f"{text!r} is no size: give whole GiB, 0 for no limit, or 'default'.")
    return int(text)


def show_quota(answer: Any) -> None:
    gib = answer["gib"]
    size = "the quota of the server" if gib is None else f"{gib} GiB" if gib else "no limit"
    print(f"Storage of {answer['name']}: {size}, from the next measurement on.")


def show_new(answer: Any) -> None:
    print(f"Organization {answer['name']} is made; its owner is {answer['email']}.")
    if answer["link"]:
        print("The owner sets a password with `belvedere login --link` and this link, once:")
        print(answer["link"])


def show_organizations(customers: Any) -> None:
    rendering.table(("id", "organization"), ((each["id"], each["name"]) for each in customers))


_SAID = {
    True: "Members of {} may sign in with passwords.",
    False: "Members of {} sign in through a provider only; other sessions have ended.",
}
VERBS = (
    Verb(
        "list",
        listed,
        "List your organizations.",
        "belvedere organization list",
        show_organizations,
    ),
    Verb(
        "passwords",
        passwords,
        "Let members sign in with passwords, or through a provider only; for the owner.",
        "belvedere organization passwords off",
        lambda it: print(_SAID[not it["providers_only"]].format(it["name"])),
        options=(option("wanted", choices=("on", "off"), help="off: through a provider only"),),
    ),
    Verb(
        "allow-passwords",
        allow_passwords,
        "Let members sign in with passwords again. Works on the server's own machine.",
        "belvedere organization allow-passwords acme",
        lambda it: print(_SAID[True].format(it["name"])),
        options=(option("name", metavar="NAME", help="which"), *operator_client.OPTIONS),
        is_remote=False,
    ),
    Verb(
        "quota",
        quota,
        "Set how much an organization may store. Works on the server's own machine.",
        "belvedere organization quota acme 200",
        show_quota,
        options=(
            option("name", metavar="NAME", help="which"),
            option("gib", metavar="GIB", help="GiB; 0: no limit; default: as the server is set"),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
    Verb(
        "create",
        create,
        "Make an organization with its owner. Works on the server's own machine.",
        "belvedere organization create acme --email ada@example.org",
        show_new,
        options=(
            option("name", metavar="NAME", help="1 to 64 of a-z, 0-9, '.', '_' and '-'"),
            option("--email", required=True, help="the owner's e-mail"),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
)
