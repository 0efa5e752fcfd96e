"""Deliveries of a webhook: stored, identified by their own id, and replayed."""

from typing import Any

import pytest

from belvedere.jobs.lifecycle import timeouts
from contract import interface_fields
from contract.client import Client
from contract.test_webhooks import JSON, arguments, create_webhook, jobs, secret_of
from contract.world import World
from manual_clock import ManualClock

MISSING = "0" * 24


async def deliveries(ada: Client, hook: Any, query: str = "") -> list[dict[str, Any]]:
    response = await ada.get(f"/acme/webhook/{hook['id']}/delivery{query}")
    assert response.status == 200, response.body
    listed: list[dict[str, Any]] = response.json
    return listed


async def read_delivery(ada: Client, hook: Any, delivery_id: str) -> dict[str, Any]:
    response = await ada.get(f"/acme/webhook/{hook['id']}/delivery/{delivery_id}")
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def test_a_delivery_is_stored_without_credentials(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task())
    secret = await secret_of(ada, hook["id"])
    anonymous = world.client(address="203.0.113.7")
    body = {**JSON, "user-agent": "forge/1", "x-api-key": "canary", "cookie": "a=canary"}
    fired = await anonymous.post(
        f"/acme/webhook/{hook['id']}/trigger/secret/{secret}", raw=b'["x", 1.0]', headers=body
    )
    (delivery,) = await deliveries(ada, hook)
    assert interface_fields.identifier(delivery["id"]) and interface_fields.moment(delivery["date"])
    assert (delivery["address"], delivery["door"], delivery["user"]) == (
        "203.0.113.7",
        "secret",
        "",
    )
    assert (delivery["verdict"], delivery["jobs"]) == ("accepted", fired.json["jobs"])
    assert delivery["headers"]["user-agent"] == "forge/1"
    assert (delivery["headers"]["x-api-key"], delivery["headers"]["cookie"]) == ("***", "***")
    assert "body" not in delivery and secret not in str(delivery)
    actual_delivery = await read_delivery(ada, hook, delivery["id"])
    assert (actual_delivery["body"], actual_delivery["size"]) == ('["x", 1.0]', 10)
    assert {**actual_delivery, "body": 0} == {**delivery, "body": 0}


async def test_a_token_says_whose_it_is(ada: Client) -> None:
    hook = await create_webhook(ada)
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", [])
    (delivery,) = await deliveries(ada, hook)
    assert (delivery["door"], delivery["user"]) == ("token", "ada@acme.test")
    assert delivery["headers"]["authorization"] == "***"


async def test_refused_deliveries_are_stored_with_their_reason(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(2)))
    target = f"/acme/webhook/{hook['id']}/trigger"
    await ada.post(target, ["x"])
    await ada.post(target, raw=b"[", headers=JSON)
    await ada.post(target, raw=b"x", headers={"content-type": "image/png"})
    await ada.patch(f"/acme/webhook/{hook['id']}", {"enable": False})
    await ada.post(target, ["x", "y"])
    assert [delivery["verdict"] for delivery in await deliveries(ada, hook)] == [
        "webhook_disabled",
        "unsupported_media_type",
        "malformed_json",
        "missing_arguments",
    ]
    assert await jobs(ada) == []


async def test_the_list_is_newest_first_and_can_be_narrowed(ada: Client) -> None:
    hook = await create_webhook(ada)
    target = f"/acme/webhook/{hook['id']}/trigger"
    for raw in (b"[1]", b"[2]", b"["):
        await ada.post(target, raw=raw, headers=JSON)
    actual_deliveries = await deliveries(ada, hook)
    assert [item["verdict"] for item in actual_deliveries] == [
        "malformed_json",
        "accepted",
        "accepted",
    ]
    assert await deliveries(ada, hook, "?where[verdict]=accepted") == actual_deliveries[1:]
    assert await deliveries(ada, hook, "?limit=1") == actual_deliveries[:1]
    assert (
        await deliveries(ada, hook, f"?after={actual_deliveries[0]['id']}") == actual_deliveries[1:]
    )


async def test_masked_arguments_stay_masked(world: World, ada: Client) -> None:
    masked = [*arguments(1), *arguments(1, masked=True)]
    hook = await create_webhook(ada, await world.task(task_arguments=masked))
    target = f"/acme/webhook/{hook['id']}/trigger"
    for raw in (b'["seen", "canary", 1.0]', b'["seen", "canary"', b'"seen"', b""):
        await ada.post(target, raw=raw, headers=JSON)
    bodies = [
        (await read_delivery(ada, hook, delivery["id"]))["body"]
        for delivery in await deliveries(ada, hook)
    ]
    assert bodies == ["", '["seen"]', "***", '["seen","***",1.0]']
    # The script gets the value, also when the delivery is run once more.
    first = (await deliveries(ada, hook))[-1]
    again = await ada.post(f"/acme/webhook/{hook['id']}/delivery/{first['id']}/replay")
    assert again.status == 201
    async with world.agent() as agent:
        actual_arguments = [(await agent.order()).arguments for _ in range(2)]
    assert actual_arguments == [["seen", "canary"]] * 2


FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    "raw, headers",
    [
        (b'{"event":"push","api_key":"canary"}', JSON),
        (b'[{"a":{"Authorization":["canary"]}}]', JSON),
        (b'{"url":"https://u:canary@x.test/?token=canary"}', JSON),
        (b"event=push&password=canary", FORM),
        (b"payload=%7B%22token%22%3A%22canary%22%7D", FORM),
    ],
    ids=str,
)
async def test_a_body_is_for_admins_and_without_credentials(
    world: World, ada: Client, raw: bytes, headers: dict[str, str]
) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(1)))
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=headers)
    (first,) = await deliveries(ada, hook)
    path = f"/acme/webhook/{hook['id']}/delivery"
    for address in (path, f"{path}/{first['id']}"):
        for who in ("vic", "uma", "max"):
            assert (await world.client(who).get(address)).status == 403
        assert "canary" not in (await ada.get(address)).text
    assert "***" in (await read_delivery(ada, hook, first["id"]))["body"]
    events = world.runtime.db.write_blocking(
        lambda tx: tx.rows("select data from events where kind like 'webhook.%'")
    )
    assert events and "canary" not in str(events)
    # The script gets the value.
    async with world.agent() as agent:
        assert "canary" in str((await agent.order()).arguments)


async def test_a_delivery_is_run_once_more(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=arguments(1))
    hook = await create_webhook(ada, task)
    target = f"/acme/webhook/{hook['id']}"
    await ada.post(f"{target}/trigger", ["x"], headers={"idempotency-key": "k"})
    (first,) = await deliveries(ada, hook)
    again = await ada.post(f"{target}/delivery/{first['id']}/replay")
    assert again.status == 201
    assert again.json["message"] == "success" and again.json["jobs"] != first["jobs"]
    assert [job["task_arguments_values"] for job in await jobs(ada)] == [["x"], ["x"]]
    newest = (await deliveries(ada, hook))[0]
    assert (newest["door"], newest["replay_of"]) == ("replay", first["id"])
    assert (await ada.get(target)).json["trigger_count"] == 2


async def test_a_refused_delivery_can_be_run_after_the_correction(
    world: World, ada: Client
) -> None:
    task = await world.task(task_arguments=arguments(1))
    hook = await create_webhook(ada, task, enable=False)
    target = f"/acme/webhook/{hook['id']}"
    await ada.post(f"{target}/trigger", ["x"])
    (delivery,) = await deliveries(ada, hook)
    replay = f"{target}/delivery/{delivery['id']}/replay"
    refused = await ada.post(replay)
    assert (refused.status, refused.code) == (409, "webhook_disabled")
    await ada.patch(target, {"enable": True})
    assert (await ada.post(replay)).status == 201
    assert len(await jobs(ada)) == 1


async def test_a_delivery_belongs_to_its_webhook(ada: Client) -> None:
    hook, other = await create_webhook(ada), await create_webhook(ada, name="other")
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", [])
    (delivery,) = await deliveries(ada, hook)
    for webhook_id, delivery_id in ((other["id"], delivery["id"]), (hook["id"], MISSING)):
        target = f"/acme/webhook/{webhook_id}/delivery/{delivery_id}"
        for answer in (await ada.get(target), await ada.post(f"{target}/replay")):
            assert (answer.status, answer.code) == (404, "delivery_not_found")


@pytest.mark.parametrize("header", ["idempotency-key", "x-github-delivery"])
async def test_the_same_delivery_starts_nothing_twice(
    world: World, ada: Client, anonymous: Client, header: str
) -> None:
    hook = await create_webhook(ada, await world.task("a"), await world.task("b"))
    secret = await secret_of(ada, hook["id"])
    target = f"/acme/webhook/{hook['id']}/trigger/secret/{secret}"
    first = await anonymous.post(target, [1], headers={header: "7d3f"})
    second = await anonymous.post(target, [1], headers={header: "7d3f"})
    assert (second.status, second.json) == (200, first.json)
    assert second.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert len(await jobs(ada)) == 2
    assert [delivery["verdict"] for delivery in await deliveries(ada, hook)] == [
        "duplicate",
        "accepted",
    ]
    assert [delivery["delivery"] for delivery in await deliveries(ada, hook)] == ["7d3f", "7d3f"]
    assert (await ada.get(f"/acme/webhook/{hook['id']}")).json["trigger_count"] == 1
    # Another id is another delivery; each caller's ids are separate.
    await anonymous.post(target, [1], headers={header: "7d40"})
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", [1], headers={header: "7d3f"})
    assert len(await jobs(ada)) == 6


async def test_an_id_that_comes_with_another_body_is_refused(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task())
    target, key = f"/acme/webhook/{hook['id']}/trigger", {"idempotency-key": "k"}
    await ada.post(target, [1], headers=key)
    refused = await ada.post(target, [2], headers=key)
    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert len(await jobs(ada)) == 1


async def test_a_refused_delivery_may_come_again(world: World, ada: Client) -> None:
    task = await world.task(enable=False)
    hook = await create_webhook(ada, task)
    target, key = f"/acme/webhook/{hook['id']}/trigger", {"x-github-delivery": "k"}
    assert (await ada.post(target, [1], headers=key)).status == 409
    await ada.patch(f"/acme/task/{task}", {"enable": True})
    assert (await ada.post(target, [1], headers=key)).status == 200
    assert len(await jobs(ada)) == 1


async def test_an_id_is_remembered_for_a_day(world: World, ada: Client, clock: ManualClock) -> None:
    hook = await create_webhook(ada, await world.task())
    target, key = f"/acme/webhook/{hook['id']}/trigger", {"idempotency-key": "k"}
    for hours, count in ((0, 1), (23, 1), (2, 2)):
        clock.move(hours * 3_600)
        await world.runtime.db.write(timeouts.purge_old_keys)
        await world.client("token").post(target, [1], headers=key)
        assert len(await jobs(world.client("token"))) == count


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_an_id_has_a_length(ada: Client, key: str) -> None:
    hook = await create_webhook(ada)
    refused = await ada.post(
        f"/acme/webhook/{hook['id']}/trigger", [], headers={"x-github-delivery": key}
    )
    assert (refused.status, refused.code) == (400, "invalid_key")
