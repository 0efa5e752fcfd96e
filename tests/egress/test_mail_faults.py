"""Mail that cannot be sent: the reply of a real mail server reaches the person, with a hint."""

import socket

import pytest

from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.notifications.delivery.message_text import hint_for
from egress.receivers import LOOPBACK, mail_sink

LOGIN = {b"EHLO": "250-sink\r\n250 AUTH PLAIN LOGIN"}
PASSWORD = "Check user name and password of the mail account. Some services need an app password."
ENCRYPTION = (
    "Choose the encryption and port that the mail server offers: STARTTLS (usually 587), "
    "TLS (465) or none (25)."
)
PEOPLE = "Check sender and recipients: the mail server must be allowed to send for this sender."
SERVER = "Check host and port of the mail server, and that this server may connect to them."


async def send(netloc: str, options: str = "mode=insecure") -> EgressResult:
    pool = EgressPool(LOOPBACK)
    try:
        url = f"mailto://{netloc}?from=b@acme.test&to=ada@acme.test&{options}"
        return await pool.send(EgressRequest(url=url, title="Down", body="web-1 is down"))
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("replies", "options", "text", "hint"),
    [
        (LOGIN | {b"AUTH": "535 5.7.8 wrong login"}, "mode=insecure", "535 5.7.8 wr", PASSWORD),
        ({b"MAIL": "530 5.7.0 Log in first"}, "mode=insecure", "530 5.7.0 Log", PASSWORD),
        ({b"MAIL": "530 Issue a STARTTLS first"}, "mode=insecure", "530 Issue", ENCRYPTION),
        (LOGIN, "mode=starttls", "STARTTLS extension not supported", ENCRYPTION),
        ({b"RCPT": "550 5.7.1 Relaying not allowed"}, "mode=insecure", "550 5.7.1 Rel", PEOPLE),
    ],
)
async def test_the_reply_of_the_mail_server_is_reported(
    replies: dict[bytes, str], options: str, text: str, hint: str
) -> None:
    with mail_sink(LOGIN | replies) as sink:
        login = "ops%40acme.test:pass%21word@" if b"AUTH" in replies else ""
        result = await send(f"{login}127.0.0.1:{sink.port}", options)
    assert text in result.fault, result.fault
    assert "b'" not in result.fault and "Connection error" not in result.fault
    assert hint_for(result.fault) == hint


async def test_a_mail_server_that_repeats_the_login_reveals_no_secret() -> None:
    replies = LOGIN | {b"AUTH": "535 ops@acme.test with pass!word is unknown"}
    with mail_sink(replies) as sink:
        result = await send(f"ops%40acme.test:pass%21word@127.0.0.1:{sink.port}")
    assert result.fault == 'Sending email over "127.0.0.1" failed: 535 *** with *** is unknown'


async def test_a_refused_connection_is_reported() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        result = await send(f"127.0.0.1:{closed.getsockname()[1]}")
    assert "Connection refused" in result.fault
    assert hint_for(result.fault) == SERVER


async def test_an_unknown_mail_server_is_reported() -> None:
    result = await send("mail.belvedere.invalid:25")
    assert hint_for(result.fault) == "Check the host name in the address.", result.fault


def test_a_receiver_in_an_internal_network_needs_a_setting() -> None:
    fault = "The receiver is in an internal network that this server may not call."
    assert "BELVEDERE_INNER_NETWORKS" in hint_for(fault)
