"""`belvedere member`: the people of the organization."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.server import operator_client

MEMBER = option("member", metavar="MEMBER", help="e-mail, user name or id")
WAITING = "/api/session/invitation"
LEVELS = ("viewer", "user", "manager", "admin", "owner")


def listed(args: Args) -> Any:
    return connect(args).get("/api/member")


def invite(args: Args) -> Any:
    body = {
        "user": {"email": args.email, "name": args.name or ""},
        "credential": args.level,
        "tags": args.tag or [],
    }
    return connect(args).post("/api/member", body)


def level(args: Args) -> Any:
    return _change(args, {"credential": args.level})


def disable(args: Args) -> Any:
    return _change(args, {"disabled": True})


def enable(args: Args) -> Any:
    return _change(args, {"disabled": False})


def _change(args: Args, body: dict[str, Any]) -> Any:
    client = connect(args)
    return client.patch(f"/api/member/{lookup.member(client, args.member)['id']}", body)


def remove(args: Args) -> Any:
    client = connect(args)
    found = lookup.member(client, args.member)
    client.delete(f"/api/member/{found['id']}")
    return found


def waiting(args: Args) -> Any:
    return connect(args).get(WAITING)


def accept(args: Args) -> Any:
    client = connect(args)
    return client.post(WAITING, {"id": _offer(client, args.organization)})


def decline(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"{WAITING}/{_offer(client, args.organization)}")


def _offer(client: Any, organization: str) -> str:
    for each in client.get(WAITING):
        if organization in (each["customer_name"], each["id"]):
            return str(each["id"])
    raise Stop(f"There is no membership to accept or decline in {organization!r}.")


def reset_password(args: Args) -> Any:
    return operator_client.ask_operator(args, "/member/reset-password", _account(args))


def reset_second_factor(args: Args) -> Any:
    return operator_client.ask_operator(args, "/member/reset-second-factor", _account(args))


def _account(args: Args) -> dict[str, str]:
    named = {"organization": args.organization} if args.organization else {}
    return {"email": args.member, **named}


def show_members(members: Any) -> None:
    rendering.table(
        ("id", "e-mail*", "level", "state", "tags*"),
        (
            (
                each["id"],
                each["user"]["email"],
                each["credential"],
                _condition(each),
                [f"{tag['k']}:{tag['v']}" for tag in each["tags"]],
            )
            for each in members
        ),
    )


def _condition(member: Any) -> str:
    if member["invited"]:
        return "invited"
    return "disabled" if member["disabled"] else "active"


def show_waiting(found: Any) -> None:
    rendering.table(
        ("id", "organization*", "level", "state"),
        (
            (
                each["id"],
                each["customer_name"],
                each["credential"],
                "invited" if each["invitation"] else "active with another account",
            )
            for each in found
        ),
        "No membership waits for you.",
    )


def show_link(answer: Any) -> None:
    """The link alone on stdout, so that it can be piped to wherever it is handed over."""
    link = answer["invitation"]
    rendering.note(f"hand this link over; it works once and ends {time_words.age(link['expires'])}")
    rendering.note("whoever has it signs in with: belvedere login --link")
    print(link["link"])


def show_password(answer: Any) -> None:
    rendering.note(
        f"the new password of {answer['email']}, shown this once; all sessions have ended"
    )
    print(answer["password"])


def _say(text: str) -> Any:
    return lambda member: print(text.format(member["user"]["email"], member["credential"]))


_WHOSE = (
    option("member", metavar="EMAIL", help="whose"),
    option(
        "--organization",
        metavar="NAME",
        help="whose account, where several organizations have one with this e-mail",
    ),
    *operator_client.OPTIONS,
)

VERBS = (
    Verb("list", listed, "List the members.", "belvedere member list", show_members),
    Verb(
        "invite",
        invite,
        "Invite somebody; prints a link to hand over.",
        "belvedere member invite max@example.org --level manager",
        show_link,
        options=(
            option("email", metavar="EMAIL", help="whom"),
            option(
                "--level", choices=LEVELS, default="user", help="what they may do (default user)"
            ),
            option("--name", help="their name"),
            option("--tag", action="append", metavar="KEY:VALUE", help="a tag that ACLs can name"),
        ),
    ),
    Verb(
        "level",
        level,
        "Change what a member may do.",
        "belvedere member level max@example.org admin",
        _say("{} is {} now."),
        options=(MEMBER, option("level", choices=LEVELS, help="the new level")),
    ),
    Verb(
        "disable",
        disable,
        "Keep a member out; sessions end at once.",
        "belvedere member disable max@example.org",
        _say("{} is kept out."),
        options=(MEMBER,),
    ),
    Verb(
        "enable",
        enable,
        "Let a disabled member in again.",
        "belvedere member enable max@example.org",
        _say("{} may come in again."),
        options=(MEMBER,),
    ),
    Verb(
        "remove",
        remove,
        "Take somebody out of the organization.",
        "belvedere member remove max@example.org",
        _say("{} is removed."),
        options=(MEMBER,),
    ),
    Verb(
        "invitations",
        waiting,
        "List organizations that have your e-mail address as a member and that you have not"
        " accepted.",
        "belvedere member invitations",
        show_waiting,
    ),
    Verb(
        "accept",
        accept,
        "Accept a membership for your own account, to which you are signed in by its password.",
        "belvedere member accept acme",
        lambda offer: print(f"You are {offer['credential']} of {offer['customer_name']} now."),
        options=(option("organization", metavar="ORGANIZATION", help="its name"),),
    ),
    Verb(
        "decline",
        decline,
        "Decline a membership for your own account; an invitation ends.",
        "belvedere member decline acme",
        lambda offer: print(f"You declined the membership of {offer['customer_name']}."),
        options=(option("organization", metavar="ORGANIZATION", help="its name"),),
    ),
    Verb(
        "reset-password",
        reset_password,
        "Give a member a new password and print it, once. Works on the server's own machine.",
        "belvedere member reset-password ada@example.org",
        show_password,
        options=_WHOSE,
        is_remote=False,
    ),
    Verb(
        "reset-second-factor",
        reset_second_factor,
        "Take a lost second factor from a member. Works on the server's own machine.",
        "belvedere member reset-second-factor ada@example.org",
        lambda answer: print(f"{answer['email']} signs in by the password alone; sessions ended."),
        options=_WHOSE,
        is_remote=False,
    ),
)
