"""Sealing what older versions wrote in clear, and sealing it again when the key changes.

Rows are sealed when they are written. What was there before is sealed in the background, a batch at
a time in the order of ids; `meta` keeps how far each table is done, so that a start does not begin
again. Rows with a box inside are found by how their text begins.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.server.encryption import unreadable
from belvedere.server.encryption.columns import CLEANED, PLACES, Place, Row
from belvedere.server.encryption.unreadable import UnreadableValue

# Rows per transaction, and transactions of one turn of the loop.
BATCH, MAX_BATCHES = 200, 20
DONE = "done"
log = logging.getLogger("belvedere.keys")
# The box of a text, of an object, or of an element. Quotes inside of values are escaped.
_BOX = re.compile(r'(^\$sealed:|^\{"\$sealed":"|[\[,]\{"\$sealed":")([A-Za-z0-9+/=.]+)')


def pending(tx: Tx) -> list[Place]:
    """Columns that are not done yet."""
    rows = tx.rows("select name from meta where name like 'sealing:%' and value = ?", DONE)
    done = {name for (name,) in rows}
    return [place for place in (*PLACES, *CLEANED) if _mark(place) not in done]


def seal_batch(tx: Tx, place: Place) -> int:
    """The next rows of a column; how many were looked at. None left: it is done."""
    rows = _next(tx, place)
    for *names, text in rows:
        if text is not None and not text.startswith((sealed_values.OBJECT, sealed_values.TEXT)):
            _write(tx, place, names, text, place.seal(tx, text, tuple(names)))
    last = rows[-1][: len(place.names)] if len(rows) == BATCH else None
    _keep_mark(tx, place, DONE if last is None else msgspec.json.encode(last).decode())
    return len(rows)


def _next(tx: Tx, place: Place) -> list[Row]:
    kept = tx.value("select value from meta where name = ?", _mark(place))
    names = ", ".join(place.names)
    # Every batch is a search in the index, also the first: ids are texts and never empty.
    start = [""] if kept is None else msgspec.json.decode(kept)
    columns = ", ".join(place.names[: len(start)])
    return tx.rows(
        f"select {', '.join((*place.names, *place.more, place.column))} from {place.table}"
        f" where ({columns}) > ({', '.join('?' for _ in start)}) order by {names} limit {BATCH}",
        *start,
    )


def _write(tx: Tx, place: Place, names: list[Any], old: str, new: str | None) -> None:
    """Only what was read: somebody may have written another text meanwhile."""
    if new == old:
        return
    where = " and ".join(f"{name} = ?" for name in place.names)
    keys = (*names[: len(place.names)], old)
    if place.copy:
        tx.execute(
            f"update {place.table} set {place.copy} = ? where {where} and {place.copy} = ?",
            new,
            *keys,
        )
    tx.execute(
        f"update {place.table} set {place.column} = ? where {where} and {place.column} = ?",
        new,
        *keys,
    )


def _mark(place: Place) -> str:
    return f"sealing:{place.table}.{place.column}"


def _keep_mark(tx: Tx, place: Place, value: str) -> None:
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        _mark(place),
        value,
    )


# When the key changes


def left(tx: Tx, name: str) -> int:
    """How many rows another key seals."""
    return sum(
        int(tx.value(f"select count(*) from {one.table} where {_other(one, name)}"))
        for one in PLACES
    )


def count(tx: Tx, name: str) -> int:
    """How many rows this key seals; the first key has no name, and its boxes no dot."""
    return sum(
        int(tx.value(f"select count(*) from {one.table} where {_mine(one, name)}"))
        for one in PLACES
    )


def _other(place: Place, name: str) -> str:
    """A list of arguments may hold several boxes, of which this key sealed only some."""
    if name:
        others = f"replace({place.column}, '{place.box}{name}.', '')"
        return f"{_any(place)} and {others} like '{place.sign}%'"
    return f"{_any(place)} and not {_mine(place, name)}"


def _mine(place: Place, name: str) -> str:
    if name:
        return f"{place.column} like '{place.sign}{name}.%'"
    return f"({_any(place)} and {place.column} not like '{place.sign}____________.%')"


def _any(place: Place) -> str:
    return f"{place.column} like '{place.sign}%'"


def reseal(tx: Tx, keys: Keyring, most: int) -> int:
    """Seal a batch of rows with the key in use."""
    done = 0
    for place in PLACES:
        if done < most:
            done += _reseal(tx, keys, place, most - done)
    return done


def _reseal(tx: Tx, keys: Keyring, place: Place, most: int) -> int:
    columns = (*place.more, place.column)
    rows = unreadable.pages(tx, place.table, place.names, columns, _other(place, keys.key_name))
    done = 0
    for *names, text in rows:
        if done == most:
            break
        new = _again(keys, text, place.about(tuple(names)))
        done += new != text
        _write(tx, place, names, text, new)
    return done


def find_unreadable(tx: Tx, keys: Keyring) -> list[UnreadableValue]:
    """Rows with a box that another key sealed and that no key opens."""
    return [value for place in PLACES for value in _unreadable_in(tx, keys, place)]


def _unreadable_in(tx: Tx, keys: Keyring, place: Place) -> Iterator[UnreadableValue]:
    columns = (*place.more, place.column, unreadable.customer_name(place.table))
    where = _other(place, keys.key_name)
    for *names, text, organization in unreadable.pages(
        tx, place.table, place.names, columns, where
    ):
        about = place.about(tuple(names))
        others = [box for _, box in _BOX.findall(text) if not box.startswith(f"{keys.key_name}.")]
        unreadable.check_unreadable(any(unreadable.is_readable(keys, b, about) for b in others))
        row = dict(zip(place.names, names, strict=False))
        yield UnreadableValue(place.table, place.column, row, organization)


def _again(keys: Keyring, text: str, about: str) -> str:
    """The same text with every box sealed by the key in use."""

    def fresh(found: re.Match[str]) -> str:
        try:
            return found[1] + keys.seal(keys.unseal(found[2], about), about)
        except Unavailable:
            log.error("a sealed value cannot be opened; it stays as it is about=%s", about)
            return found[0]

    return _BOX.sub(fresh, text)
