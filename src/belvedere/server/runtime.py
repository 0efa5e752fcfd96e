"""What one server process holds: built once, handed to every room."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belvedere.access.crypto.keyring import Keys
from belvedere.access.limits.rate_limits import Limits, Window
from belvedere.access.signin.password_checker import Turnstile
from belvedere.base.clock import Clock, Millis, wall
from belvedere.base.fair_queue import Lane
from belvedere.base.steady import Observed
from belvedere.db import Database
from belvedere.db.search_lane import SearchLane
from belvedere.db.signals import Hub
from belvedere.egress.pool import Couriers
from belvedere.legacy_agents.job_reports import UploadsInProgress
from belvedere.rest.response_budget import HeavyReads
from belvedere.schedules.targets import Targets
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.storage import Storage
from belvedere.server.transport.proxies import Proxies
from belvedere.settings import Settings
from belvedere.statuspages.recent import Recent
from belvedere.workflows.schedule_targets import TARGETS

if TYPE_CHECKING:
    from belvedere.events.feed import Feed
    from belvedere.rest.route import Handler
    from belvedere.server.agents.registry import Links
    from belvedere.server.console.assets import Shelf
    from belvedere.server.http.authentication import Credentials
    from belvedere.server.http.routing import Table
    from belvedere.server.loop_watchdog import Watchdog
    from belvedere.server.transport.connections import Connections


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
    # Lists and searches that run now, and those that wait.
    searches: SearchLane = field(default_factory=SearchLane)
    # Agents that connect.
    handshakes: Handshakes = field(default_factory=Handshakes)
    # Bytes of ends that agents are sending over plain HTTP, by host.
    ends_in_progress: UploadsInProgress = field(default_factory=dict)
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
    # Whether agents may connect; not while lost work is found after a failover of the database.
    admits_agents: bool = True
    recovery: "asyncio.Task[None] | None" = None
    # What a schedule can start.
    schedule_targets: Targets = field(default_factory=lambda: TARGETS)
    # How an agent of the original asks for work, under the address of the list of jobs.
    poll: "Handler" = field(init=False)

    @property
    def reserved(self) -> frozenset[str]:
        """First segments of our own paths: no organization can be called so."""
        return self.table.reserved
