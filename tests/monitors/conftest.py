"""A tower: a host whose agent is connected."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from manual_clock import HandClock
from monitors.monitor_steps import Tower
from people import Cast


@pytest.fixture
def tower(db: Database, keys: Keyring, cast: Cast, clock: HandClock) -> Tower:
    return Tower(db, keys, cast, clock).build()
