"""Signed calls, and two valid secrets while one is being rotated."""

import hashlib
import hmac
from typing import Any

import pytest

from contract.client import Client, Response
from contract.test_webhooks import JSON, arguments, create_webhook, jobs, secret_of
from contract.world import World
from manual_clock import ManualClock

BODY = b'{"ref": "main", "n": 1.0}'


def mac(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def sign(secret: str, body: bytes = BODY) -> str:
    return f"sha256={mac(secret, body)}"


def sign_with_time(secret: str, seconds: int, body: bytes = BODY) -> str:
    return f"t={seconds},sha256={mac(secret, str(seconds).encode() + b'.' + body)}"


class WebhookSender:
    """An external caller of one webhook."""

    def __init__(self, client: Client, webhook_id: str, secret: str) -> None:
        self.client, self.webhook_id, self.secret = client, webhook_id, secret

    async def send_signed(self, headers: dict[str, str], body: bytes = BODY) -> Response:
        target = f"/acme/webhook/{self.webhook_id}/trigger/signed"
        return await self.client.post(target, raw=body, headers={**JSON, **headers})

    async def by_secret(self, headers: dict[str, str], body: bytes = BODY) -> Response:
        target = f"/acme/webhook/{self.webhook_id}/trigger/secret/{self.secret}"
        return await self.client.post(target, raw=body, headers={**JSON, **headers})


async def caller(world: World, ada: Client, signature: str, **more: Any) -> WebhookSender:
    task = await world.task(task_arguments=arguments(1))
    hook = await create_webhook(ada, task, signature=signature, **more)
    return WebhookSender(world.client(), hook["id"], await secret_of(ada, hook["id"]))


HEADER = {"hmac-sha256": "x-belvedere-signature", "github": "x-hub-signature-256"}


@pytest.mark.parametrize("kind", HEADER)
async def test_a_signature_alone_is_accepted(world: World, ada: Client, kind: str) -> None:
    """The signature alone is sufficient: the URL contains no secret."""
    out = await caller(world, ada, kind)
    fired = await out.send_signed({HEADER[kind]: sign(out.secret)})
    assert fired.status == 200
    assert len(fired.json["jobs"]) == 1
    (job,) = await jobs(ada)
    assert job["task_arguments_values"] == ['{"ref":"main","n":1.0}']
    (delivery,) = (await ada.get(f"/acme/webhook/{out.webhook_id}/delivery")).json
    assert (delivery["door"], delivery["headers"][HEADER[kind]]) == ("signature", "***")


async def test_gitlab_sends_its_token_and_an_id(world: World, ada: Client) -> None:
    out = await caller(world, ada, "gitlab")
    headers = {"x-gitlab-token": out.secret, "x-gitlab-event-uuid": "u-1"}
    fired, again = [await out.send_signed(headers) for _ in range(2)]
    assert (fired.status, again.json) == (200, fired.json)
    assert again.headers["idempotency-replayed"] == "true"
    refused = await out.send_signed({"x-gitlab-token": out.secret[:-1]})
    assert (refused.status, refused.code) == (403, "wrong_signature")
    (item,) = [
        record
        for record in (await ada.get(f"/acme/webhook/{out.webhook_id}/delivery")).json
        if record["verdict"] == "accepted"
    ]
    assert item["headers"]["x-gitlab-token"] == "***"


@pytest.mark.parametrize("kind", HEADER)
async def test_a_secret_in_the_address_is_not_enough_then(
    world: World, ada: Client, kind: str
) -> None:
    out = await caller(world, ada, kind)
    refused = await out.by_secret({})
    assert (refused.status, refused.code) == (403, "wrong_signature")
    assert (await out.by_secret({HEADER[kind]: sign(out.secret)})).status == 200
    verdicts = [
        record["verdict"]
        for record in (await ada.get(f"/acme/webhook/{out.webhook_id}/delivery")).json
    ]
    assert verdicts == ["accepted", "wrong_signature"]
    assert len(await jobs(ada)) == 1


@pytest.mark.parametrize("kind", HEADER)
async def test_every_invalid_signature_is_refused(world: World, ada: Client, kind: str) -> None:
    out = await caller(world, ada, kind)
    other = HEADER["github" if kind == "hmac-sha256" else "hmac-sha256"]
    right = sign(out.secret)
    wrong: list[dict[str, str]] = [
        {},
        {HEADER[kind]: ""},
        {HEADER[kind]: right[:-1]},
        {HEADER[kind]: right.upper()},
        {HEADER[kind]: right.removeprefix("sha256=")},
        {HEADER[kind]: sign(out.secret, b"{}")},
        {HEADER[kind]: sign("0" * 64)},
        {HEADER[kind]: f"{right},{right}"},
        {HEADER[kind]: "sha256=" + "é" * 64},
        {other: right},
    ]
    items = []
    for n, headers in enumerate(wrong):
        out.client = world.client(address=f"198.51.100.{n}")
        refused = await out.send_signed(headers)
        assert refused.status == 403, headers
        items.append({**refused.json, "request_id": ""})
    out.client = world.client(address="198.51.100.99")
    out.webhook_id = "0" * 24
    items.append({**(await out.send_signed({HEADER[kind]: right})).json, "request_id": ""})
    assert all(item == items[0] for item in items)
    assert await jobs(ada) == []


async def test_without_a_signature_set_none_is_good(world: World, ada: Client) -> None:
    out = await caller(world, ada, "none")
    for header in HEADER.values():
        refused = await out.send_signed({header: sign(out.secret)})
        assert (refused.status, refused.code) == (403, "wrong_signature")
    assert (await out.by_secret({})).status == 200


async def test_a_signed_moment_is_good_for_minutes(
    world: World, ada: Client, clock: ManualClock
) -> None:
    out = await caller(world, ada, "hmac-sha256")
    now = clock() // 1_000
    for seconds, status in ((now, 200), (now - 290, 200), (now + 290, 200), (now - 400, 403)):
        header = {"x-belvedere-signature": sign_with_time(out.secret, seconds)}
        assert (await out.send_signed(header)).status == status, seconds - now
    # The time itself is signed.
    moved = sign_with_time(out.secret, now - 400).replace(f"t={now - 400}", f"t={now}")
    assert (await out.send_signed({"x-belvedere-signature": moved})).status == 403


async def test_two_secrets_live_while_one_is_changed(
    world: World, ada: Client, clock: ManualClock
) -> None:
    out = await caller(world, ada, "hmac-sha256")
    target = f"/acme/webhook/{out.webhook_id}/credentials"
    old = out.secret
    rotated = await ada.post(f"{target}/rotate", {"overlap": 60})
    new = rotated.json["secret"]
    assert (rotated.status, (await ada.get(target)).json["secret"]) == (200, new)

    async def passes(secret: str) -> list[int]:
        out.secret = secret
        header = {"x-belvedere-signature": sign(secret)}
        return [(await out.send_signed(header)).status, (await out.by_secret(header)).status]

    assert await passes(old) == [200, 200]
    assert await passes(new) == [200, 200]
    clock.move(61)
    assert await passes(old) == [403, 403]
    assert await passes(new) == [200, 200]
    await ada.post(f"{target}/rotate", {})
    assert await passes(new) == [403, 403]


async def test_wrong_secrets_are_counted_by_address(world: World, ada: Client) -> None:
    out = await caller(world, ada, "none")
    right, out.secret = out.secret, "0" * 64
    for _ in range(20):
        assert (await out.by_secret({})).status == 403
    refused = await out.by_secret({})
    assert refused.status == 429 and int(refused.headers["retry-after"]) > 0
    out.client, out.secret = world.client(address="203.0.113.9"), right
    assert (await out.by_secret({})).status == 200


async def test_a_right_secret_is_limited_by_the_setting(
    world: World, ada: Client, clock: ManualClock
) -> None:
    world.runtime.secret_uses.limit = 3
    out, other = await caller(world, ada, "none"), await caller(world, ada, "github", name="b")
    responses = [await out.by_secret({}) for _ in range(4)]
    assert [item.status for item in responses] == [200, 200, 200, 429]
    assert responses[-1].headers["retry-after"] == "1"
    header = {"x-hub-signature-256": sign(other.secret)}
    assert [(await other.send_signed(header)).status for _ in range(4)] == [200, 200, 200, 429]
    clock.move(1.1)
    assert (await out.by_secret({})).status == 200
