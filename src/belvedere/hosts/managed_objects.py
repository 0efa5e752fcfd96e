"""What a definition has made on each host. Floors above refuse to change these one by one."""

import msgspec

from belvedere.base.errors import Conflict
from belvedere.db import Tx, columns


class Instance(msgspec.Struct):
    """A task or monitor that follows a definition, and to which version of it."""

    definition_id: str
    host_id: str
    kind: str
    object_id: str
    version: int


_ROW = columns(Instance)


def refuse(tx: Tx, kind: str, object_id: str) -> None:
    """Conflict where the record follows a definition: only that can be changed."""
    definition_id = tx.value(
        "select definition_id from definition_instances where kind = ? and object_id = ?",
        kind,
        object_id,
    )
    if definition_id is not None:
        raise Conflict(
            f"This {kind} follows the definition {definition_id}; change or delete that instead.",
            code="follows_definition",
        )


def of_definition(tx: Tx, definition_id: str) -> dict[str, Instance]:
    """By host."""
    rows = tx.all(
        Instance,
        f"select {_ROW} from definition_instances where definition_id = ? order by host_id",
        definition_id,
    )
    return {row.host_id: row for row in rows}


def definitions_of(tx: Tx, kind: str, object_ids: list[str]) -> set[str | None]:
    """Which definitions these follow; None among them where one follows none."""
    rows = tx.rows(
        "select object_id, definition_id from definition_instances where kind = ?"
        f" and object_id in {tx.dialect.in_texts}",
        kind,
        msgspec.json.encode(object_ids).decode(),
    )
    followed: dict[str, str] = {object_id: definition_id for object_id, definition_id in rows}
    return {followed.get(object_id) for object_id in object_ids}


def insert(tx: Tx, row: Instance) -> None:
    tx.execute(
        f"insert into definition_instances ({_ROW}) values (?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(row),
    )


def caught_up(tx: Tx, row: Instance, version: int) -> None:
    row.version = version
    tx.execute(
        "update definition_instances set version = ? where definition_id = ? and host_id = ?",
        version,
        row.definition_id,
        row.host_id,
    )


def release(tx: Tx, row: Instance) -> None:
    """It follows nothing any more."""
    tx.execute(
        "delete from definition_instances where definition_id = ? and host_id = ?",
        row.definition_id,
        row.host_id,
    )
