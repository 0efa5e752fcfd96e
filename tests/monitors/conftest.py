"""A host whose agent is connected."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from manual_clock import ManualClock
from monitors.monitor_steps import MonitorSteps
from people import Actors


@pytest.fixture
def steps(db: Database, keys: Keyring, actors: Actors, clock: ManualClock) -> MonitorSteps:
    return MonitorSteps(db, keys, actors, clock).build()
