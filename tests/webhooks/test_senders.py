"""Stripe and Slack: their signatures, ids and challenges. The digests were made with openssl."""

from typing import Any

import pytest

from belvedere.base.text import json_text
from belvedere.webhooks.deliveries import senders, signatures
from belvedere.webhooks.deliveries.signatures import SignatureCheck

NOW_S = 1_700_000_000
STRIPE, OTHER = "whsec_of_nobody_at_all", "whsec_of_somebody_else"
EVENT = b'{"id":"evt_1","object":"event"}'
MAC = "62b8272b065acd995af0b86c5b62d1bb2c75e413a3c13c70d3e30dcf0960fae1"
OTHER_MAC = "37f50cb5fd5e84bd9d065dda36c7c5fc2506d9a262c7aea8b84181355e3ead2c"
NO_TEXT = b"\xff\xfe\x00x"
NO_TEXT_MAC = "be8b4801fd0ab49f686ccaa7a61650d6aa3f6e7d9ff92bbc3302f6aacaeed0a5"
# The example of Slack's own documentation.
SLACK = "8f742231b10e8888abcd99yyyzzz85a5"
SLACK_S = 1_531_420_618
COMMAND = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
    b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
    b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
    b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
SLACK_MAC = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
SLACK_NO_TEXT_MAC = "947fa6c90f7e52678d278aa165b5e3707fdbb9afbd3d35954f1be3419ed7d71f"
RIGHT = f"t={NOW_S},v1={MAC}"


def stripe(
    header: str | None,
    body: bytes = EVENT,
    secrets: tuple[str, ...] = (STRIPE,),
    now_s: int = NOW_S,
) -> SignatureCheck:
    headers = {} if header is None else {"stripe-signature": header}
    return signatures.verify("stripe", headers, body, secrets, now_s * 1_000)


def slack(
    mac: str | None = f"v0={SLACK_MAC}",
    seconds: str | None = str(SLACK_S),
    body: bytes = COMMAND,
    secrets: tuple[str, ...] = (SLACK,),
    now_s: int = SLACK_S,
) -> SignatureCheck:
    input_body = {"x-slack-signature": mac, "x-slack-request-timestamp": seconds}
    headers = {name: value for name, value in input_body.items() if value is not None}
    return signatures.verify("slack", headers, body, secrets, now_s * 1_000)


def test_valid_signatures_are_accepted() -> None:
    assert stripe(RIGHT) is SignatureCheck.VALID
    assert slack() is SignatureCheck.VALID


@pytest.mark.parametrize(
    "header",
    [
        f"t={NOW_S},v1={OTHER_MAC},v1={MAC}",
        f"t={NOW_S},v1={MAC},v1={OTHER_MAC}",
        f"t={NOW_S}, v1={MAC}, v0={'0' * 64}",
        f"v0=,v1={MAC},t={NOW_S},",
        f"t={NOW_S},v1=nonsense,v1={MAC}",
    ],
)
def test_one_of_several_signatures_of_stripe_is_enough(header: str) -> None:
    assert stripe(header) is SignatureCheck.VALID
    assert stripe(header, secrets=("other", STRIPE)) is SignatureCheck.VALID


def test_both_live_secrets_are_good() -> None:
    assert stripe(f"t={NOW_S},v1={OTHER_MAC}", secrets=(STRIPE, OTHER)) is SignatureCheck.VALID
    assert stripe(f"t={NOW_S},v1={OTHER_MAC}") is SignatureCheck.INVALID
    assert slack(secrets=("other", SLACK)) is SignatureCheck.VALID
    assert slack(secrets=()) is SignatureCheck.INVALID


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        ",",
        "=",
        f"v1={MAC}",
        f"t={NOW_S}",
        f"t={NOW_S},v1=",
        f"t={NOW_S},v0={MAC}",
        f"t={NOW_S},v1={MAC[:-1]}",
        f"t={NOW_S},v1={MAC.upper()}",
        f"t={NOW_S + 1},v1={MAC}",
        f"t={NOW_S}.0,v1={MAC}",
        f"t=-{NOW_S},v1={MAC}",
        f"t=,v1={MAC}",
        f"t=1{'0' * 4_000},v1={MAC}",
        # Sent twice: the parts of both, so two times.
        f"{RIGHT}, {RIGHT}",
        f"t=1,{RIGHT}",
        f"t={NOW_S},{f'v1={OTHER_MAC},' * 16}v1={MAC}",
        f"{RIGHT},v0={'0' * 5_000}",
        f"t={NOW_S},v1={'é' * 64}",
        f"t={chr(0x0661)}{NOW_S},v1={MAC}",
        "\x00",
    ],
)
def test_nothing_else_is_a_signature_of_stripe(header: str | None) -> None:
    assert stripe(header) is SignatureCheck.INVALID


@pytest.mark.parametrize(
    "mac, seconds",
    [
        (None, str(SLACK_S)),
        (f"v0={SLACK_MAC}", None),
        ("", ""),
        (SLACK_MAC, str(SLACK_S)),
        (f"v1={SLACK_MAC}", str(SLACK_S)),
        (f"v0={SLACK_MAC[:-1]}", str(SLACK_S)),
        (f"v0={SLACK_MAC}", str(SLACK_S + 1)),
        (f"v0={SLACK_MAC}", f"0{SLACK_S}"),
        (f"v0={SLACK_MAC}, v0={SLACK_MAC}", str(SLACK_S)),
        (f"v0={SLACK_MAC}", f"{SLACK_S}, {SLACK_S}"),
        (f"v0={'é' * 64}", str(SLACK_S)),
        (f"v0={SLACK_MAC}", "1" * 5_000),
        (f"v0={'a' * 60_000}", str(SLACK_S)),
    ],
)
def test_nothing_else_is_a_signature_of_slack(mac: str | None, seconds: str | None) -> None:
    assert slack(mac, seconds) is SignatureCheck.INVALID


@pytest.mark.parametrize(
    "late_s, fit",
    [(300, SignatureCheck.VALID), (301, SignatureCheck.EXPIRED), (-301, SignatureCheck.EXPIRED)],
)
def test_a_timestamp_is_valid_for_five_minutes(late_s: int, fit: SignatureCheck) -> None:
    assert stripe(RIGHT, now_s=NOW_S + late_s) is fit
    assert slack(now_s=SLACK_S + late_s) is fit
    # Only a caller that has the secret is told that it is late.
    assert stripe(RIGHT, secrets=("other",), now_s=NOW_S + late_s) is SignatureCheck.INVALID


def test_the_bytes_are_signed_not_the_text() -> None:
    assert stripe(f"t={NOW_S},v1={NO_TEXT_MAC}", NO_TEXT) is SignatureCheck.VALID
    assert (
        slack(f"v0={SLACK_NO_TEXT_MAC}", str(NOW_S), NO_TEXT, now_s=NOW_S) is SignatureCheck.VALID
    )
    assert stripe(RIGHT, EVENT + b" ") is SignatureCheck.INVALID
    assert slack(body=COMMAND + b"&") is SignatureCheck.INVALID


@pytest.mark.parametrize(
    "kind, body, text",
    [
        ("stripe", '{"id": "evt_1"}', "evt_1"),
        ("slack", '{"event_id": "Ev1", "id": "no"}', "Ev1"),
        ("github", '{"id": "evt_1"}', None),
        ("hmac-sha256", '{"id": "evt_1"}', None),
    ],
)
def test_the_id_of_a_delivery_is_in_the_signed_body(kind: str, body: str, text: str | None) -> None:
    assert senders.delivery_id(kind, {}, [json_text.parse(body)]) == text


@pytest.mark.parametrize(
    "payload",
    [[], ["evt"], [{}], [{"id": 5}], [{"id": ""}], [{"id": "x" * 256}], [{"id": "a"}, {"id": "b"}]],
)
def test_without_an_id_the_signature_distinguishes_calls(payload: list[Any]) -> None:
    delivery = senders.delivery_id("stripe", {"stripe-signature": RIGHT}, payload)
    other = senders.delivery_id("stripe", {"stripe-signature": f"{RIGHT} "}, payload)
    assert delivery and other and delivery != other
    assert delivery == senders.delivery_id("stripe", {"stripe-signature": RIGHT}, payload)


@pytest.mark.parametrize(
    "kind, body, text",
    [
        ("slack", '{"type": "url_verification", "challenge": "3eZbrw1a"}', "3eZbrw1a"),
        ("stripe", '{"type": "url_verification", "challenge": "3eZbrw1a"}', None),
        ("slack", '{"type": "event_callback", "challenge": "3eZbrw1a"}', None),
        ("slack", '{"type": "url_verification"}', None),
        ("slack", '{"type": "url_verification", "challenge": 5}', None),
        ("slack", '{"type": "url_verification", "challenge": ""}', None),
        ("slack", '"url_verification"', None),
    ],
)
def test_slack_asks_whether_the_address_is_right(kind: str, body: str, text: str | None) -> None:
    assert senders.challenge(kind, [json_text.parse(body)]) == text
