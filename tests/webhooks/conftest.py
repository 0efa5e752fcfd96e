"""A webhook of acme with its tasks, and calls of it."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.hosts import store as hosts
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody
from belvedere.webhooks import service
from belvedere.webhooks.deliveries import payload
from belvedere.webhooks.deliveries.receive import ROUTE, Call
from belvedere.webhooks.model import CallAuthorization, WebhookRow
from belvedere.webhooks.service import WebhookBody
from people import Actors

Make = Callable[..., WebhookRow]
Dial = Callable[..., Call]
ONE = [{"type": "input", "label": "a"}]


@pytest.fixture
def task(db: Database, keys: Keyring, actors: Actors) -> Callable[..., str]:
    """Create a task of acme that takes one argument."""
    host = db.write_blocking(hosts.insert, actors.acme.id, "web-1", "machine-1", "")

    def make(name: str = "greet", **more: Any) -> str:
        fields = {
            "name": name,
            "type": "script",
            "host_id": host.id,
            "script": {"filename": "a.sh", "source": "#!/bin/sh\n"},
            "task_arguments": ONE,
            **more,
        }
        sent_task = msgspec.convert(fields, TaskBody, strict=False)
        return db.write_blocking(tasks.create, keys, actors.ada, sent_task)[0].id

    return make


@pytest.fixture
def make(db: Database, keys: Keyring, actors: Actors) -> Make:
    def create(*attached: str, **more: Any) -> WebhookRow:
        body = WebhookBody(name="push", tasks=list(attached), **more)
        return db.write_blocking(service.create, keys, actors.ada, body).row

    return create


@pytest.fixture
def make_call(keys: Keyring, actors: Actors) -> Dial:
    """A call of a webhook with Ada's token."""

    def call(hook: WebhookRow, raw: bytes = b'["x"]', key: str | None = None) -> Call:
        idempotency_key = (
            None if key is None else IdempotencyKey(ROUTE, key, hashlib.sha256(raw).hexdigest())
        )
        return Call(
            actor=actors.ada,
            webhook_id=hook.id,
            authorization=CallAuthorization.TOKEN,
            keys=keys,
            raw=raw,
            content_type="application/json",
            headers={},
            redacted="{}",
            payload=payload.read("application/json", raw),
            idempotency_key=idempotency_key,
        )

    return call
