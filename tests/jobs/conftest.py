"""A workshop for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from jobs.job_steps import Workshop
from manual_clock import ManualClock
from people import Actors


@pytest.fixture
def shop(db: Database, keys: Keyring, clock: ManualClock, actors: Actors) -> Workshop:
    return Workshop(db, keys, actors, clock)
