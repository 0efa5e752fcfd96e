"""From an enrolment token to the agent's own credential, once; and the identity of the machine."""

import contextlib
import hashlib
import json
import os
import platform
import secrets
import ssl
from dataclasses import asdict, dataclass
from pathlib import Path

from belvedere.agent.setup.settings import AgentSettings
from belvedere.agent.state_folder import StateFolder
from belvedere.base.text import connection_errors

TIMEOUT_S = 15.0
UPDATE_KEY = "update.key"
# In the folder of programs: which one runs.
UPDATE_RECORD = "update.json"


@dataclass(frozen=True, slots=True)
class Credential:
    token: str
    host_id: str
    customer: str
    hostname: str
    # A hash of the enrolment token: another token means another enrolment.
    enrolled_with: str = ""


class CannotEnrol(Exception):
    """The server refused for good; the text says why."""


class Unreachable(Exception):
    """The server did not answer; trying again may help."""


def load(folder: StateFolder) -> Credential | None:
    try:
        with open(folder.credential) as file:
            return Credential(**json.load(file))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise CannotEnrol(
            f"{folder.credential} cannot be read; remove it, and enrol this agent again."
        ) from None


def save(folder: StateFolder, credential: Credential) -> None:
    """Save atomically and durably: the enrolment token may be valid only once."""
    path = folder.credential + ".new"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(fd, "w") as file:
        json.dump(asdict(credential), file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path, folder.credential)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def load_saved(
    settings: AgentSettings, folder: StateFolder, *, is_required: bool = True
) -> Credential | None:
    """The credential of an earlier enrolment, unless there is a new enrolment token."""
    credential = load(folder)
    if credential and (not settings.token or credential.enrolled_with == digest(settings.token)):
        return credential
    if not settings.token and is_required:
        raise CannotEnrol(
            "This agent has no credential yet: give it an enrolment token with --token-file, "
            "--token or BELVEDERE_ENROLMENT_TOKEN."
        )
    return None


def tls_context(settings: AgentSettings) -> ssl.SSLContext | None:
    """The certificates that the agent trusts; None for a connection without encryption."""
    if not settings.server.startswith("https:"):
        return None
    return ssl.create_default_context(cafile=settings.tls_ca or None)


def enrol(settings: AgentSettings, folder: StateFolder, tls: ssl.SSLContext | None) -> Credential:
    """Get a credential and save it before it is used."""
    credential, update_key = _request_credential(settings, folder, tls)
    # Not in the credential: agents of earlier versions refuse one with an unknown field.
    save_update_key(folder, update_key)
    save(folder, credential)
    return credential


def save_update_key(folder: StateFolder, key: str) -> None:
    """The key for updates of this server, in place of the one of an earlier enrolment."""
    path = f"{folder.root}/{UPDATE_KEY}"
    for name in (path, path + ".new"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    if not key:
        return
    fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "w") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def _request_credential(
    settings: AgentSettings, folder: StateFolder, tls: ssl.SSLContext | None
) -> tuple[Credential, str]:
    """The credential, and the key for updates; empty from an older server."""
    # Imported here: an enrolled agent never needs an HTTP client.
    import urllib.error
    import urllib.request

    body = {
        "token": settings.token,
        "hostname": settings.hostname,
        "fingerprint": fingerprint(folder, settings.hostname),
    }
    request = urllib.request.Request(
        settings.server + "/-/enrol",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=tls) as reply:
            answer = json.load(reply)
            credential = Credential(
                answer["token"],
                answer["host_id"],
                answer["customer"],
                answer["hostname"],
                digest(settings.token),
            )
            return credential, str(answer.get("update_key", ""))
    except urllib.error.HTTPError as error:
        text = _message(error.read())
        if error.code in (429, 502, 503, 504):
            raise Unreachable(text or f"the server responded with {error.code}") from None
        raise CannotEnrol(text or f"The server responded with {error.code}.") from None
    except (OSError, ValueError, KeyError) as fault:
        raise Unreachable(connection_errors.describe(fault) or str(fault)) from None


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return ""


def fingerprint(folder: StateFolder, hostname: str) -> str:
    """Stable for this machine and host name, and different on a copy of the machine."""
    text = f"{_machine_id(folder)}:{hostname}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _machine_id(folder: StateFolder) -> str:
    for path in (Path("/etc/machine-id"), Path(folder.root) / "machine-id"):
        try:
            machine_id = path.read_text().strip()
        except OSError:
            continue
        if machine_id:
            return machine_id
    machine_id = secrets.token_hex(16)
    fd = os.open(f"{folder.root}/machine-id", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(fd, "w") as file:
        file.write(machine_id)
    return machine_id


def operating_system() -> tuple[str, str]:
    """Name and version of the operating system."""
    try:
        release = platform.freedesktop_os_release()
        return release.get("NAME", "Linux"), release.get("VERSION_ID", "")
    except OSError:
        return platform.system(), platform.release()
