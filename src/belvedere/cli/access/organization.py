"""`belvedere organization`: organizations on this server."""

from belvedere.base.errors import Invalid
from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.server import operator_client


def create(args: Args) -> object:
    return operator_client.call_operator(
        args, "/organization", {"name": args.name, "email": args.email}
    )


def list_all(args: Args) -> object:
    return connect(args).get("/api/session/profile")["customers"]


def passwords(args: Args) -> object:
    return connect(args).put("/api/customer", {"providers_only": args.wanted == "off"})


def history(args: Args) -> object:
    client = connect(args)
    limits = {"count": args.jobs, "days": args.days}
    body = {name: value for name, value in limits.items() if value is not None}
    return client.put("/api/customer", {"history": body}) if body else client.get("/api/customer")


def show_history(customer: Record) -> None:
    limits = customer["history"]
    print(
        f"Tasks and workflows of {customer['name']} keep {limits['count']:,} finished jobs, for"
        f" {limits['days']:,} days. Tasks with their own limits keep those."
    )


def allow_passwords(args: Args) -> object:
    return operator_client.call_operator(args, "/organization/allow-passwords", {"name": args.name})


def quota(args: Args) -> object:
    gib = None if args.gib == "default" else _gib(args.gib)
    return operator_client.call_operator(
        args, "/organization/quota", {"name": args.name, "gib": gib}
    )


def _gib(text: str) -> int:
    if not text.isdecimal():
        raise Invalid(f"{text!r} is not a size: use whole GiB, 0 for no limit, or 'default'.")
    return int(text)


def show_quota(result: Record) -> None:
    gib = result["gib"]
    size = "the server's default" if gib is None else f"{gib} GiB" if gib else "no limit"
    print(f"Storage quota of {result['name']}: {size}. It applies from the next measurement.")


def show_new(result: Record) -> None:
    print(f"Organization {result['name']} created; its owner is {result['email']}.")
    if result["link"]:
        print("The owner sets a password with `belvedere login --link` and this one-time link:")
        print(result["link"])


def show_organizations(customers: list[Record]) -> None:
    rendering.table(
        ("id", "organization"), ((customer["id"], customer["name"]) for customer in customers)
    )


_PASSWORD_TEXTS = {
    True: "Members of {} may sign in with passwords.",
    False: "Members of {} can sign in only through a provider; other sessions have ended.",
}
COMMANDS = (
    Command(
        "list",
        list_all,
        "List your organizations.",
        "belvedere organization list",
        show_organizations,
    ),
    Command(
        "passwords",
        passwords,
        "Allow or forbid sign-in with passwords. Needs the level owner.",
        "belvedere organization passwords off",
        lambda customer: print(
            _PASSWORD_TEXTS[not customer["providers_only"]].format(customer["name"])
        ),
        options=(option("wanted", choices=("on", "off"), help="off: only through a provider"),),
    ),
    Command(
        "history",
        history,
        "Show or set how many finished jobs tasks keep by default. Changes need the level owner.",
        "belvedere organization history --jobs 5000 --days 180",
        show_history,
        options=(
            option("--jobs", type=int, metavar="N", help="finished jobs per task or workflow"),
            option("--days", type=int, metavar="N", help="days to keep them"),
        ),
    ),
    Command(
        "allow-passwords",
        allow_passwords,
        "Allow sign-in with passwords again. Works on the server's machine only.",
        "belvedere organization allow-passwords acme",
        lambda customer: print(_PASSWORD_TEXTS[True].format(customer["name"])),
        options=(
            option("name", metavar="NAME", help="the organization"),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
    Command(
        "quota",
        quota,
        "Set the storage quota of an organization. Works on the server's machine only.",
        "belvedere organization quota acme 200",
        show_quota,
        options=(
            option("name", metavar="NAME", help="the organization"),
            option("gib", metavar="GIB", help="GiB; 0: no limit; default: the server's setting"),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
    Command(
        "create",
        create,
        "Create an organization with its owner. Works on the server's machine only.",
        "belvedere organization create acme --email ada@example.org",
        show_new,
        options=(
            option("name", metavar="NAME", help="1 to 64 characters of a-z, 0-9, '.', '_' and '-'"),
            option("--email", required=True, help="the owner's e-mail address"),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
)
