"""The worker with real receivers: what is sent, what never is, and what is killed."""

import asyncio
import hashlib
import hmac
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from belvedere.base.errors import Invalid
from belvedere.egress.messages import EgressRequest
from belvedere.egress.network_guard import CallRefused, Guard
from belvedere.egress.pool import EgressPool
from egress.receivers import LOOPBACK, http_sink, mail_sink

INNER = "The receiver is in an internal network that this server may not call."


@asynccontextmanager
async def pool(networks: str = LOOPBACK, limit_s: float = 30.0) -> AsyncIterator[EgressPool]:
    egress_pool = EgressPool(networks, limit_s=limit_s)
    try:
        yield egress_pool
    finally:
        await egress_pool.close()


def signed_request(url: str) -> EgressRequest:
    return EgressRequest(
        url=url, message_id="m1", payload='{"title":"x"}', secret="s3cret", at_s=1_700
    )


async def test_a_notification_is_signed_and_posted() -> None:
    """A signed POST, checked as a receiver would."""
    with http_sink() as sink:
        async with pool() as new_pool:
            assert (await new_pool.send(signed_request(sink.url))).is_done
    (received_message,) = sink.got
    assert (received_message.path, json.loads(received_message.body)) == ("/hook", {"title": "x"})
    expected = hmac.new(b"s3cret", b"1700." + received_message.body, hashlib.sha256).hexdigest()
    assert received_message.headers["x-belvedere-signature"] == f"t=1700,sha256={expected}"
    assert received_message.headers["idempotency-key"] == "m1"
    assert received_message.headers["content-type"] == "application/json"


async def test_a_service_that_the_library_knows_gets_title_and_text() -> None:
    with http_sink() as sink:
        async with pool() as new_pool:
            url = sink.url.replace("http", "json")
            egress_result = await new_pool.send(
                EgressRequest(url=url, title="T", body="B & <b>", severity="CRITICAL")
            )
            assert egress_result.is_done, egress_result.fault
    record = json.loads(sink.got[0].body)
    assert (record["title"], record["message"], record["type"]) == ("T", "B & <b>", "failure")


async def test_mail_goes_through_a_mail_server() -> None:
    with mail_sink() as sink:
        async with pool() as new_pool:
            url = f"mailto://127.0.0.1:{sink.port}?from=b@acme.test&to=ada@acme.test&mode=insecure"
            egress_result = await new_pool.send(
                EgressRequest(url=url, title="Down", body="web-1 is down")
            )
            assert egress_result.is_done, egress_result.fault
    assert "ada@acme.test" in sink.got[0].headers["to"]
    assert b"Subject: Down" in sink.got[0].body


async def test_the_installations_mail_goes_to_one_person_and_anywhere() -> None:
    """The operator's own mail server often runs next to the server."""
    with mail_sink() as sink:
        async with pool(networks="") as new_pool:
            url = (
                f"mailto://127.0.0.1:{sink.port}?from=b@acme.test&to=other@acme.test&mode=insecure"
            )
            request = EgressRequest(
                url=url, to="uma@acme.test", title="t", body="b", is_operators=True
            )
            egress_result = await new_pool.send(request)
            assert egress_result.is_done, egress_result.fault
    assert len(sink.got) == 1 and "uma@acme.test" in sink.got[0].headers["to"]


HOSTS = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0")


def bait_request(scheme: str, host: str, port: int) -> EgressRequest:
    url = f"{scheme}://{host}:{port}/x"
    if scheme == "http":
        return signed_request(url)
    to = "?to=a@b.test&from=c@d.test&mode=insecure" if scheme == "mailto" else ""
    return EgressRequest(url=url + to, title="t", body="b")


async def test_an_internal_server_is_never_called() -> None:
    """By our own code or the library's, under any name."""
    with http_sink() as trap:
        async with pool(networks="") as new_pool:
            for scheme in ("http", "json", "mailto"):
                for host in HOSTS:
                    outcome = await new_pool.send(bait_request(scheme, host, trap.port))
                    assert not outcome.is_done, (scheme, host)
                    if host in ("127.0.0.1", "localhost"):
                        assert (outcome.fault, outcome.for_good) == (INNER, True)
            # Otherwise it would be reached: the same address with the network allowed.
            new_pool.networks = LOOPBACK
            assert (await new_pool.send(bait_request("http", "127.0.0.1", trap.port))).is_done
    assert trap.calls == 1


@pytest.mark.parametrize("scheme", ["json", "http"])
async def test_a_redirect_leads_no_further_inside(scheme: str) -> None:
    """The receiver may be called, the address that it redirects to may not."""
    with http_sink("127.0.0.2") as sink, http_sink("127.0.0.3") as trap:
        sink.answers = [trap.url]
        url = sink.url.replace("http", scheme)
        async with pool(networks="127.0.0.2") as new_pool:
            request = (
                signed_request(url)
                if scheme == "http"
                else EgressRequest(url=url, title="t", body="b")
            )
            outcome = await new_pool.send(request)
    text = INNER if scheme == "json" else "The receiver responded with 307."
    assert (outcome.fault, sink.calls, trap.calls) == (text, 1, 0)


async def test_an_allowed_network_allows_no_other() -> None:
    with http_sink("127.0.0.2") as sink, http_sink("127.0.0.3") as trap:
        async with pool(networks="127.0.0.2/32") as new_pool:
            assert (await new_pool.send(signed_request(sink.url))).is_done
            assert (await new_pool.send(signed_request(trap.url))).fault == INNER
            assert (await new_pool.send(signed_request(sink.url))).is_done
    assert trap.calls == 0


async def test_a_refusal_is_reported() -> None:
    with http_sink() as sink:
        async with pool() as new_pool:
            for status in (500, 404, 429, 410, 302):
                sink.answers = [status]
                outcome = await new_pool.send(signed_request(sink.url))
                assert outcome.fault == f"The receiver responded with {status}."
                assert outcome.for_good is (status == 410)


async def test_a_receiver_that_never_responds_times_out() -> None:
    """And the worker with it; the next message is sent by another one."""
    with http_sink() as sink:
        sink.silent.set()
        async with pool(limit_s=1.0) as new_pool:
            outcome = await new_pool.send(signed_request(sink.url))
            assert outcome.fault == "The receiver did not respond within 1 s."
            sink.silent.clear()
            new_pool.limit_s = 30.0
            assert (await new_pool.send(signed_request(sink.url))).is_done


async def test_a_crashed_worker_is_replaced() -> None:
    with http_sink() as sink:
        sink.silent.set()
        async with pool() as new_pool:
            waits = asyncio.create_task(new_pool.send(signed_request(sink.url)))
            await asyncio.to_thread(sink.came.wait, 30)
            (worker,) = new_pool.out
            worker.process.kill()
            assert (await waits).fault == "The egress worker crashed before it sent the message."
            sink.silent.clear()
            assert (await new_pool.send(signed_request(sink.url))).is_done


async def test_an_address_is_known_without_a_call() -> None:
    slack = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    fields = {
        "https://example.com/x?y=1": "Webhook",
        slack: "Slack",
        "mailtos://user:word@example.com": "E-Mail",
        "ntfy://topic": "ntfy",
    }
    async with pool(networks="") as new_pool:
        for url, service in fields.items():
            egress_result = await new_pool.of("").check(url)
            assert (egress_result.service, egress_result.is_done) == (service, True)


async def test_an_invalid_address_is_reported() -> None:
    async with pool() as new_pool:
        for url in NO_ADDRESSES:
            egress_result = await new_pool.of("").check(url)
            assert egress_result.fault and not egress_result.service, url


NO_ADDRESSES = (
    "",
    "nonsense",
    "nonsense://x",
    "syslog://",
    "dbus://",
    "file:///etc/passwd",
    "http://",
    "http://user:word@example.com/",
    "http://example.com:99999/",
    "http://exa mple.com/",
    "https://example.com/" + "x" * 2_048,
    "slack://T1JJ3T3L2",
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("nonsense://x", "No known service has addresses like this one. See https://appriseit.com"),
        ("mmost://", "The address is incomplete. See https://appriseit.com/services/ for what"),
        ("slack://T1JJ3T3L2", "An invalid Slack"),
    ],
)
async def test_an_invalid_address_says_what_to_do(url: str, expected: str) -> None:
    async with pool() as new_pool:
        assert (await new_pool.of("").check(url)).fault.startswith(expected)


async def test_files_of_the_server_stay_where_they_are() -> None:
    """Some services of the library take templates and keys from files."""
    with http_sink() as sink:
        url = f"workflows://127.0.0.1:{sink.port}/abcd/efgh/?template=/etc/passwd&verify=no"
        async with pool() as new_pool:
            outcome = await new_pool.send(EgressRequest(url=url, title="t", body="b"))
    assert outcome.fault == "A channel may not access files of the server."
    assert sink.got == []


async def test_an_error_reveals_no_secret() -> None:
    with http_sink() as sink:
        sink.answers = [500]
        async with pool() as new_pool:
            url = f"json://user:canaryword@127.0.0.1:{sink.port}/canarypath?+x=canaryvalue"
            outcome = await new_pool.send(EgressRequest(url=url, title="t", body="b"))
    assert outcome.fault and "canary" not in outcome.fault


@pytest.mark.parametrize("address", [("localhost", 80), ("", 80), "/run/x.sock", b"\0x", ("::", 1)])
def test_only_addresses_of_the_network_are_connected_to(address: object) -> None:
    guard = Guard()
    with pytest.raises(CallRefused):
        guard.check_address(address)
    assert len(guard.refused) == 1


def test_the_server_itself_never_loads_the_library() -> None:
    """Its memory stays as it is, whatever channels there are."""
    text = "import sys, belvedere.server.main; print({'apprise', 'requests'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(Invalid, match="BELVEDERE_INNER_NETWORKS"):
        EgressPool("printer")
    with pytest.raises(Invalid, match="BELVEDERE_MAIL"):
        EgressPool(mail="smtp://x")
