"""Databases that already have the members, and the hosts, with which most tests begin.

Creating them takes longer than most tests, so it is done every few seconds, and each test gets a
copy.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engines
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis, wall
from belvedere.db import Database, Tx
from manual_clock import ManualClock
from people import Actors, assemble

# Tests without a manual clock see their members as this old at most, as on a slow machine.
MAX_AGE: Millis = 30 * SECOND


@dataclass(frozen=True)
class InitialDatabase:
    """A template and its content."""

    template: str
    actors: Actors
    # The result of `create`, which is None for a database with only the members.
    objects: Any
    created_at: Millis


Create = Callable[[Tx, Keyring, Actors], Any]
# What to create besides the members, and when: None is now.
Kind = tuple[Create | None, Millis | None]


class InitialDatabases:
    """The newest of each kind, on one engine."""

    def __init__(self, empty: str, folder: Path, keys: Keyring) -> None:
        self._empty, self._folder, self._keys = empty, folder, keys
        self._newest: dict[Kind, InitialDatabase] = {}
        self._copies: dict[Kind, ExitStack] = {}

    def newest(self, create: Create | None, at: Millis | None = None) -> InitialDatabase:
        """With the members, and with the objects that `create` makes."""
        kind = (create, at)
        if kind not in self._newest or (at is None and _is_old(self._newest[kind])):
            self._copies.pop(kind, ExitStack()).close()
            self._copies[kind] = ExitStack()
            url = self._copies[kind].enter_context(engines.copy(self._empty, self._folder))
            self._newest[kind] = self._fill(url, create, at)
        return self._newest[kind]

    def _fill(self, url: str, create: Create | None, at: Millis | None) -> InitialDatabase:
        db, clock = engines.open_fast(url), ManualClock()
        clock.now = clock.now if at is None else at
        db.clock, db.sealer = clock, self._keys
        try:
            actors, objects = _write(db, self._keys, create)
        finally:
            # A database that is copied must have no connections.
            engines.close(db)
        return InitialDatabase(url, actors, objects, clock.now)

    def close(self) -> None:
        for copy in self._copies.values():
            copy.close()


def _is_old(database: InitialDatabase) -> bool:
    return not 0 <= wall() - database.created_at <= MAX_AGE


def _write(db: Database, keys: Keyring, create: Create | None) -> tuple[Actors, Any]:
    actors = db.write_blocking(assemble, keys)
    return actors, create and db.write_blocking(create, keys, actors)
