"""The steps for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from jobs.job_steps import JobSteps
from manual_clock import ManualClock
from people import Actors


@pytest.fixture
def steps(db: Database, keys: Keyring, clock: ManualClock, actors: Actors) -> JobSteps:
    return JobSteps(db, keys, actors, clock)
