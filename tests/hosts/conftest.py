"""A host of acme with its agent's hello."""

from collections.abc import Callable

import pytest

from belvedere.access.credentials.enrolment import create_enrolment
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.hosts.service import Enrolment, create_host_enrolment, enrol
from belvedere.protocol import Hello
from people import ADDRESS, Actors

Enrol = Callable[..., Enrolment]


def hello(fingerprint: str = "machine-1", **more: object) -> Hello:
    body: dict[str, object] = {
        "hostname": "web-1",
        "agent_version": "0.1.0",
        "fingerprint": fingerprint,
        "journal_id": "journal-1",
        "boot_id": "boot-1",
        "slots": 16,
        "entries": [],
        "os_name": "Linux",
        "ip": "192.0.2.7",
        **more,
    }
    return Hello(**body)  # type: ignore[arg-type]


@pytest.fixture
def enrol_host(db: Database, keys: Keyring, actors: Actors) -> Enrol:
    """Enrol a host of acme, as its agent would."""

    def make(hostname: str = "web-1", fingerprint: str = "machine-1") -> Enrolment:
        _, text = db.write_blocking(create_enrolment, keys, actors.ada)
        return db.write_blocking(enrol, keys, text, hostname, fingerprint, ADDRESS)

    return make


@pytest.fixture
def enrolled_again(db: Database, keys: Keyring, actors: Actors) -> Enrol:
    """Enrol an existing host of acme again, by a token that was created for it."""

    def make(host_id: str, fingerprint: str = "machine-1") -> Enrolment:
        _, text = db.write_blocking(create_host_enrolment, keys, actors.ada, host_id)
        return db.write_blocking(enrol, keys, text, "web-1", fingerprint, ADDRESS)

    return make
