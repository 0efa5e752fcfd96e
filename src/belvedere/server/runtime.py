"""What one server process holds: built once by `wiring`. Handlers get its part `Services`."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belvedere.access.request import AnyRequest
from belvedere.access.services import Services
from belvedere.base.clock import Millis, ObservedDurations
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.storage import Storage
from belvedere.server.transport.proxies import Proxies

if TYPE_CHECKING:
    from belvedere.server.agents.registry import AgentRegistry
    from belvedere.server.console.assets import Shelf
    from belvedere.server.http.authentication import Credentials
    from belvedere.server.http.routing import Table
    from belvedere.server.loop_watchdog import Watchdog
    from belvedere.server.transport.connections import Connections


@dataclass(slots=True)
class ServerRuntime(Services):
    """The services of the handlers, and what only the server itself uses."""

    started_at: Millis = 0
    # Hosts that do not send and attempts past their deadline, and for how long already.
    silent: ObservedDurations[str] = field(default_factory=ObservedDurations)
    overdue: ObservedDurations[int] = field(default_factory=ObservedDurations)
    # Agents that connect.
    handshakes: Handshakes = field(default_factory=Handshakes)
    # What organizations store.
    storage: Storage = field(default_factory=lambda: Storage(0))
    # Whose forwarded headers count, and who sends some without being declared.
    proxies: Proxies = field(init=False)
    agents: "AgentRegistry" = field(init=False)
    credentials: "Credentials" = field(init=False)
    table: "Table" = field(init=False)
    # Notices when the event loop is blocked.
    watchdog: "Watchdog" = field(init=False)
    # HTTP connections that are open.
    connections: "Connections" = field(init=False)
    # Whether agents may connect; not while lost work is found after a failover of the database.
    admits_agents: bool = True
    recovery: "asyncio.Task[None] | None" = None
    # The built console.
    shelf: "Shelf" = field(init=False)


def runtime_of(request: AnyRequest) -> ServerRuntime:
    """For the handlers of this package; those of the features see `Services` only."""
    services = request.services
    assert isinstance(services, ServerRuntime)
    return services
