"""`belvedere notify test` with a message that was not sent."""

from cli import notifycalls
from cli.conftest import Belvedere
from fake_server import FakeServer

FAULT = 'Sending email over "mail.acme.test" failed: 535 5.7.8 wrong login'
HINT = "Check user name and password of the mail account."
DEAD = notifycalls.MESSAGE | {
    "state": "dead",
    "sent": None,
    "tries": [{"date": notifycalls.DATE, "fault": FAULT, "hint": HINT}],
}


def test_a_failed_test_message_prints_fault_and_hint(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("GET", "/notify/channel", [notifycalls.CHANNEL])
    server.on("POST", f"/notify/channel/{notifycalls.CHANNEL_ID}/test", DEAD)
    result = belvedere("notify", "test", "ops")
    assert result.status == 1
    assert (result.out + result.err).splitlines() == [
        f"The test message was not sent: {FAULT}",
        HINT,
    ]
