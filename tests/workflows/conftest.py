"""A yard for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from manual_clock import HandClock
from people import Cast
from workflows.workflow_steps import Yard


@pytest.fixture
def yard(db: Database, keys: Keyring, clock: HandClock, cast: Cast) -> Yard:
    return Yard(db, keys, cast, clock)
