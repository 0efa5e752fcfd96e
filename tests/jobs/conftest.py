"""A workshop for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from jobs.job_steps import Workshop
from manual_clock import HandClock
from people import Cast


@pytest.fixture
def shop(db: Database, keys: Keyring, clock: HandClock, cast: Cast) -> Workshop:
    return Workshop(db, keys, cast, clock)
