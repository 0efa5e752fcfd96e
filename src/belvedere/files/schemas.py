"""The schema of a file's content: a JSON document that clients store with the file. The server does
not check contents against it."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.files import store

MAX_SCHEMA = 64 * 1024


def replace(tx: Tx, actor: Actor, file_id: str, schema: object) -> dict[str, Any]:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, file_id, lock=True)
    if not isinstance(schema, dict):
        raise _invalid("The schema must be a JSON object.")
    text = msgspec.json.encode(schema).decode()
    if len(text) > MAX_SCHEMA:
        raise _invalid(f"A schema has at most {MAX_SCHEMA} bytes.")
    before = find(tx, file_id)
    tx.execute(
        "insert into file_schemas (file_id, schema) values (?, ?)"
        " on conflict (file_id) do update set schema = excluded.schema",
        file_id,
        text,
    )
    audit.record(
        tx,
        actor,
        "file.schema",
        "file",
        file_id,
        {"content_schema": before},
        {"content_schema": schema},
    )
    data = {"filename": row.filename, "version": row.version, "sha256": row.sha256}
    events.append(tx, actor.customer_id, "file.changed", file_id, data)
    return schema


def find(tx: Tx, file_id: str) -> dict[str, Any] | None:
    text = tx.value("select schema from file_schemas where file_id = ?", file_id)
    return None if text is None else msgspec.json.decode(text, type=dict[str, Any])


def _invalid(message: str) -> Invalid:
    return Invalid(message, code="invalid_schema", faults=(Fault("body", message),))
