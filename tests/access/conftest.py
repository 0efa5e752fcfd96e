"""The endpoints of access, with only the parts of the server that they need."""

from types import SimpleNamespace

import pytest

from access.endpoints import Endpoints
from belvedere.access import Actor, Keyring, Level, LoginLimits, PasswordChecker
from belvedere.base.fair_queue import Lane
from belvedere.db import Database
from belvedere.db.search_lane import SearchLane
from belvedere.rest.response_budget import HeavyReads
from belvedere.settings import Settings
from manual_clock import ManualClock

RESERVED = frozenset({"job", "task", "api", "ui", "-"})


@pytest.fixture
def anonymous() -> Actor:
    return Actor("", "", Level.ANONYMOUS, "anonymous", address="198.51.100.7")


@pytest.fixture
def endpoints(db: Database, keys: Keyring, clock: ManualClock) -> Endpoints:
    new_endpoints = Endpoints(None)

    async def sleep(seconds: float) -> None:
        new_endpoints.slept.append(seconds)

    checker = PasswordChecker(LoginLimits(clock), sleep)
    new_endpoints.runtime = SimpleNamespace(
        db=db, keyring=keys, passwords=checker, reserved=RESERVED
    )
    new_endpoints.runtime.settings = Settings(url="https://belvedere.test")
    new_endpoints.runtime.heavy_reads = Lane(HeavyReads())
    new_endpoints.runtime.searches = SearchLane()
    return new_endpoints
