"""Constraints of a moved database: they are created before the stop, and hold for what changes
afterwards."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service
from belvedere.base import failpoints
from belvedere.bench.measure import fixture
from belvedere.db import Tx
from belvedere.db.transfer.change_copy import ChangeCopy
from belvedere.db.transfer.changes import ChangeLog
from belvedere.db.transfer.postgres_side import PostgresSide
from belvedere.db.transfer.side import Violation
from belvedere.db.transfer.sqlite_side import SqliteSide
from server.test_transfer import (
    SECRET,
    Installation,
    ProcessKill,
    change,
    check_moved,
    check_schema,
    kill_at,
    place_of_installation,
    site,
)

__all__ = ["place_of_installation", "site"]


class StatementLog:
    """What creates indexes, constraints and triggers from the stop on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[str] = []
        self._is_stopped = False
        monkeypatch.setattr(failpoints, "reach", self._reach)
        for side in (SqliteSide, PostgresSide):
            monkeypatch.setattr(side, "create", self._log(side.create))

    def _reach(self, point: str) -> None:
        self._is_stopped |= point == "migrate stopped"

    def _log(self, create: Callable[[Any, Sequence[str]], Iterator[int]]) -> object:
        def log(side: object, statements: Sequence[str]) -> Iterator[int]:
            self.statements += statements if self._is_stopped else []
            return create(side, statements)

        return log


def test_the_stop_creates_only_triggers(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that reads the rows of a table."""
    log = StatementLog(monkeypatch)
    assert site.move(before_stop=lambda: site.db.write_blocking(change, site.place)).is_complete
    kinds = {" ".join(text.lower().split()[:2]) for text in log.statements}
    assert kinds == {"create trigger"}
    check_schema(site)
    check_moved(site)


def add_dependents(tx: Tx) -> None:
    """Rows that are deleted together with the jobs and the organization."""
    tx.execute("insert into job_warnings (job_id, message) select id, 'late' from jobs")
    tx.execute("insert into storage_quotas (customer_id, bytes) select id, 1 from customers")


def change_owners(tx: Tx, site: Installation) -> None:
    """The rows that others refer to: a job passes through several states, and another one is
    replaced."""
    fixture.create(tx, site.place)
    [claimed] = fixture.claim(tx, site.place)
    fixture.finish(tx, site.place, claimed.job.fence)
    tx.execute("update customers set history_days = 7")
    old = tx.value("select min(id) from jobs where lifecycle = 'finished'")
    tx.execute("delete from attempts where job_id = ?", old)
    tx.execute("delete from jobs where id = ?", old)


def test_rows_that_refer_to_a_changed_row_stay(site: Installation) -> None:
    site.db.write_blocking(add_dependents)
    calls: list[None] = []

    def change_once() -> None:
        if not calls:
            calls.append(None)
            site.db.write_blocking(change_owners, site)

    assert site.move(before_stop=change_once).is_complete
    check_schema(site)
    check_moved(site)


def exchange_names(tx: Tx) -> None:
    """Of two organizations, which rows of other tables refer to."""
    for name, other in (("bench", "x"), ("other", "bench"), ("x", "other")):
        tx.execute("update customers set name_key = ? where name_key = ?", other, name)


def add_organization(tx: Tx) -> None:
    address = "other@localhost"
    service.create_customer(
        tx, Keyring(SECRET), "other", address, reserved=frozenset(), password_hash="-"
    )


@pytest.mark.parametrize("is_last", [False, True])
def test_unique_values_that_are_exchanged_are_moved(
    site: Installation, monkeypatch: pytest.MonkeyPatch, is_last: bool
) -> None:
    """PostgreSQL refuses them while its constraints exist, which are then created again: before the
    stop, if there is time."""
    site.db.write_blocking(add_organization)
    violations = count_violations(monkeypatch)
    copy = ChangeCopy.copy
    calls: list[None] = []

    def copy_and_change(self: ChangeCopy, changes: ChangeLog) -> None:
        if not calls and not is_last:
            calls.append(None)
            site.db.write_blocking(exchange_names)
        copy(self, changes)

    def change_once() -> None:
        if not calls:
            calls.append(None)
            site.db.write_blocking(exchange_names)

    monkeypatch.setattr(ChangeCopy, "copy", copy_and_change)
    log = StatementLog(monkeypatch)
    assert site.move(before_stop=change_once).is_complete
    assert len(violations) == (site.to != "sqlite")
    is_late = is_last and site.to != "sqlite"
    assert any("FOREIGN KEY" in text for text in log.statements) is is_late
    check_schema(site)
    check_moved(site)


def count_violations(monkeypatch: pytest.MonkeyPatch) -> list[Violation]:
    violations: list[Violation] = []
    copy = ChangeCopy.copy

    def count(self: ChangeCopy, changes: ChangeLog) -> None:
        try:
            copy(self, changes)
        except Violation as fault:
            violations.append(fault)
            raise

    monkeypatch.setattr(ChangeCopy, "copy", count)
    return violations


def test_a_copy_with_constraints_is_continued(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would refuse rows from different moments, or delete others; they are dropped first."""
    site.db.write_blocking(add_dependents)
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", kill_at("migrate constrained"))
        with pytest.raises(ProcessKill):
            site.move()
    site.db.write_blocking(change_owners, site)
    site.db.write_blocking(change, site.place)
    assert site.move(before_stop=lambda: site.db.write_blocking(change, site.place)).is_complete
    check_schema(site)
    check_moved(site)


def test_a_change_that_was_not_recorded_does_not_prevent_a_move(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that starts drops the triggers: the rows are then from different moments, and the
    constraints are created during the stop."""
    compare = ChangeCopy.compare

    def lose_changes(self: ChangeCopy, changes: ChangeLog) -> bool:
        changes.drop()
        site.db.write_blocking(change, site.place)
        return compare(self, changes)

    monkeypatch.setattr(ChangeCopy, "compare", lose_changes)
    assert site.move().is_complete
    check_schema(site)
    check_moved(site)
