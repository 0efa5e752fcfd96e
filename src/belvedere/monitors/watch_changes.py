"""The number of each host's list of monitors, and which monitor changed at which number.

Every change takes a number of its own from the host's row in `watches`, which stays locked until
the commit: numbers become visible in their order.
"""

from collections.abc import Sequence

import msgspec

from belvedere.db import Row, Tx
from belvedere.db.signals import checks_changed

_ADD_NUMBERS = (
    "insert into watches (host_id, number, stream, batch, complete_from, recorded)"
    " values (?, ?, '', 0, 0, ?) on conflict (host_id) do update set"
    " complete_from = case when watches.recorded = watches.number"
    " then watches.complete_from else watches.number end,"
    " number = watches.number + excluded.number, recorded = watches.number + excluded.number"
)
_RECORD = (
    "insert into watch_changes (host_id, monitor_id, number) values (?, ?, ?)"
    " on conflict (host_id, monitor_id) do update set number = excluded.number"
)


def record(tx: Tx, host_id: str | None, *monitor_ids: str) -> None:
    """Record that the host's agent must get these monitors, or remove them."""
    if host_id is None or not monitor_ids:
        return
    count = len(monitor_ids)
    first = tx.value(f"{_ADD_NUMBERS} returning number", host_id, count, count) - count + 1
    rows = [(host_id, monitor_id, first + n) for n, monitor_id in enumerate(monitor_ids)]
    if count == 1:
        tx.execute(_RECORD, *rows[0])
    else:
        tx.execute_many(_RECORD, rows)
    tx.signals.add(checks_changed(host_id))


def record_all(tx: Tx, host_id: str) -> None:
    """Record that the host's agent must get the complete list."""
    tx.execute(_ADD_NUMBERS, host_id, 1, 1)
    tx.execute("update watches set complete_from = number where host_id = ?", host_id)
    tx.signals.add(checks_changed(host_id))


def numbers(tx: Tx, host_ids: Sequence[str]) -> dict[str, int]:
    """The number of the current list of each host that has one."""
    rows = tx.rows(
        f"select host_id, number from watches where host_id in {tx.dialect.in_texts}",
        msgspec.json.encode(list(host_ids)).decode(),
    )
    return {host_id: number for host_id, number in rows}


def fingerprint(tx: Tx) -> tuple[int, int]:
    """Changes whenever the list of any host changes: numbers only grow."""
    row = tx.row("select count(*), coalesce(sum(number), 0) from watches")
    assert row is not None
    return int(row[0]), int(row[1])


def state(tx: Tx, host_id: str) -> tuple[int, int]:
    """(number of the list, number after which every change has a row)."""
    row = tx.row("select number, complete_from, recorded from watches where host_id = ?", host_id)
    number, complete_from, recorded = row or (0, 0, 0)
    return number, complete_from if recorded == number else number


def list_after(tx: Tx, host_id: str, number: int, limit: int) -> list[Row]:
    """(monitor, number) of the changes after a number, in their order."""
    return tx.rows(
        "select monitor_id, number from watch_changes where host_id = ? and number > ?"
        " order by number limit ?",
        host_id,
        number,
        limit,
    )


def delete_monitor(tx: Tx, monitor_id: str) -> None:
    """Drop the change of a monitor deleted long ago; agents that missed it get a complete list."""
    rows = tx.rows(
        "delete from watch_changes where monitor_id = ? returning number, host_id", monitor_id
    )
    for number, host_id in rows:
        tx.execute(
            "update watches set complete_from = ? where host_id = ? and complete_from < ?",
            number,
            host_id,
            number,
        )
