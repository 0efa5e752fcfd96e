"""The server's address and the credential: from options, the environment, or the last login."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from belvedere.cli.framework.command import Args, CommandError
from belvedere.cli.framework.rendering import note
from belvedere.client.http_client import Client

DEFAULT_SERVER = "http://127.0.0.1:8420"


@dataclass(frozen=True, slots=True)
class LoginProfile:
    """What a login saves."""

    server: str = ""
    customer: str = ""
    token: str = ""


def path() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "belvedere" / "config.json"


def load() -> LoginProfile:
    try:
        values = json.loads(path().read_text())
        return LoginProfile(
            **{name: str(values.get(name) or "") for name in LoginProfile.__slots__}
        )
    except FileNotFoundError:
        return LoginProfile()
    except (OSError, ValueError, AttributeError) as fault:
        raise CommandError(f"Cannot read {path()} ({fault}); run: belvedere login") from None


def save(profile: LoginProfile) -> None:
    """Write to a new file with mode 0600 and rename it: it contains a credential."""
    path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path().with_suffix(".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(profile), file, indent=2)
        file.write("\n")
    draft.replace(path())


def forget_token() -> None:
    """Delete the credential, and keep the server's address for the next login."""
    profile = load()
    if profile.token:
        save(LoginProfile(profile.server, profile.customer))


def current(args: Args) -> LoginProfile:
    """From the option, else from the environment, else from the login."""
    login = load()
    server = args.server or os.environ.get("BELVEDERE_SERVER") or login.server or DEFAULT_SERVER
    server = server.rstrip("/")
    # A credential is sent only to the server that issued it.
    is_same_server = server == (login.server or DEFAULT_SERVER)
    token = os.environ.get("BELVEDERE_TOKEN") or (login.token if is_same_server else "")
    customer = args.customer or os.environ.get("BELVEDERE_CUSTOMER")
    return LoginProfile(server, customer or (login.customer if is_same_server else ""), token)


def client_for(profile: LoginProfile, args: Args) -> Client:
    ca_file = args.ca_file or os.environ.get("BELVEDERE_CA_FILE")
    client = Client(profile.server, profile.token, profile.customer, ca_file=ca_file)
    client.is_strict = True
    client.on_ignored = lambda names: note(f"The server ignored {names}.")
    return client


def connect(args: Args) -> Client:
    """The client of a command. Without a credential, the error says how to sign in."""
    profile = current(args)
    if not profile.token:
        raise CommandError(
            f"You are not signed in to {profile.server}. "
            f"Run: belvedere login --server {profile.server}"
        )
    # On the arguments, so that `dispatch` can close it after the command.
    client = args.client = client_for(profile, args)
    return client
