"""A yard for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from manual_clock import ManualClock
from people import Actors
from workflows.workflow_steps import Yard


@pytest.fixture
def yard(db: Database, keys: Keyring, clock: ManualClock, actors: Actors) -> Yard:
    return Yard(db, keys, actors, clock)
