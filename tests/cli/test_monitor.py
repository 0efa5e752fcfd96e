"""Times in the output of `belvedere monitor`, which depend on the clock."""

from datetime import UTC, datetime, timedelta

import cli_records
from cli.conftest import Belvedere
from fake_server import FakeServer

PATH = f"/monitor/{cli_records.MONITOR_ID}"


def prepare(server: FakeServer) -> None:
    server.on("GET", "/monitor", [cli_records.monitor()])
    for word in ("pause", "mute"):
        server.on("PUT", f"{PATH}/{word}", cli_records.monitor())
    point = {
        "at": "2026-03-01T10:00:00.000Z",
        "checks": 10,
        "up": 0.9,
        "values": {"ms": {"avg": 12.5, "min": 10.0, "max": 20.0}},
    }
    fields = {"uptime": 90.0, "known": 80.0, "checks": 10, "points": [point]}
    server.on("GET", f"{PATH}/history", fields)


def test_the_history_of_a_monitor_is_printed(belvedere: Belvedere, server: FakeServer) -> None:
    prepare(server)
    ran = belvedere("monitor", "history", "shop", "--last", "6h")
    assert "Uptime 90 % of 10 checks; data for 80 % of the time." in ran.out
    assert "ms 12.5" in ran.out
    began = datetime.fromisoformat(server.asked[-1].query["from"])
    assert abs(datetime.now(UTC) - timedelta(hours=6) - began) < timedelta(minutes=1)


def test_a_pause_has_an_end(belvedere: Belvedere, server: FakeServer) -> None:
    prepare(server)
    assert belvedere("monitor", "pause", "shop", "--for", "2h").status == 0
    until = datetime.fromisoformat(server.asked[-1].body["until"])
    assert abs(datetime.now(UTC) + timedelta(hours=2) - until) < timedelta(minutes=1)


def test_an_edit_without_an_option_is_refused(belvedere: Belvedere, server: FakeServer) -> None:
    prepare(server)
    ran = belvedere("monitor", "edit", "shop")
    assert (ran.status, "Nothing to change" in ran.err) == (2, True)
