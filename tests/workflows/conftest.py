"""A yard for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from cast import Cast
from handclock import HandClock
from workflows.yard import Yard


@pytest.fixture
def yard(db: Database, keys: Keyring, clock: HandClock, cast: Cast) -> Yard:
    return Yard(db, keys, cast, clock)
