"""Signing in and out, and who one is."""

import re
from typing import Any

from belvedere.cli.access import second_factor
from belvedere.cli.framework import profile, rendering, terminal
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import Profile, client_for
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

# The token stands behind the #, so that it never reaches a log on its way.
LINK = re.compile(r"(https?://.+)/ui/[a-z]+#(\S+)")


def login(args: Args) -> Any:
    """Get a credential in one of three ways, see that it works, and remember it."""
    found = profile.current(args)
    if args.link:
        server, token = _by_link(args)
    elif args.token:
        server, token = found.server, terminal.secret("Integration token: ")
    else:
        email = args.email or terminal.line("E-mail: ")
        password = terminal.secret("Password: ")
        server, token = found.server, _by_password(args, found, email, password)
    with client_for(Profile(server, found.customer, token), args) as client:
        who = client.get("/api/session/profile")
    kept = Profile(server, who["current_customer"]["name"], token)
    profile.save(kept)
    return {"server": kept.server, "customer": kept.customer, "profile": who}


def _by_password(args: Args, found: Profile, email: str, password: str) -> str:
    with client_for(Profile(found.server, found.customer), args) as client:
        return _entered(
            client, client.post("/api/auth/login", {"email": email, "password": password})
        )


def _entered(client: Client, answer: Any) -> str:
    """The session's token; on the way to it a code, where the person has a second factor or must
    set one up."""
    path, asks = "/api/auth/login/second-factor", answer.get("second_factor")
    if asks == "setup":
        rendering.note("this organization asks for a second factor")
        second_factor.tell_secret(client.post(f"{path}/setup", {"ticket": answer["ticket"]}))
    if asks:
        code = second_factor.ask_code()
        answer = client.post(path, {"ticket": answer["ticket"], "code": code})
    if answer.get("recovery_codes"):
        rendering.note("recovery codes, shown this once; each signs you in once without the app:")
        rendering.note("  " + " ".join(answer["recovery_codes"]))
    return str(answer["access_token"])


def _by_link(args: Args) -> tuple[str, str]:
    """A one-time link: an invitation, or the way to a new password."""
    found = LINK.fullmatch(terminal.line("Link: "))
    if found is None:
        raise Stop("That is no one-time link; one looks like https://HOST/ui/link#bvl_….")
    server, token = found[1], found[2]
    with client_for(Profile(server), args) as client:
        seen = client.post("/api/auth/link", {"token": token})
        email = seen["email"]
        if not seen.get("password", True):
            raise Stop(
                f"The organization {seen['customer_name']} takes no passwords; open the link in a"
                " browser and sign in through its provider."
            )
        is_invitation = seen["kind"] == "invitation"
        if is_invitation and (args.account or seen["has_password"]):
            password = terminal.secret(f"Password of {email}: ")
        else:
            password = terminal.new_password(email)
        body = {"token": token, "password": password}
        if is_invitation:
            if args.account:
                body["account"] = True
            return server, _entered(client, client.post("/api/auth/invitation", body))
        client.put("/api/auth/password/reset", body)
    return server, _by_password(args, Profile(server), email, password)


def show_login(answer: Any) -> None:
    who = answer["profile"]
    name = who["email"] or who["username"]
    print(f"Signed in to {answer['server']} as {name}, organization {answer['customer']}.")


def logout(args: Args) -> Any:
    """End the session on the server if it can be reached; forget it here in any case."""
    found = profile.current(args)
    has_ended = False
    # An integration token lives on: it may be in use elsewhere.
    if found.token.startswith("bvs_"):
        try:
            with client_for(found, args) as client:
                client.post("/api/session/logout")
                has_ended = True
        except Problem as problem:
            rendering.note(f"the session could not be ended on the server: {problem.message}")
    profile.forget()
    return {"server": found.server, "ended": has_ended}


def whoami(args: Args) -> Any:
    return profile.connect(args).get("/api/session/profile")


def show_whoami(who: Any) -> None:
    rendering.fields(
        (
            ("name", who["name"] or who["username"]),
            ("e-mail", who["email"]),
            ("organization", who["current_customer"]["name"]),
            ("level", who["credential"]),
            ("member of", [each["name"] for each in who["customers"]]),
        )
    )


VERBS = (
    Verb(
        "login",
        login,
        "Sign in and remember the server. Password and code are asked, or read from stdin.",
        "belvedere login --server https://belvedere.example.org --email ada@example.org",
        show_login,
        options=(
            option("--email", help="who you are; asked if not given"),
            option("--token", action="store_true", help="with an integration token; it is asked"),
            option(
                "--link",
                action="store_true",
                help="with a one-time link (an invitation or a new password); it is asked",
            ),
            option(
                "--account",
                action="store_true",
                help="with --link: join with the account that you have on this server already",
            ),
        ),
    ),
    Verb(
        "logout",
        logout,
        "End the session and forget the credential.",
        "belvedere logout",
        lambda answer: print(f"Signed out of {answer['server']}."),
    ),
    Verb(
        "whoami",
        whoami,
        "Say who you are, in which organization, and at which level.",
        "belvedere whoami",
        show_whoami,
    ),
)
