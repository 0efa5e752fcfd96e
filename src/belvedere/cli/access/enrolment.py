"""`belvedere enrolment`: tokens for enrolling hosts."""

from http import HTTPStatus

from belvedere.base.networks import is_loopback_url
from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client


def list_all(args: Args) -> object:
    return connect(args).get("/api/enrolment")


def create(args: Args) -> object:
    client = connect(args)
    expires_in = time_words.duration_ms(args.expires) // 1_000
    path, body = "/api/enrolment", {"name": args.name, "uses": args.uses, "expires_in": expires_in}
    if args.host:
        path = f"/host/{lookup.host(client, args.host)['id']}/enrolment"
        body = {"expires_in": expires_in}
    target = _install_target(client)
    return {**client.post(path, body), **target}


def _install_target(client: Client) -> Record:
    """The address for the new host; `options`: how to restart a server that it cannot reach."""
    try:
        address = client.get("/api/enrolment/address")
    except Problem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        # A server of an earlier version.
        return {"server": client.server}
    server = address["url"] or client.server
    if not is_loopback_url(server):
        return {"server": server}
    if not address["url"] and not address["listens_on_loopback"] and address["addresses"]:
        return {"server": address["addresses"][0], "addresses": address["addresses"]}
    return {"server": server, "options": address["options"]}


def delete(args: Args) -> object:
    client = connect(args)
    enrolment = lookup.by_name("enrolment", client.get("/api/enrolment"), args.enrolment)
    client.delete(f"/api/enrolment/{enrolment['id']}")
    return enrolment


def show_enrolments(enrolments: list[Record]) -> None:
    rendering.table(
        ("id", "name*", "prefix", "uses left", "expires"),
        (
            (
                enrolment["id"],
                enrolment["name"],
                enrolment.get("prefix"),
                enrolment.get("uses_left"),
                time_words.age(enrolment.get("expires")),
            )
            for enrolment in enrolments
        ),
        "No open enrolments. Create one with: belvedere enrolment create",
    )


def _note_address(enrolment: Record) -> None:
    """Other machines cannot use the loopback address of the server."""
    if "addresses" in enrolment:
        others = " ".join(enrolment["addresses"][1:])
        alternatives = f"; other addresses of it: {others}" if others else ""
        rendering.note(f"the command uses an address of the server's machine{alternatives}")
    if "options" not in enrolment:
        return
    rendering.note(
        f"other machines cannot reach {enrolment['server']}: it is a loopback address. Restart the"
        " server with an address that they can reach, then create the token:"
    )
    for options in enrolment["options"]:
        rendering.note(f"  belvedere up {options}")


def show_new(enrolment: Record) -> None:
    server, token = enrolment["server"], enrolment["token"]
    machine = "the machine of this host" if enrolment.get("host_id") else "the new host"
    _note_address(enrolment)
    rendering.note(f"the token is shown only once; run this on {machine}:")
    command = f"curl -fsSL {server}/-/install.sh | "
    variable = f"BELVEDERE_ENROLMENT_TOKEN={token}"
    rendering.note(f"  {command}sudo {variable} sh")
    rendering.note("or without root (a service of your user), or if you are root already:")
    rendering.note(f"  {command}{variable} sh")
    rendering.note("or, if Belvedere is already installed there, run this and paste the token:")
    rendering.note(f"  belvedere agent --server {server} --token-file -")
    print(token)


COMMANDS = (
    Command("list", list_all, "List open enrolments.", "belvedere enrolment list", show_enrolments),
    Command(
        "create",
        create,
        "Create an enrolment token and print it once, with the command for the new host.",
        "belvedere enrolment create --uses 20 --expires 1d",
        show_new,
        options=(
            option("--name", default="command line", help="what it is for"),
            option(
                "--host",
                metavar="HOST",
                help="enrol this existing host again; its name or id",
            ),
            option(
                "--uses",
                type=int,
                default=1,
                metavar="N",
                help="number of hosts it can enrol (default 1)",
            ),
            option(
                "--expires",
                default="1h",
                metavar="DURATION",
                help="how long it is valid (default 1h)",
            ),
        ),
    ),
    Command(
        "delete",
        delete,
        "Revoke an enrolment; hosts that used it stay enrolled.",
        "belvedere enrolment delete 65a000000000000000000001",
        lambda enrolment: print(f"Enrolment {enrolment['name']!r} revoked."),
        options=(option("enrolment", metavar="ENROLMENT", help="its name or id"),),
    ),
)
