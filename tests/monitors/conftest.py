"""A tower: a host whose agent is connected."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from cast import Cast
from handclock import HandClock
from monitors.watchtower import Tower


@pytest.fixture
def tower(db: Database, keys: Keyring, cast: Cast, clock: HandClock) -> Tower:
    return Tower(db, keys, cast, clock).build()
