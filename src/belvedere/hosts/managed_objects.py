"""The objects that definitions created on hosts. They can be changed only through the
definition."""

import msgspec

from belvedere.base.errors import Conflict
from belvedere.db import Tx, columns


class Instance(msgspec.Struct):
    """A task or monitor that a definition manages, with the applied version of the definition."""

    definition_id: str
    host_id: str
    kind: str
    object_id: str
    version: int


_ROW = columns(Instance)


def refuse(tx: Tx, kind: str, object_id: str) -> None:
    """Raise Conflict if a definition manages the object."""
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


def for_definition(tx: Tx, definition_id: str) -> dict[str, Instance]:
    """The objects of a definition, by host."""
    rows = tx.all(
        Instance,
        f"select {_ROW} from definition_instances where definition_id = ? order by host_id",
        definition_id,
    )
    return {row.host_id: row for row in rows}


def definitions_of(tx: Tx, kind: str, object_ids: list[str]) -> set[str | None]:
    """The definitions that manage these objects; contains None if an object has none."""
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


def set_version(tx: Tx, row: Instance, version: int) -> None:
    row.version = version
    tx.execute(
        "update definition_instances set version = ? where definition_id = ? and host_id = ?",
        version,
        row.definition_id,
        row.host_id,
    )


def release(tx: Tx, row: Instance) -> None:
    """Detach the object from its definition."""
    tx.execute(
        "delete from definition_instances where definition_id = ? and host_id = ?",
        row.definition_id,
        row.host_id,
    )
