"""A workshop for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from cast import Cast
from handclock import HandClock
from jobs.workshop import Workshop


@pytest.fixture
def shop(db: Database, keys: Keyring, clock: HandClock, cast: Cast) -> Workshop:
    return Workshop(db, keys, cast, clock)
