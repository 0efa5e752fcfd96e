"""`belvedere enrolment`: tokens that let new hosts in."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect


def listed(args: Args) -> Any:
    return connect(args).get("/api/enrolment")


def create(args: Args) -> Any:
    client = connect(args)
    expires_in = time_words.duration_ms(args.expires) // 1_000
    if args.host:
        path = f"/host/{lookup.host(client, args.host)['id']}/enrolment"
        return {**client.post(path, {"expires_in": expires_in}), "server": client.server}
    body = {"name": args.name, "uses": args.uses, "expires_in": expires_in}
    return {**client.post("/api/enrolment", body), "server": client.server}


def delete(args: Args) -> Any:
    client = connect(args)
    found = lookup.named("enrolment", client.get("/api/enrolment"), args.enrolment)
    client.delete(f"/api/enrolment/{found['id']}")
    return found


def show_enrolments(enrolments: Any) -> None:
    rendering.table(
        ("id", "name*", "begins", "uses left", "expires"),
        (
            (
                each["id"],
                each["name"],
                each.get("prefix"),
                each.get("uses_left"),
                time_words.age(each.get("expires")),
            )
            for each in enrolments
        ),
        "No enrolment is open. Make one with: belvedere enrolment create",
    )


def show_new(enrolment: Any) -> None:
    server, token = enrolment["server"], enrolment["token"]
    machine = "the machine of this host" if enrolment.get("host_id") else "the new host"
    rendering.note(f"the token is shown this once; on {machine}, paste this line:")
    rendering.note(f"  curl -fsSL {server}/-/install.sh | BELVEDERE_ENROLMENT_TOKEN={token} sh")
    rendering.note("or, where Belvedere is installed, run this and paste the token:")
    rendering.note(f"  belvedere agent --server {server} --token-file -")
    print(token)


VERBS = (
    Verb("list", listed, "List open enrolments.", "belvedere enrolment list", show_enrolments),
    Verb(
        "create",
        create,
        "Make an enrolment token and print it, once, with the command for the new host.",
        "belvedere enrolment create --uses 20 --expires 1d",
        show_new,
        options=(
            option("--name", default="command line", help="what it is for"),
            option(
                "--host",
                metavar="HOST",
                help="create it for this existing host, to enrol it again; its name or id",
            ),
            option("--uses", type=int, default=1, metavar="N", help="hosts it lets in (default 1)"),
            option("--expires", default="1h", metavar="DURATION", help="for how long (default 1h)"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Revoke an enrolment; hosts that came in with it stay.",
        "belvedere enrolment delete 65a000000000000000000001",
        lambda found: print(f"The enrolment {found['name']!r} is revoked."),
        options=(option("enrolment", metavar="ENROLMENT", help="its name or id"),),
    ),
)
