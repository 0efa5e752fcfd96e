"""Seals what older versions stored in plain text, and seals it again when the key changes.

Rows are sealed when they are written. Older rows are sealed in the background, a batch at a time in
the order of ids; `meta` has the progress of each column, so that a restart continues. Rows with a
sealed value are found by the beginning of their text.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Unavailable
from belvedere.db import Tx, installation
from belvedere.server.encryption import unreadable
from belvedere.server.encryption.columns import CLEANED_COLUMNS, SEALED_COLUMNS, Row, SealedColumn
from belvedere.server.encryption.unreadable import UnreadableValue

# Rows per transaction, and transactions of one pass.
BATCH, MAX_BATCHES = 200, 20
DONE = "done"
_PROGRESS = "sealing:"
log = logging.getLogger("belvedere.keys")
# The sealed value of a text, of an object, or of an element. Quotes inside values are escaped.
_BOX = re.compile(r'(^\$sealed:|^\{"\$sealed":"|[\[,]\{"\$sealed":")([A-Za-z0-9+/=.]+)')


def pending(tx: Tx) -> list[SealedColumn]:
    """Columns that are not finished yet."""
    progress = installation.list_values(tx, _PROGRESS)
    return [
        column
        for column in (*SEALED_COLUMNS, *CLEANED_COLUMNS)
        if progress.get(_progress_name(column)) != DONE
    ]


def seal_batch(tx: Tx, column: SealedColumn) -> int:
    """Seal the next rows of a column; returns how many were read."""
    rows = _next(tx, column)
    for *names, text in rows:
        if text is not None and not text.startswith((sealed_values.OBJECT, sealed_values.TEXT)):
            _write(tx, column, names, text, column.seal(tx, text, tuple(names)))
    last = rows[-1][: len(column.names)] if len(rows) == BATCH else None
    progress = DONE if last is None else msgspec.json.encode(last).decode()
    installation.write(tx, _progress_name(column), progress)
    return len(rows)


def _next(tx: Tx, column: SealedColumn) -> list[Row]:
    progress = installation.read(tx, _progress_name(column))
    names = ", ".join(column.names)
    # Every batch is an index search, also the first: ids are never empty texts.
    start = [""] if progress is None else msgspec.json.decode(progress)
    columns = ", ".join(column.names[: len(start)])
    return tx.rows(
        f"select {', '.join((*column.names, *column.more, column.name))} from {column.table}"
        f" where ({columns}) > ({', '.join('?' for _ in start)}) order by {names} limit {BATCH}",
        *start,
    )


def _write(tx: Tx, column: SealedColumn, names: list[Any], old: str, new: str | None) -> None:
    """Only what was read: another text may have been written meanwhile."""
    if new == old:
        return
    where = " and ".join(f"{name} = ?" for name in column.names)
    keys = (*names[: len(column.names)], old)
    if column.copy:
        tx.execute(
            f"update {column.table} set {column.copy} = ? where {where} and {column.copy} = ?",
            new,
            *keys,
        )
    tx.execute(
        f"update {column.table} set {column.name} = ? where {where} and {column.name} = ?",
        new,
        *keys,
    )


def _progress_name(column: SealedColumn) -> str:
    return f"{_PROGRESS}{column.table}.{column.name}"


# Key rotation


def count_other(tx: Tx, name: str) -> int:
    """How many rows are sealed with another key."""
    return sum(
        int(tx.value(f"select count(*) from {column.table} where {_other(column, name)}"))
        for column in SEALED_COLUMNS
    )


def count(tx: Tx, name: str) -> int:
    """How many rows are sealed with this key; values of the first key have no dot."""
    return sum(
        int(tx.value(f"select count(*) from {column.table} where {_by_key(column, name)}"))
        for column in SEALED_COLUMNS
    )


def _other(column: SealedColumn, name: str) -> str:
    """A list of arguments may hold several boxes, of which this key sealed only some."""
    if name:
        others = f"replace({column.name}, '{column.box}{name}.', '')"
        return f"{_any(column)} and {others} like '{column.pattern}%'"
    return f"{_any(column)} and not {_by_key(column, name)}"


def _by_key(column: SealedColumn, name: str) -> str:
    if name:
        return f"{column.name} like '{column.pattern}{name}.%'"
    return f"({_any(column)} and {column.name} not like '{column.pattern}____________.%')"


def _any(column: SealedColumn) -> str:
    return f"{column.name} like '{column.pattern}%'"


def reseal(tx: Tx, keys: Keyring, limit: int) -> int:
    """Seal a batch of rows with the key in use."""
    done = 0
    for column in SEALED_COLUMNS:
        if done < limit:
            done += _reseal(tx, keys, column, limit - done)
    return done


def _reseal(tx: Tx, keys: Keyring, column: SealedColumn, limit: int) -> int:
    columns = (*column.more, column.name)
    rows = unreadable.pages(tx, column.table, column.names, columns, _other(column, keys.key_name))
    done = 0
    for *names, text in rows:
        if done == limit:
            break
        new = _resealed(keys, text, column.context(tuple(names)))
        done += new != text
        _write(tx, column, names, text, new)
    return done


def find_unreadable(tx: Tx, keys: Keyring) -> list[UnreadableValue]:
    """Rows with a box that another key sealed and that no key opens."""
    return [value for column in SEALED_COLUMNS for value in _unreadable_in(tx, keys, column)]


def _unreadable_in(tx: Tx, keys: Keyring, column: SealedColumn) -> Iterator[UnreadableValue]:
    columns = (*column.more, column.name, unreadable.customer_name(column.table))
    where = _other(column, keys.key_name)
    for *names, text, organization in unreadable.pages(
        tx, column.table, column.names, columns, where
    ):
        about = column.context(tuple(names))
        others = [box for _, box in _BOX.findall(text) if not box.startswith(f"{keys.key_name}.")]
        unreadable.check_unreadable(any(unreadable.is_readable(keys, b, about) for b in others))
        row = dict(zip(column.names, names, strict=False))
        yield UnreadableValue(column.table, column.name, row, organization)


def _resealed(keys: Keyring, text: str, context: str) -> str:
    """The same text with every value sealed by the key in use."""

    def reseal_match(match: re.Match[str]) -> str:
        try:
            return match[1] + keys.seal(keys.unseal(match[2], context), context)
        except Unavailable:
            log.error("sealed value cannot be decrypted; not changed context=%s", context)
            return match[0]

    return _BOX.sub(reseal_match, text)
