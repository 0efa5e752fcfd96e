"""The services that handlers use: the core services by name, those of a feature by their type."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, TypeVar

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.limits.rate_limits import LoginLimits, RateWindow
from belvedere.access.signin.password_checker import PasswordChecker
from belvedere.base.clock import Clock, wall
from belvedere.base.fair_queue import Lane
from belvedere.db import Database
from belvedere.db.search_lane import SearchLane
from belvedere.db.signals import SignalBus
from belvedere.egress.pool import EgressPool
from belvedere.events.feed import EventFeed
from belvedere.rest.response_budget import HeavyReads
from belvedere.settings import Settings

T = TypeVar("T")


@dataclass(slots=True)
class Services:
    settings: Settings
    db: Database
    # Output of jobs: a second file on SQLite, the same database on PostgreSQL.
    logs: Database
    keyring: Keyring
    signals: SignalBus
    limits: LoginLimits
    passwords: PasswordChecker
    clock: Clock = wall
    # Lists with large values that are being read.
    heavy_reads: Lane = field(default_factory=lambda: Lane(HeavyReads()))
    # Lists and searches that run now, and those that wait.
    searches: SearchLane = field(default_factory=SearchLane)
    # Set when the server stops: endless streams end.
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    # First segments of our own paths: no organization can have such a name.
    reserved: frozenset[str] = frozenset()
    # Requests per secret key within a second.
    secret_uses: RateWindow = field(init=False)
    # Processes that call other systems.
    egress: EgressPool = field(init=False)
    feed: EventFeed = field(init=False)
    # Services that only one feature needs, by their type.
    features: dict[type, Any] = field(default_factory=dict)

    def add(self, service: object) -> None:
        self.features[type(service)] = service

    def of(self, kind: type[T]) -> T:
        service: T = self.features[kind]
        return service
