"""`belvedere enrolment`: tokens for enrolling hosts."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect


def list_all(args: Args) -> object:
    return connect(args).get("/api/enrolment")


def create(args: Args) -> object:
    client = connect(args)
    expires_in = time_words.duration_ms(args.expires) // 1_000
    if args.host:
        path = f"/host/{lookup.host(client, args.host)['id']}/enrolment"
        return {**client.post(path, {"expires_in": expires_in}), "server": client.server}
    body = {"name": args.name, "uses": args.uses, "expires_in": expires_in}
    return {**client.post("/api/enrolment", body), "server": client.server}


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


def show_new(enrolment: Record) -> None:
    server, token = enrolment["server"], enrolment["token"]
    machine = "the machine of this host" if enrolment.get("host_id") else "the new host"
    rendering.note(f"the token is shown only once; run this on {machine}:")
    rendering.note(f"  curl -fsSL {server}/-/install.sh | BELVEDERE_ENROLMENT_TOKEN={token} sh")
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
        "Revoke an enrolment; hosts that were enrolled with it stay.",
        "belvedere enrolment delete 65a000000000000000000001",
        lambda enrolment: print(f"The enrolment {enrolment['name']!r} is revoked."),
        options=(option("enrolment", metavar="ENROLMENT", help="its name or id"),),
    ),
)
