"""A host of acme and a task on it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.hosts import store as hosts
from belvedere.hosts.model import HostRow
from belvedere.tasks import service
from belvedere.tasks.bodies import TaskBody
from belvedere.tasks.store import TaskView
from people import Actors

SOURCE = "#!/bin/sh\necho hello\n"
MISSING = "0" * 24

Make = Callable[..., TaskView]


def body(**fields: Any) -> Any:
    """A body as the server hands it over."""
    return msgspec.convert(fields, TaskBody, strict=False)


@pytest.fixture
def host(db: Database, actors: Actors) -> HostRow:
    return db.write_blocking(hosts.insert, actors.acme.id, "web-1", "machine-1", "192.0.2.7")


@pytest.fixture
def make(db: Database, keys: Keyring, actors: Actors, host: HostRow) -> Make:
    """Create a script task of acme on its host, with the given fields."""

    def create(**fields: Any) -> TaskView:
        sent_body: dict[str, Any] = {
            "name": "greet",
            "type": "script",
            "host_id": host.id,
            "script": {"filename": "greet.sh", "source": SOURCE},
            **fields,
        }
        view, _ = db.write_blocking(service.create, keys, actors.ada, body(**sent_body))
        return view

    return create
