"""Where the server is and who we are there: from options, the environment, or the last login."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from belvedere.cli.framework.command import Args, Stop
from belvedere.client.http_client import Client

DEFAULT_SERVER = "http://127.0.0.1:8420"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a login leaves behind."""

    server: str = ""
    customer: str = ""
    token: str = ""


def path() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "belvedere" / "config.json"


def saved() -> Profile:
    try:
        kept = json.loads(path().read_text())
        return Profile(**{name: str(kept.get(name) or "") for name in Profile.__slots__})
    except FileNotFoundError:
        return Profile()
    except (OSError, ValueError, AttributeError) as fault:
        raise Stop(f"{path()} cannot be read ({fault}); run: belvedere login") from None


def save(profile: Profile) -> None:
    """Written beside and renamed, 0600 from its first byte: it holds a credential."""
    path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path().with_suffix(".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(profile), file, indent=2)
        file.write("\n")
    draft.replace(path())


def forget() -> None:
    """The credential goes; where the server is stays, for the next login."""
    kept = saved()
    if kept.token:
        save(Profile(kept.server, kept.customer))


def current(args: Args) -> Profile:
    """The option, else the environment, else the login."""
    login = saved()
    server = args.server or os.environ.get("BELVEDERE_SERVER") or login.server or DEFAULT_SERVER
    server = server.rstrip("/")
    # A credential is never shown to another server than the one that gave it.
    is_same = server == (login.server or DEFAULT_SERVER)
    token = os.environ.get("BELVEDERE_TOKEN") or (login.token if is_same else "")
    customer = args.customer or os.environ.get("BELVEDERE_CUSTOMER")
    return Profile(server, customer or (login.customer if is_same else ""), token)


def client_for(profile: Profile, args: Args) -> Client:
    ca_file = args.ca_file or os.environ.get("BELVEDERE_CA_FILE")
    return Client(profile.server, profile.token, profile.customer, ca_file=ca_file)


def connect(args: Args) -> Client:
    """The client that a command uses; without a credential it says how to get one."""
    profile = current(args)
    if not profile.token:
        raise Stop(
            f"You are not signed in to {profile.server}. "
            f"Run: belvedere login --server {profile.server}"
        )
    # Kept on the arguments so that whoever runs the command can close it.
    client = args.client = client_for(profile, args)
    return client
