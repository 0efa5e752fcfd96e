"""The steps for every test."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from manual_clock import ManualClock
from people import Actors
from workflows.workflow_steps import WorkflowSteps


@pytest.fixture
def steps(db: Database, keys: Keyring, clock: ManualClock, actors: Actors) -> WorkflowSteps:
    return WorkflowSteps(db, keys, actors, clock)
