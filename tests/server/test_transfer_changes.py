"""The stop of `belvedere migrate`: rows that were compared before are compared again only if they
have changed."""

from collections.abc import Callable
from typing import Any

import pytest

from belvedere.base import failpoints
from belvedere.base.errors import Conflict
from belvedere.bench.measure import fixture
from belvedere.db import Tx
from belvedere.db.backup.copy import Location
from belvedere.db.migrate import table_exists
from belvedere.db.transfer import changes
from belvedere.db.transfer.change_copy import ChangeCopy
from belvedere.db.transfer.changes import ChangeLog
from belvedere.db.transfer.comparison import Comparison
from belvedere.db.transfer.postgres_side import PostgresSide
from belvedere.db.transfer.run import source_of
from belvedere.db.transfer.sqlite_side import SqliteSide
from belvedere.db.transfer.tables import Checksum, Table
from belvedere.jobs.output import log_store
from belvedere.server.wiring import open_databases
from server.test_transfer import (
    Installation,
    ProcessKill,
    change,
    check_moved,
    check_schema,
    execute,
    kill_at,
    place_of_installation,
    site,
    tables_of,
)

__all__ = ["place_of_installation", "site"]


def steps_of(names: list[str]) -> set[str]:
    return {name.split()[0] for name in names}


def use_server(site: Installation) -> None:
    """New, changed and deleted rows, changed keys, and output of a job in the log store."""
    site.db.write_blocking(change, site.place)
    site.db.write_blocking(fixture.create, site.place)
    site.db.write_blocking(change_keys)
    pieces = [log_store.LogPiece(7, "0" * 24, 0, 0, b"line\n")]
    site.databases[-1].write_blocking(log_store.append, pieces)


def change_keys(tx: Tx) -> None:
    tx.execute("update monitor_rollups set at = at + 100 where at > 2")
    # Deleted and inserted again, and unique values that two rows exchange.
    rows = tx.rows("select name, value from meta where name = 'key_check'")
    tx.execute("delete from meta where name = 'key_check'")
    tx.execute_many("insert into meta (name, value) values (?, ?)", rows)
    ids = [user_id for (user_id,) in tx.rows("select id from users order by id limit 2")]
    emails = {user_id: f"{user_id}@other.test" for user_id in ids}
    for user_id, email in zip(ids, reversed(emails.values()), strict=True):
        tx.execute("update users set email = ? where id = ?", f"{email}.new", user_id)


def test_changes_after_the_comparison_are_moved(site: Installation) -> None:
    steps: list[str] = []
    record = site.move(steps, before_stop=lambda: use_server(site))
    assert record.is_complete and record.changed > 0
    # The whole tables are not read again.
    assert {"update"} == steps_of(steps) - {"copy", "create", "compare", "checksum"}
    assert {name for name in steps if name.startswith("compare")} == {"compare changes"}
    check_schema(site)
    check_moved(site)


def test_changes_during_the_comparison_are_moved(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In tables that were compared, and in tables that were not."""
    compare = Comparison._compare

    def compare_and_change(self: Comparison, table: Table, *rest: Any) -> Checksum:
        checksum = compare(self, table, *rest)
        if table.name == "monitor_rollups":
            use_server(site)
        return checksum

    monkeypatch.setattr(Comparison, "_compare", compare_and_change)
    assert site.move().is_complete
    check_moved(site)


class ReadCounter:
    """The rows of both databases that are read from the stop on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = self.counts = 0
        self._is_stopped = False
        monkeypatch.setattr(failpoints, "reach", self._reach)
        for side in (SqliteSide, PostgresSide):
            for name in ("read", "fetch", "list_keys"):
                self._count(monkeypatch, side, name, len)
            for name in ("checksum", "checksum_all"):
                self._count(monkeypatch, side, name, lambda checksum: checksum.rows)
            self._count(monkeypatch, side, "count", self._add_count)

    def _add_count(self, _: int) -> int:
        """A table is read as a whole to count it."""
        self.counts += self._is_stopped
        return 0

    def _reach(self, point: str) -> None:
        self._is_stopped |= point == "migrate stopped"

    def _count(
        self, monkeypatch: pytest.MonkeyPatch, side: type, name: str, size: Callable[[Any], int]
    ) -> None:
        method = getattr(side, name)

        def count(*args: Any) -> Any:
            result = method(*args)
            amount = size(result)
            self.rows += amount if self._is_stopped else 0
            return result

        monkeypatch.setattr(side, name, count)


def add_rows(tx: Tx, count: int) -> None:
    tx.execute_many(
        "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
        " values ('m', 'load', 1, ?, 1, 1.0, 1.0, 1.0)",
        [(1_000 + number,) for number in range(count)],
    )


@pytest.mark.parametrize("rows", [10, 3_000])
def test_the_stop_reads_what_has_changed(
    site: Installation, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """However many rows there are: three of the source, and three of the target."""
    site.db.write_blocking(add_rows, rows)
    counter = ReadCounter(monkeypatch)

    def change_three() -> None:
        site.db.write_blocking(
            lambda tx: tx.execute("update monitor_rollups set count = 2 where at in (1000, 1001)")
        )
        site.db.write_blocking(lambda tx: tx.execute("delete from monitor_rollups where at = 1002"))

    record = site.move(before_stop=change_three)
    assert (record.is_complete, record.changed) == (True, 3)
    assert 0 < counter.rows <= 15
    # The rows are counted before, and the number continues with every change.
    assert counter.counts == 0
    assert record.rows == sum(map(len, tables_of(site.settings).values()))
    check_moved(site)


def test_a_server_that_starts_drops_the_triggers_of_a_killed_transfer(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", kill_at("migrate recording"))
        with pytest.raises(ProcessKill):
            site.move()
    assert all(has_changes(site))
    site.stop()
    db, logs = open_databases(site.settings)
    site.databases = [db] if logs is db else [db, logs]
    assert not any(has_changes(site))
    db.write_blocking(change, site.place)
    assert site.move(before_stop=lambda: use_server(site)).is_complete
    check_moved(site)


def has_changes(site: Installation) -> list[bool]:
    return [db.write_blocking(table_exists, changes.TABLE) for db in site.databases]


def test_everything_is_compared_if_a_server_was_started_meanwhile(site: Installation) -> None:
    """It has dropped the triggers, so changes may not have been recorded."""

    def restart() -> None:
        for db in site.databases:
            changes.drop_leftovers(db.write_blocking)
        use_server(site)

    steps: list[str] = []
    assert site.move(steps, before_stop=restart).is_complete
    assert "verify" in steps_of(steps)
    check_moved(site)


def test_everything_is_compared_if_there_are_too_many_changes(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("changes", "sqlite_side", "postgres_side"):
        monkeypatch.setattr(f"belvedere.db.transfer.{module}.MAX_CHANGES", 5)
    steps: list[str] = []
    assert site.move(steps, before_stop=lambda: use_server(site)).is_complete
    assert "verify" in steps_of(steps)
    check_moved(site)


def test_a_row_that_the_target_does_not_store_is_detected(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed row is read again after it was written."""
    reach = failpoints.reach

    def lose_rows(point: str) -> None:
        reach(point)
        if point == "migrate stopped":
            for side in (SqliteSide, PostgresSide):
                for name in ("replace", "insert", "upsert"):
                    monkeypatch.setattr(side, name, lambda *_: None)

    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", lose_rows)
        with pytest.raises(Conflict, match="tasks differs after the copy: 1 rows in .*, 0 in"):
            site.move(before_stop=lambda: rename_tasks(site))
    check_usable(site)


def rename_tasks(site: Installation) -> None:
    site.db.write_blocking(lambda tx: tx.execute("update tasks set name = name || 'x'"))


def check_usable(site: Installation) -> None:
    """The source, without triggers."""
    db, logs = open_databases(site.settings)
    site.databases = [db] if logs is db else [db, logs]
    assert not any(has_changes(site))


def test_a_row_of_somebody_else_in_the_target_is_deleted(site: Installation) -> None:
    """A write of another process is detected, and every row is compared during the stop."""

    def add_elsewhere() -> None:
        execute(
            site,
            "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
            # It is called again while the server is still listed.
            " values ('x', 'load', 1, 1, 1, 1.0, 1.0, 1.0) on conflict do nothing",
        )

    assert site.move(before_stop=add_elsewhere).is_complete
    check_moved(site)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_row_that_somebody_else_changes_in_the_target_is_copied_again(
    site: Installation, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """After it was compared: the checksum of its table differs. After the checksums were compared:
    the write is detected."""
    compare = ChangeCopy.compare
    calls: list[None] = []

    def change_once() -> None:
        if not calls:
            calls.append(None)
            execute(site, "update tasks set name = 'tampered'")

    def change_and_compare(self: ChangeCopy, changes: ChangeLog) -> bool:
        if not is_late:
            change_once()
        is_equal = compare(self, changes)
        assert is_equal is is_late
        return is_equal

    monkeypatch.setattr(ChangeCopy, "compare", change_and_compare)
    record = site.move(before_stop=change_once)
    assert (record.is_complete, record.changed) == (True, 1)
    check_schema(site)
    check_moved(site)


def test_an_error_leaves_no_triggers(site: Installation) -> None:
    def fail() -> None:
        raise Conflict("stopped")

    with pytest.raises(Conflict, match="stopped"):
        site.move(before_stop=fail)
    assert not any(has_changes(site))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_change_that_commits_late_is_not_lost(site: Installation) -> None:
    """Its number is lower than that of changes that were read before."""
    source = source_of(Location(site.settings.database_url, site.settings.folder))
    tables = [Table("monitor_rollups", {"at": "bigint"}, ("at",))]
    with source.record_changes(tables, "1") as change_log:
        change_log.start()
        batches: list[list[tuple[object, ...]]] = []
        with engines_connection(site) as connection:
            connection.execute("update monitor_rollups set count = 3 where at = 1")
            site.db.write_blocking(
                lambda tx: tx.execute("update monitor_rollups set count = 3 where at = 2")
            )
            take(change_log, batches)
            connection.execute("commit")
        take(change_log, batches)
        assert batches == [[(2,), (2,)], [(1,), (1,)]] and change_log.is_complete()
        change_log.drop()


def take(change_log: ChangeLog, batches: list[list[tuple[object, ...]]]) -> None:
    change_log.take(lambda batch: batches.append([change.key for change in batch]))


def engines_connection(site: Installation) -> Any:
    import psycopg

    return psycopg.connect(site.settings.database)
