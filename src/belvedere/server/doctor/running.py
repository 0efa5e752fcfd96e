"""What only the running server knows: how often its event loop was blocked, and by what."""

from collections.abc import Iterable
from urllib.parse import quote

from belvedere.base.clock import iso
from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.http_client import Client
from belvedere.server import operator_socket
from belvedere.server.doctor.model import Finding, Patient, notice, ok
from belvedere.server.loop_watchdog import SLOW_S


def event_loop(patient: Patient) -> Iterable[Finding]:
    """Nothing when no server runs here, or one of an older version."""
    path = operator_socket.socket_path(patient.settings).absolute()
    try:
        with Client(f"unix:{quote(str(path))}") as client:
            state = client.post("/event-loop", {})
    except (ServerUnreachable, Problem):
        return
    limit_ms = round(SLOW_S * 1_000)
    if not state["slow"]:
        yield ok("event loop", f"It was not blocked for {limit_ms} ms since the server started.")
        return
    last = state["last"]
    yield notice(
        "event loop",
        f"It was blocked {state['slow']} times for more than {limit_ms} ms since the server"
        f" started, for {state['longest_ms']} ms at most; last at {iso(last['at'])} for"
        f" {last['ms']} ms by {last['route']} ({last['function']}).",
        "If the machine is not overloaded, report the route and the function.",
    )
