"""Stripe and Slack as senders: secrets that they chose, ids of deliveries, challenges."""

import json
from typing import Any

import pytest

from contract.client import Client, Response
from contract.test_webhook_signatures import BODY, WebhookSender, caller, mac
from contract.test_webhooks import arguments, create_webhook, jobs
from contract.world import World
from manual_clock import ManualClock

SECRET = "whsec_of_nobody_at_all"


def stripe(secret: str, now: int, body: bytes = BODY) -> dict[str, str]:
    seconds = now // 1_000
    return {"stripe-signature": f"t={seconds},v1={mac(secret, f'{seconds}.'.encode() + body)}"}


def slack(secret: str, now: int, body: bytes = BODY) -> dict[str, str]:
    seconds = str(now // 1_000)
    signed = f"v0:{seconds}:".encode() + body
    return {
        "x-slack-request-timestamp": seconds,
        "x-slack-signature": f"v0={mac(secret, signed)}",
    }


SIGNED = {"stripe": stripe, "slack": slack}
IDS = {"stripe": "id", "slack": "event_id"}


async def keep(ada: Client, out: WebhookSender, body: Any) -> Response:
    return await ada.post(f"/acme/webhook/{out.webhook_id}/credentials/rotate", body)


async def verdicts(ada: Client, out: WebhookSender) -> list[str]:
    response = await ada.get(f"/acme/webhook/{out.webhook_id}/delivery")
    return [record["verdict"] for record in response.json]


@pytest.mark.parametrize("kind", SIGNED)
async def test_a_secret_chosen_by_the_sender_is_accepted(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    """With the secret that the sender chose: with the signature alone, and with the URL that
    contains it."""
    out = await caller(world, ada, kind)
    response = await keep(ada, out, {"secret": SECRET})
    assert (response.status, response.json["secret"]) == (200, SECRET)
    out.secret = SECRET
    fired = await out.send_signed(SIGNED[kind](SECRET, clock()))
    assert (fired.status, len(fired.json["jobs"])) == (200, 1)
    assert (await out.by_secret(SIGNED[kind](SECRET, clock()))).status == 200
    assert (await out.by_secret({})).code == "wrong_signature"
    (value, *_) = (await ada.get(f"/acme/webhook/{out.webhook_id}/delivery")).json
    assert SECRET not in str(value)
    assert SECRET not in (await ada.get("/api/audit")).text


@pytest.mark.parametrize("kind", SIGNED)
async def test_an_old_signature_is_reported_to_the_signer(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    out = await caller(world, ada, kind)
    late = SIGNED[kind](out.secret, clock() - 301_000)
    refused = await out.send_signed(late)
    assert (refused.status, refused.code) == (403, "signature_too_old")
    forged = await out.send_signed(SIGNED[kind]("0" * 64, clock() - 301_000))
    assert (forged.status, forged.code) == (403, "wrong_signature")
    assert await jobs(ada) == []


@pytest.mark.parametrize("kind", SIGNED)
async def test_a_delivery_runs_once_though_it_is_signed_again(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    """The sender retries later: another time, another count of attempts, the same event."""
    out = await caller(world, ada, kind)
    answers = []
    for tries in range(3):
        body = json.dumps({IDS[kind]: "evt_1", "pending_webhooks": tries}).encode()
        # This header is not signed, so it does not make it another delivery.
        headers = {**SIGNED[kind](out.secret, clock(), body), "idempotency-key": f"k{tries}"}
        answers.append(await out.send_signed(headers, body))
        clock.move(400)
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert answers[0].json == answers[1].json == answers[2].json
    assert answers[2].headers["idempotency-replayed"] == "true"
    assert len(await jobs(ada)) == 1
    assert await verdicts(ada, out) == ["duplicate", "duplicate", "accepted"]


@pytest.mark.parametrize("kind", SIGNED)
async def test_a_call_without_an_id_cannot_be_repeated_either(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    out = await caller(world, ada, kind)
    body = b'{"text": "no id"}'
    overheard = SIGNED[kind](out.secret, clock(), body)
    assert [(await out.send_signed(overheard, body)).status for _ in range(2)] == [200, 200]
    assert len(await jobs(ada)) == 1
    clock.move(2)
    assert (await out.send_signed(SIGNED[kind](out.secret, clock(), body), body)).status == 200
    assert len(await jobs(ada)) == 2


async def test_a_signed_challenge_of_slack_is_answered(
    world: World, ada: Client, clock: ManualClock
) -> None:
    out = await caller(world, ada, "slack")
    body = b'{"token": "t", "challenge": "3eZbrw1a<b>", "type": "url_verification"}'
    refused = await out.send_signed(slack("0" * 64, clock(), body), body)
    assert (refused.status, refused.code) == (403, "wrong_signature")
    answered = await out.send_signed(slack(out.secret, clock(), body), body)
    assert (answered.status, answered.text) == (200, "3eZbrw1a<b>")
    assert answered.headers["content-type"].startswith("text/plain")
    assert await jobs(ada) == []
    assert await verdicts(ada, out) == ["challenge"]
    assert (await ada.get(f"/acme/webhook/{out.webhook_id}")).json["trigger_count"] == 0
    # For an admin with a token it is a payload like any other.
    ran = await ada.post(f"/acme/webhook/{out.webhook_id}/trigger", json.loads(body))
    assert (ran.status, len(ran.json["jobs"])) == (200, 1)


@pytest.mark.parametrize("kind", SIGNED)
async def test_a_signed_body_that_is_no_text_is_refused(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    out = await caller(world, ada, kind)
    body = b'{"id": "\xff\xfe"}'
    refused = await out.send_signed(SIGNED[kind](out.secret, clock(), body), body)
    assert (refused.status, await jobs(ada)) == (400, [])
    assert len(await verdicts(ada, out)) == 1


async def test_two_secrets_live_while_the_sender_changes_its_own(
    world: World, ada: Client, clock: ManualClock
) -> None:
    out = await caller(world, ada, "stripe")
    await keep(ada, out, {"secret": SECRET})
    await keep(ada, out, {"secret": f"{SECRET}_2", "overlap": 60})
    statuses = [
        (await out.send_signed(stripe(secret, clock()))).status
        for secret in (out.secret, SECRET, f"{SECRET}_2")
    ]
    assert statuses == [403, 200, 200]
    clock.move(61)
    assert (await out.send_signed(stripe(SECRET, clock()))).status == 403


@pytest.mark.parametrize("kind", ["x-slack-signature", "x-slack-request-timestamp"])
async def test_a_duplicate_header_is_refused(
    world: World, ada: Client, clock: ManualClock, kind: str
) -> None:
    out = await caller(world, ada, "slack")
    right = slack(out.secret, clock())
    # Two names for the same header: the client sends both lines.
    refused = await out.send_signed({**right, kind.upper(): right[kind]})
    assert (refused.status, refused.code) == (403, "wrong_signature")


@pytest.mark.parametrize(
    "secret", ["", "short", "x" * 256, "with a blank in the middle", "ñ" * 20, "tab\t" * 8, 7]
)
async def test_a_bad_secret_is_refused(world: World, ada: Client, secret: Any) -> None:
    out = await caller(world, ada, "stripe")
    assert (await keep(ada, out, {"secret": secret})).status == 400
    assert (await ada.get(f"/acme/webhook/{out.webhook_id}/credentials")).json == {
        "id": out.webhook_id,
        "secret": out.secret,
    }


async def test_a_chosen_secret_is_not_part_of_the_address(
    world: World, ada: Client, uma: Client
) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(1)))
    target = f"/acme/webhook/{hook['id']}/credentials/rotate"
    refused = await ada.post(target, {"secret": SECRET})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "secret")
    assert (await uma.post(target, {"secret": SECRET})).status == 403
    task = await world.task("other")
    assert (await ada.post(f"/acme/task/{task}/credentials/rotate", {"secret": "x"})).status == 400
