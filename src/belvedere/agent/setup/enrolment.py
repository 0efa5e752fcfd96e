"""From an enrolment token to the agent's own credential, once."""

import hashlib
import json
import os
import ssl
from dataclasses import asdict, dataclass

from belvedere.agent.setup.machine import fingerprint
from belvedere.agent.setup.settings import AgentSettings
from belvedere.agent.state_folder import StateFolder
from belvedere.base.text import connection_errors

TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True)
class Credential:
    token: str
    host_id: str
    customer: str
    hostname: str
    # Of the enrolment token it came from: another token means another enrolment.
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


def load_saved(settings: AgentSettings, folder: StateFolder) -> Credential | None:
    """The credential of an earlier enrolment, unless there is a new enrolment token."""
    credential = load(folder)
    if credential and (not settings.token or credential.enrolled_with == digest(settings.token)):
        return credential
    if not settings.token:
        raise CannotEnrol(
            "This agent has no credential yet: give it an enrolment token with --token-file, "
            "--token or BELVEDERE_ENROLMENT_TOKEN."
        )
    return None


def enrol(settings: AgentSettings, folder: StateFolder, tls: ssl.SSLContext | None) -> Credential:
    """Get a credential and save it before it is used."""
    credential = _request_credential(settings, folder, tls)
    save(folder, credential)
    return credential


def _request_credential(
    settings: AgentSettings, folder: StateFolder, tls: ssl.SSLContext | None
) -> Credential:
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
            return Credential(
                answer["token"],
                answer["host_id"],
                answer["customer"],
                answer["hostname"],
                digest(settings.token),
            )
    except urllib.error.HTTPError as error:
        text = _message(error.read())
        if error.code in (429, 502, 503, 504):
            raise Unreachable(text or f"the server answered {error.code}") from None
        raise CannotEnrol(text or f"The server answered {error.code}.") from None
    except (OSError, ValueError, KeyError) as fault:
        raise Unreachable(connection_errors.describe(fault) or str(fault)) from None


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return ""
