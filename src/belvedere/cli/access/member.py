"""`belvedere member`: the members of the organization."""

from belvedere.base.ids import short_id
from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.server import operator_client
from belvedere.client.http_client import Client

MEMBER = option("member", metavar="MEMBER", help="e-mail, user name or id")
INVITATION_PATH = "/api/session/invitation"
LEVELS = ("viewer", "user", "manager", "admin", "owner")


def list_all(args: Args) -> object:
    return connect(args).get("/api/member")


def invite(args: Args) -> object:
    body = {
        "user": {"email": args.email, "name": args.name or ""},
        "credential": args.level,
        "tags": args.tag or [],
    }
    return connect(args).post("/api/member", body)


def level(args: Args) -> object:
    return _change(args, {"credential": args.level})


def disable(args: Args) -> object:
    return _change(args, {"disabled": True})


def enable(args: Args) -> object:
    return _change(args, {"disabled": False})


def _change(args: Args, body: Record) -> object:
    client = connect(args)
    return client.patch(f"/api/member/{lookup.member(client, args.member)['id']}", body)


def remove(args: Args) -> object:
    client = connect(args)
    member = lookup.member(client, args.member)
    client.delete(f"/api/member/{member['id']}")
    return member


def list_invitations(args: Args) -> object:
    return connect(args).get(INVITATION_PATH)


def accept(args: Args) -> object:
    client = connect(args)
    return client.post(INVITATION_PATH, {"id": _invitation_id(client, args.organization)})


def decline(args: Args) -> object:
    client = connect(args)
    return client.delete(f"{INVITATION_PATH}/{_invitation_id(client, args.organization)}")


def _invitation_id(client: Client, organization: str) -> str:
    for invitation in client.get(INVITATION_PATH):
        names = (invitation["customer_name"], invitation["id"], short_id(invitation["id"]))
        if organization.removeprefix("#") in names:
            return str(invitation["id"])
    raise CommandError(f"There is no membership to accept or decline in {organization!r}.")


def reset_password(args: Args) -> object:
    return operator_client.call_operator(args, "/member/reset-password", _account(args))


def reset_second_factor(args: Args) -> object:
    return operator_client.call_operator(args, "/member/reset-second-factor", _account(args))


def _account(args: Args) -> dict[str, str]:
    fields = {"organization": args.organization} if args.organization else {}
    return {"email": args.member, **fields}


def show_members(members: list[Record]) -> None:
    rendering.table(
        ("id", "e-mail*", "level", "state", "tags*"),
        (
            (
                member["id"],
                member["user"]["email"],
                member["credential"],
                _state(member),
                [f"{tag['k']}:{tag['v']}" for tag in member["tags"]],
            )
            for member in members
        ),
    )


def _state(member: Record) -> str:
    if member["invited"]:
        return "invited"
    return "disabled" if member["disabled"] else "active"


def show_invitations(invitations: list[Record]) -> None:
    rendering.table(
        ("id", "organization*", "level", "state"),
        (
            (
                invitation["id"],
                invitation["customer_name"],
                invitation["credential"],
                "invited" if invitation["invitation"] else "active with another account",
            )
            for invitation in invitations
        ),
        "No open invitations.",
    )


def show_link(result: Record) -> None:
    """Only the link goes to stdout, so that it can be piped."""
    link = result["invitation"]
    rendering.note(
        f"send this link to the member; it works once and expires {time_words.age(link['expires'])}"
    )
    rendering.note("on the command line it is used with: belvedere login --link")
    print(link["link"])


def show_password(result: Record) -> None:
    rendering.note(
        f"the new password of {result['email']}, shown only once; all sessions have ended"
    )
    print(result["password"])


def show_level(member: Record) -> None:
    text = f"{member['user']['email']} now has the level {member['credential']}."
    if not member.get("invitation"):
        print(text)
        return
    rendering.note(f"{text} The previous invitation link is no longer valid.")
    show_link(member)


def _confirmation(text: str) -> Show:
    return lambda member: print(text.format(member["user"]["email"], member["credential"]))


_ACCOUNT_OPTIONS = (
    option("member", metavar="EMAIL", help="e-mail address of the account"),
    option(
        "--organization",
        metavar="NAME",
        help="the organization, if several have an account with this e-mail address",
    ),
    *operator_client.OPTIONS,
)

COMMANDS = (
    Command("list", list_all, "List members.", "belvedere member list", show_members),
    Command(
        "invite",
        invite,
        "Invite a member; prints the link to send.",
        "belvedere member invite max@example.org --level manager",
        show_link,
        options=(
            option("email", metavar="EMAIL", help="e-mail address of the new member"),
            option("--level", choices=LEVELS, default="user", help="their level (default user)"),
            option("--name", help="their name"),
            option(
                "--tag",
                action="append",
                metavar="KEY:VALUE",
                help="a tag that ACLs can use; can be repeated",
            ),
        ),
    ),
    Command(
        "level",
        level,
        "Change the level of a member.",
        "belvedere member level max@example.org admin",
        show_level,
        options=(MEMBER, option("level", choices=LEVELS, help="the new level")),
    ),
    Command(
        "disable",
        disable,
        "Disable a member; their sessions end immediately.",
        "belvedere member disable max@example.org",
        _confirmation("{} is disabled."),
        options=(MEMBER,),
    ),
    Command(
        "enable",
        enable,
        "Enable a disabled member.",
        "belvedere member enable max@example.org",
        _confirmation("{} is enabled."),
        options=(MEMBER,),
    ),
    Command(
        "remove",
        remove,
        "Remove a member from the organization.",
        "belvedere member remove max@example.org",
        _confirmation("{} removed."),
        options=(MEMBER,),
    ),
    Command(
        "invitations",
        list_invitations,
        "List memberships for your e-mail address that you have not accepted yet.",
        "belvedere member invitations",
        show_invitations,
    ),
    Command(
        "accept",
        accept,
        "Accept a membership for your account. You must be signed in with its password.",
        "belvedere member accept acme",
        lambda membership: print(
            f"You now have the level {membership['credential']} in {membership['customer_name']}."
        ),
        options=(option("organization", metavar="ORGANIZATION", help="its name"),),
    ),
    Command(
        "decline",
        decline,
        "Decline a membership for your account; an invitation is revoked.",
        "belvedere member decline acme",
        lambda membership: print(f"You declined the membership in {membership['customer_name']}."),
        options=(option("organization", metavar="ORGANIZATION", help="its name"),),
    ),
    Command(
        "reset-password",
        reset_password,
        "Set a new password for a member and print it once. Works on the server's machine only.",
        "belvedere member reset-password ada@example.org",
        show_password,
        options=_ACCOUNT_OPTIONS,
        is_remote=False,
    ),
    Command(
        "reset-second-factor",
        reset_second_factor,
        "Remove a member's lost second factor. Works on the server's machine only.",
        "belvedere member reset-second-factor ada@example.org",
        lambda result: print(
            f"{result['email']} now signs in with the password only; all sessions have ended."
        ),
        options=_ACCOUNT_OPTIONS,
        is_remote=False,
    ),
)
