"""What one server process holds: built once, handed to every room."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belvedere.access.keys import Keys
from belvedere.access.limits import Limits, Window
from belvedere.access.turnstile import Turnstile
from belvedere.base.clock import Clock, Millis, wall
from belvedere.base.lane import Lane
from belvedere.base.steady import Observed
from belvedere.db import Database
from belvedere.events.hub import Hub
from belvedere.jobs.api_agent import EndsInProgress
from belvedere.notifications.couriers import Couriers
from belvedere.rest.budget import HeavyReads
from belvedere.schedules.targets import Targets
from belvedere.server.handshakes import Handshakes
from belvedere.server.proxies import Proxies
from belvedere.server.scheduled import TARGETS
from belvedere.server.settings import Settings
from belvedere.server.storage import Storage
from belvedere.statuspages.recent import Recent

if TYPE_CHECKING:
    from belvedere.rest.route import Handler
    from belvedere.server.auth import Credentials
    from belvedere.server.connections import Connections
    from belvedere.server.console.shelf import Shelf
    from belvedere.server.feed import Feed
    from belvedere.server.links import Links
    from belvedere.server.table import Table
    from belvedere.server.watchdog import Watchdog


@dataclass(slots=True)
class House:
    """The open databases, the keys, the doorbell, and who is connected."""

    settings: Settings
    db: Database
    logs: Database
    keys: Keys
    hub: Hub
    limits: Limits
    turnstile: Turnstile
    clock: Clock = wall
    started_at: Millis = 0
    # Hosts that do not speak and attempts past their deadline, and for how long already.
    silent: Observed[str] = field(default_factory=Observed)
    overdue: Observed[int] = field(default_factory=Observed)
    # Scripts that are looked at before they are saved.
    checks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    # Lists with large values that are read now.
    heavy_reads: Lane = field(default_factory=lambda: Lane(HeavyReads()))
    # Agents that connect.
    handshakes: Handshakes = field(default_factory=Handshakes)
    # Bytes of ends that agents are sending over plain HTTP, by host.
    ends_in_progress: EndsInProgress = field(default_factory=dict)
    # What organizations store.
    storage: Storage = field(default_factory=lambda: Storage(0))
    # Set when the server goes: endless streams end.
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    # Whose forwarded headers count, and who sends some without being declared.
    proxies: Proxies = field(init=False)
    # What strangers were shown a moment ago.
    status_pages: Recent = field(init=False)
    # Requests per secret key within a second.
    secret_uses: Window = field(init=False)
    # They carry messages out.
    couriers: Couriers = field(init=False)
    links: "Links" = field(init=False)
    feed: "Feed" = field(init=False)
    credentials: "Credentials" = field(init=False)
    table: "Table" = field(init=False)
    # Notices when the event loop is blocked.
    watchdog: "Watchdog" = field(init=False)
    # HTTP connections that are open.
    connections: "Connections" = field(init=False)
    # The built console.
    shelf: "Shelf" = field(init=False)
    # What a schedule can start.
    schedule_targets: Targets = field(default_factory=lambda: TARGETS)
    # How an agent of the original asks for work, under the address of the list of jobs.
    poll: "Handler" = field(init=False)

    @property
    def reserved(self) -> frozenset[str]:
        """First segments of our own paths: no organization can be called so."""
        return self.table.reserved
