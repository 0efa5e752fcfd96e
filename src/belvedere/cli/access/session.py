"""`belvedere login`, `logout` and `whoami`."""

import re

from belvedere.cli.access import second_factor
from belvedere.cli.framework import profile, rendering, terminal
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import LoginProfile, client_for
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

# The token is in the fragment, so that it is never sent to a server or written to its log.
LINK = re.compile(r"(https?://.+)/ui/[a-z]+#(\S+)")


def login(args: Args) -> object:
    """Get a credential in one of three ways, check that it works, and save it."""
    target = profile.current(args)
    if args.link:
        server, token = _by_link(args)
    elif args.token:
        server, token = target.server, terminal.secret("Integration token: ")
    else:
        email = args.email or terminal.line("E-mail: ")
        password = terminal.secret("Password: ")
        server, token = target.server, _by_password(args, target, email, password)
    with client_for(LoginProfile(server, target.customer, token), args) as client:
        user = client.get("/api/session/profile")
    saved = LoginProfile(server, user["current_customer"]["name"], token)
    profile.save(saved)
    return {"server": saved.server, "customer": saved.customer, "profile": user}


def _by_password(args: Args, target: LoginProfile, email: str, password: str) -> str:
    with client_for(LoginProfile(target.server, target.customer), args) as client:
        return _finish_login(
            client, client.post("/api/auth/login", {"email": email, "password": password})
        )


def _finish_login(client: Client, response: Record) -> str:
    """The session's token, after prompting for a code if the account has a second factor or has to
    set one up."""
    path, step = "/api/auth/login/second-factor", response.get("second_factor")
    if step == "setup":
        rendering.note("this organization requires a second factor")
        second_factor.show_secret(client.post(f"{path}/setup", {"ticket": response["ticket"]}))
    if step:
        code = second_factor.prompt_code()
        response = client.post(path, {"ticket": response["ticket"], "code": code})
    if response.get("recovery_codes"):
        rendering.note("recovery codes, shown only once; each signs you in once without the app:")
        rendering.note("  " + " ".join(response["recovery_codes"]))
    return str(response["access_token"])


def _by_link(args: Args) -> tuple[str, str]:
    """A one-time link: an invitation, or a password reset."""
    match = LINK.fullmatch(terminal.line("Link: "))
    if match is None:
        raise CommandError(
            "This is not a one-time link; it should look like https://HOST/ui/link#bvl_…."
        )
    server, token = match[1], match[2]
    with client_for(LoginProfile(server), args) as client:
        link = client.post("/api/auth/link", {"token": token})
        email = link["email"]
        if not link.get("password", True):
            raise CommandError(
                f"The organization {link['customer_name']} does not allow passwords. Open the link"
                " in a browser and sign in through its provider."
            )
        is_invitation = link["kind"] == "invitation"
        if is_invitation and (args.account or link["has_password"]):
            password = terminal.secret(f"Password of {email}: ")
        else:
            password = terminal.new_password(email)
        body = {"token": token, "password": password}
        if is_invitation:
            if args.account:
                body["account"] = True
            return server, _finish_login(client, client.post("/api/auth/invitation", body))
        client.put("/api/auth/password/reset", body)
    return server, _by_password(args, LoginProfile(server), email, password)


def show_login(result: Record) -> None:
    user = result["profile"]
    name = user["email"] or user["username"]
    print(f"Signed in to {result['server']} as {name}, organization {result['customer']}.")


def logout(args: Args) -> object:
    """End the session on the server if it can be reached; delete the saved login in any case."""
    target = profile.current(args)
    has_ended = False
    # An integration token stays valid: it may be in use elsewhere.
    if target.token.startswith("bvs_"):
        try:
            with client_for(target, args) as client:
                client.post("/api/session/logout")
                has_ended = True
        except Problem as problem:
            rendering.note(f"the session could not be ended on the server: {problem.message}")
    profile.forget_token()
    return {"server": target.server, "ended": has_ended}


def whoami(args: Args) -> object:
    return profile.connect(args).get("/api/session/profile")


def show_whoami(user: Record) -> None:
    rendering.fields(
        (
            ("name", user["name"] or user["username"]),
            ("e-mail", user["email"]),
            ("organization", user["current_customer"]["name"]),
            ("level", user["credential"]),
            ("member of", [customer["name"] for customer in user["customers"]]),
        )
    )


COMMANDS = (
    Command(
        "login",
        login,
        "Sign in and save the login. Password and code are prompted for, or read from stdin.",
        "belvedere login --server https://belvedere.example.org --email ada@example.org",
        show_login,
        options=(
            option("--email", help="your e-mail address (prompted for if omitted)"),
            option(
                "--token",
                action="store_true",
                help="sign in with an integration token (prompted for)",
            ),
            option(
                "--link",
                action="store_true",
                help="sign in with a one-time link (invitation or password reset; prompted for)",
            ),
            option(
                "--account",
                action="store_true",
                help="with --link: join with your existing account on this server",
            ),
        ),
    ),
    Command(
        "logout",
        logout,
        "End the session and delete the saved credential.",
        "belvedere logout",
        lambda result: print(f"Signed out of {result['server']}."),
    ),
    Command(
        "whoami",
        whoami,
        "Show who you are signed in as, the organization and your level.",
        "belvedere whoami",
        show_whoami,
    ),
)
