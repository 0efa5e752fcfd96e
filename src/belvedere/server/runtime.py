"""The state of one server process, built once by `wiring`. Handlers see only its `Services`."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belvedere.access.request import AnyRequest
from belvedere.access.services import Services
from belvedere.base.clock import Millis, ObservedDurations
from belvedere.base.counters import RequestCounts
from belvedere.base.errors import Unavailable
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.drain.state import DrainState
from belvedere.server.storage import Storage
from belvedere.server.transport.proxies import Proxies

if TYPE_CHECKING:
    from belvedere.server.agents.registry import AgentRegistry
    from belvedere.server.console.assets import ConsoleAssets
    from belvedere.server.console.docs_site import DocsSite
    from belvedere.server.http.authentication import CredentialCache
    from belvedere.server.http.routing import Router
    from belvedere.server.loop_watchdog import Watchdog
    from belvedere.server.redis.publisher import RedisPublisher
    from belvedere.server.transport.connections import Connections


@dataclass(slots=True)
class ServerRuntime(Services):
    """The services of the handlers, and the state that only the server itself uses."""

    started_at: Millis = 0
    # Silent hosts and attempts past their deadline, and for how long.
    silent: ObservedDurations[str] = field(default_factory=ObservedDurations)
    overdue: ObservedDurations[int] = field(default_factory=ObservedDurations)
    # Attempts to start a schedule that the database ended because they took too long.
    slow_schedules: Counter[str] = field(default_factory=Counter)
    # Agent connections without a session.
    handshakes: Handshakes = field(default_factory=Handshakes)
    # Whether this server is stopping.
    drain: DrainState = field(default_factory=DrainState)
    # Storage of the organizations.
    storage: Storage = field(default_factory=lambda: Storage(0))
    # Requests that were answered, for metrics.
    requests: RequestCounts = field(default_factory=RequestCounts)
    # Trusted proxies, and undeclared ones.
    proxies: Proxies = field(init=False)
    agents: "AgentRegistry" = field(init=False)
    credentials: "CredentialCache" = field(init=False)
    router: "Router" = field(init=False)
    # Reports a blocked event loop.
    watchdog: "Watchdog" = field(init=False)
    # Open HTTP connections.
    connections: "Connections" = field(init=False)
    # Whether agents may connect; not while lost work is recovered after a database failover.
    admits_agents: bool = True
    recovery: "asyncio.Task[None] | None" = None
    # Publishes the ends of jobs, if a server is configured.
    redis: "RedisPublisher | None" = None
    # The built console and documentation.
    assets: "ConsoleAssets" = field(init=False)
    docs: "DocsSite" = field(init=False)

    def check_admission(self) -> None:
        """Refuse an agent while this server stops, or recovers lost work."""
        if self.drain.refuses_agents:
            raise Unavailable("This server is stopping; connect again.")
        if not self.admits_agents:
            raise Unavailable("Another database server took over; connect again.")


def runtime_of(request: AnyRequest) -> ServerRuntime:
    """For the handlers of this package; those of the features see `Services` only."""
    services = request.services
    assert isinstance(services, ServerRuntime)
    return services
