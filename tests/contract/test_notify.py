"""Channels, rules and messages: who may create them, what is sent, what finally fails."""

import hashlib
import hmac
import json
from typing import Any

import pytest

from belvedere.access.credentials import secret_keys
from belvedere.egress.messages import EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.notifications.model import RETRY_DELAYS
from contract import interface_fields
from contract.client import Client
from contract.notifying import deliver_notices, send_messages
from contract.world import World
from egress.fake_pool import FakeEgressPool
from egress.receivers import LOOPBACK, http_sink
from manual_clock import ManualClock

MISSING = "0" * 24
SECRET = "https://example.com/canary-path?token=canary-token"
CHANNEL: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "customer_id"), interface_fields.identifier),
    **dict.fromkeys(("name", "service", "url", "customer_name"), interface_fields.string),
    "enable": interface_fields.boolean,
    "version": interface_fields.integer,
    **dict.fromkeys(("creation_date", "last_update"), interface_fields.moment),
}


@pytest.fixture
def pool(world: World) -> FakeEgressPool:
    """Nothing leaves the machine unless a test requests it."""
    fake_egress_pool = FakeEgressPool()
    world.runtime.egress = fake_egress_pool
    return fake_egress_pool


async def channel(ada: Client, url: str = "https://example.com/hook", **more: Any) -> Any:
    answer = await ada.post("/acme/notify/channel", {"name": "ops", "url": url, **more})
    assert answer.status == 201, answer.body
    return answer.json


async def rule(ada: Client, *channels: str, **more: Any) -> Any:
    body = {"name": "all", "channels": list(channels), "group": 0, **more}
    answer = await ada.post("/acme/notify/rule", body)
    assert answer.status == 201, answer.body
    return answer.json


async def fails(world: World) -> str:
    """A monitor of acme that has just failed; its id."""
    ada = world.client("ada")
    response = await ada.post(
        "/acme/monitor", {"name": "shop", "type": "push", "fail_threshold": 1}
    )
    monitor: str = response.json["id"]
    await ada.patch(f"/acme/monitor/{monitor}", {"failure_severity": "HIGH", "tags": ["web"]})
    await failed_again(world, monitor)
    return monitor


async def failed_again(world: World, monitor: str, state: str = "failure") -> None:
    """Or recovered, depending on the state."""
    secret = world.runtime.db.write_blocking(
        secret_keys.reveal, world.runtime.keyring, world.actors.ada, "monitor", monitor
    )
    answer = await world.client().post(f"/monitor/{monitor}/push/{secret}", {"state": state})
    assert answer.status == 200, answer.body


# Channels


async def test_a_failure_reaches_a_webhook_receiver(
    world: World, ada: Client, clock: ManualClock
) -> None:
    """From a failure to a receiver that checks the signature."""
    with http_sink() as sink:
        world.runtime.egress = EgressPool(LOOPBACK)
        new_channel = await channel(ada, sink.url)
        assert interface_fields.missing(new_channel, CHANNEL) == []
        assert (new_channel["service"], new_channel["url"]) == (
            "Webhook",
            f"http://127.0.0.1:{sink.port}/***",
        )
        await rule(ada, new_channel["id"])
        monitor = await fails(world)
        await deliver_notices(world.runtime)
        await world.runtime.egress.close()
    secret = (await ada.get(f"/acme/notify/channel/{new_channel['id']}/credentials")).json["secret"]
    (received_message,) = sink.got
    stamp, _, text = received_message.headers["x-belvedere-signature"].partition(",sha256=")
    signed = stamp.removeprefix("t=").encode() + b"." + received_message.body
    assert hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() == text
    (message,) = (await ada.get("/acme/notify/message")).json
    body = json.loads(received_message.body)
    assert received_message.headers["idempotency-key"] == message["id"] == body["id"]
    assert (body["title"], body["customer"]) == ("[acme] shop fails", "acme")
    assert body["events"][0]["object_id"] == monitor
    assert (message["state"], message["attempts"]) == ("sent", 1)


async def test_the_address_of_a_channel_is_never_shown(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    new_channel = await channel(ada, SECRET)
    target = f"/acme/notify/channel/{new_channel['id']}"
    await ada.patch(target, {"url": SECRET + "2", "name": "again"})
    pool.results = [EgressResult("failed")]
    await ada.post(f"{target}/test")
    for place in (target, "/acme/notify/channel", "/acme/notify/message", "/api/audit"):
        assert "canary" not in (await ada.get(place)).text
    rows = await world.runtime.db.read(
        lambda tx: str(tx.rows("select box, shown, name from channels"))
    )
    assert "canary" not in rows
    assert pool.sent[0].url == SECRET + "2"


async def test_a_channel_is_changed_and_deleted(ada: Client, pool: FakeEgressPool) -> None:
    new_channel = await channel(ada)
    target = f"/acme/notify/channel/{new_channel['id']}"
    changed = await ada.patch(target, {"name": "night", "enable": False})
    assert (changed.json["name"], changed.json["enable"], changed.json["version"]) == (
        "night",
        False,
        2,
    )
    stale = await ada.patch(target, {"name": "x"}, headers={"if-match": "1"})
    assert (stale.status, stale.code) == (412, "stale")
    assert (await ada.get("/notify/channel?customer=acme")).json == [changed.json]
    gone = await ada.delete(target)
    assert (gone.status, gone.json) == (200, changed.json)
    assert (await ada.get(target)).code == "channel_not_found"


async def test_a_channel_in_use_stays(ada: Client, pool: FakeEgressPool) -> None:
    new_channel = await channel(ada)
    used = await rule(ada, new_channel["id"])
    refused = await ada.delete(f"/acme/notify/channel/{new_channel['id']}")
    assert (refused.status, refused.code) == (409, "channel_in_use")
    await ada.delete(f"/acme/notify/rule/{used['id']}")
    assert (await ada.delete(f"/acme/notify/channel/{new_channel['id']}")).status == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "https://example.com"}, "name"),
        ({"name": "x"}, "url"),
        ({"name": "", "url": "https://example.com"}, "name"),
        ({"name": "x", "url": "nonsense://x"}, "url"),
        ({"name": "x", "url": "a\x00b"}, "url"),
        ({"name": "x", "url": 5}, "url"),
        ({"name": "x", "url": "https://example.com", "colour": "red"}, "colour"),
    ],
)
async def test_an_invalid_channel_is_reported(
    ada: Client, pool: FakeEgressPool, body: dict[str, Any], field: str
) -> None:
    refused = await ada.post("/acme/notify/channel", body)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, field)
    assert (await ada.get("/acme/notify/channel")).json == []


async def test_a_test_message_reports_its_result(ada: Client, pool: FakeEgressPool) -> None:
    new_channel = await channel(ada)
    target = f"/acme/notify/channel/{new_channel['id']}"
    good = await ada.post(f"{target}/test")
    assert (good.status, good.json["state"], good.json["rule_id"]) == (201, "sent", None)
    assert "Test message for the channel ops" in pool.sent[0].title
    pool.results = [EgressResult("The receiver responded with 500.")]
    bad = (await ada.post(f"{target}/test")).json
    # It is not retried: a test message that arrives hours later would confuse people.
    assert (bad["state"], bad["tries"][0]["fault"]) == ("dead", "The receiver responded with 500.")
    assert bad["tries"][0]["hint"].startswith("The receiver has an error of its own.")
    await ada.patch(target, {"enable": False})
    refused = await ada.post(f"{target}/test")
    assert (refused.status, refused.code) == (409, "channel_disabled")


async def test_only_webhooks_have_a_secret(ada: Client, pool: FakeEgressPool) -> None:
    signed, other = await channel(ada), await channel(ada, "slack://a/b/c")
    target = f"/acme/notify/channel/{signed['id']}/credentials"
    before = (await ada.get(target)).json["secret"]
    after = (await ada.post(f"{target}/rotate")).json["secret"]
    assert before != after == (await ada.get(target)).json["secret"]
    await ada.post(f"/acme/notify/channel/{signed['id']}/test")
    assert pool.sent[0].secret == after
    assert other["url"] == "slack://***"
    for refused in (
        await ada.get(f"/acme/notify/channel/{other['id']}/credentials"),
        await ada.post(f"/acme/notify/channel/{other['id']}/credentials/rotate"),
    ):
        assert (refused.status, refused.code) == (409, "not_signed")


# Rules


async def test_a_rule_is_changed_and_deleted(ada: Client, pool: FakeEgressPool) -> None:
    hook = await channel(ada)
    quiet = {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}
    more: dict[str, Any] = {"kinds": ["job.*", "monitor.failure"], "severity": "high"}
    new_rule = await rule(ada, hook["id"], quiet=quiet, tags=["web", "web"], **more)
    assert (new_rule["severity"], new_rule["tags"], new_rule["group"]) == ("HIGH", ["web"], 0)
    assert new_rule["quiet"] == {**quiet, "but_critical": True}
    target = f"/acme/notify/rule/{new_rule['id']}"
    changed = (await ada.patch(target, {"quiet": None, "group": 60, "states": ["failure"]})).json
    assert (changed["quiet"], changed["group"], changed["states"]) == (None, 60, ["failure"])
    # Fields that are left out keep their values.
    assert (changed["kinds"], changed["channels"]) == (new_rule["kinds"], [hook["id"]])
    assert (await ada.get("/acme/notify/rule")).json == [changed]
    assert (await ada.delete(target)).json == changed
    assert (await ada.get(target)).code == "rule_not_found"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": None}, "name"),
        ({"channels": []}, "channels"),
        ({"channels": [MISSING]}, "channels[0]"),
        ({"channels": ["x"]}, "channels[0]"),
        ({"channels": [MISSING] * 21}, "channels"),
        ({"kinds": ["job.dreamt"]}, "kinds[0]"),
        ({"kinds": ["message.dead"]}, "kinds[0]"),
        ({"kinds": ["x.*"]}, "kinds[0]"),
        ({"objects": ["x"]}, "objects[0]"),
        ({"severity": "worst"}, "severity"),
        ({"group": -1}, "group"),
        ({"group": 3_601}, "group"),
        ({"quiet": {"from": "24:00", "to": "07:00"}}, "quiet.from"),
        ({"quiet": {"from": "07:00", "to": "07:00"}}, "quiet.to"),
        ({"quiet": {"from": "07:00", "to": "08:00", "zone": "Mars/Base"}}, "quiet.zone"),
        ({"quiet": {"from": "07:00", "to": "08:00", "zone": "../../etc/passwd"}}, "quiet.zone"),
    ],
)
async def test_an_invalid_rule_is_reported(
    ada: Client, pool: FakeEgressPool, body: dict[str, Any], field: str
) -> None:
    hook = await channel(ada)
    input_body = {"name": "x", "channels": [hook["id"]], **body}
    refused = await ada.post("/acme/notify/rule", input_body)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, field)
    assert (await ada.get("/acme/notify/rule")).json == []


async def test_a_channel_of_another_organization_is_not_found(
    world: World, ada: Client, eve: Client, pool: FakeEgressPool
) -> None:
    theirs = (await eve.post("/notify/channel", {"name": "x", "url": "https://example.com"})).json
    body = {"name": "x", "channels": [theirs["id"]]}
    refused = await ada.post("/acme/notify/rule", body)
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "channels[0]")


# Messages


async def test_a_message_is_tried_again_and_then_dead(
    world: World, pool: FakeEgressPool, clock: ManualClock
) -> None:
    # Half a day passes, which no session outlives.
    token = world.client("token")
    await rule(token, (await channel(token))["id"])
    pool.results = [EgressResult(f"fault {n}") for n in range(8)]
    await fails(world)
    await deliver_notices(world.runtime)
    for pause in RETRY_DELAYS:
        clock.move(pause / 1_000 * 1.3)
        await send_messages(world.runtime)
    (message,) = (await token.get("/acme/notify/message?where[state]=dead")).json
    assert (message["attempts"], message["due"]) == (8, None)
    assert [item["fault"] for item in message["tries"]] == [f"fault {n}" for n in range(8)]
    # The same text under the same id each time.
    assert len({item.payload for item in pool.sent}) == 1
    await deliver_notices(world.runtime)
    assert len(pool.sent) == 8, "a message about a message that could not be sent"
    select_kinds = "select kind from notifications where user_id = ? order by id"
    rows = await world.runtime.db.read(lambda tx: tx.rows(select_kinds, world.actors.ada.user_id))
    assert rows == [("monitor.failure",), ("message.dead",)]
    target = f"/acme/notify/message/{message['id']}"
    assert (await token.post(f"{target}/retry")).json["state"] == "waiting"
    refused = await token.post(f"{target}/retry")
    assert (refused.status, refused.code) == (409, "not_dead")
    await send_messages(world.runtime)
    assert (await token.get(target)).json["state"] == "sent"


async def test_a_permanent_refusal_is_not_retried(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    await rule(ada, (await channel(ada))["id"])
    pool.results = [EgressResult("inner", for_good=True)]
    await fails(world)
    await deliver_notices(world.runtime)
    assert [message["state"] for message in (await ada.get("/acme/notify/message")).json] == [
        "dead"
    ]


async def test_an_inner_receiver_is_never_called(world: World, ada: Client) -> None:
    """Through the whole server, with the setting at its default."""
    with http_sink() as trap:
        world.runtime.egress = EgressPool(world.runtime.settings.inner_networks)
        new_channel = await channel(ada, trap.url)
        answer = (await ada.post(f"/acme/notify/channel/{new_channel['id']}/test")).json
        await world.runtime.egress.close()
    assert (answer["state"], trap.calls) == ("dead", 0)
    assert "internal network" in answer["tries"][0]["fault"]


async def test_several_events_become_one_message(
    world: World, ada: Client, pool: FakeEgressPool, clock: ManualClock
) -> None:
    await rule(ada, (await channel(ada))["id"], group=30)
    monitor = await fails(world)
    await deliver_notices(world.runtime)
    await failed_again(world, monitor, "normal")
    await deliver_notices(world.runtime)
    assert pool.sent == []
    clock.move(31)
    await send_messages(world.runtime)
    (request,) = pool.sent
    assert request.title == "[acme] 2 events: shop fails, …"
    assert "shop is normal again" in request.body
    # The period is over: the next event begins another one.
    await failed_again(world, monitor)
    await deliver_notices(world.runtime)
    clock.move(31)
    await send_messages(world.runtime)
    assert len(pool.sent) == 2


async def test_quiet_hours_hold_back_all_but_the_critical(
    world: World, ada: Client, pool: FakeEgressPool, clock: ManualClock
) -> None:
    # Whatever the clock of the test shows: quiet hours began an hour ago and last two.
    hour = clock() // 3_600_000 % 24
    quiet = {"from": f"{(hour - 1) % 24:02d}:00", "to": f"{(hour + 1) % 24:02d}:00"}
    await rule(ada, (await channel(ada))["id"], quiet=quiet)
    monitor = await fails(world)
    await deliver_notices(world.runtime)
    assert pool.sent == []
    await ada.patch(f"/acme/monitor/{monitor}", {"failure_severity": "CRITICAL"})
    await failed_again(world, monitor, "normal")
    await deliver_notices(world.runtime)
    assert [item.title for item in pool.sent] == ["[acme] shop is normal again"]
    clock.move(3_600)
    await send_messages(world.runtime)
    assert [item.title for item in pool.sent[1:]] == ["[acme] shop fails"]


@pytest.mark.parametrize(
    ("more", "is_told"),
    [
        ({}, True),
        ({"kinds": ["monitor.failure"]}, True),
        ({"kinds": ["monitor.*"]}, True),
        ({"kinds": ["job.finished"]}, False),
        ({"severity": "HIGH"}, True),
        ({"severity": "CRITICAL"}, False),
        ({"tags": ["WEB"]}, True),
        ({"tags": ["db"]}, False),
        ({"states": ["failure"]}, True),
        ({"states": ["normal"]}, False),
        ({"objects": [MISSING]}, False),
        ({"enable": False}, False),
    ],
)
async def test_a_rule_sends_the_events_that_it_names(
    world: World, ada: Client, pool: FakeEgressPool, more: dict[str, Any], is_told: bool
) -> None:
    await rule(ada, (await channel(ada))["id"], **more)
    await fails(world)
    await deliver_notices(world.runtime)
    failures = [item for item in pool.sent if "shop fails" in item.title]
    assert bool(failures) is is_told


async def test_a_rule_can_name_one_monitor(world: World, ada: Client, pool: FakeEgressPool) -> None:
    monitor = await fails(world)
    await deliver_notices(world.runtime)
    await rule(ada, (await channel(ada))["id"], objects=[monitor])
    other = await ada.post("/acme/monitor", {"name": "o", "type": "push", "fail_threshold": 1})
    await failed_again(world, other.json["id"])
    await failed_again(world, monitor, "normal")
    await deliver_notices(world.runtime)
    assert [item.title for item in pool.sent] == ["[acme] shop is normal again"]


async def test_a_muted_monitor_sends_no_notifications(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    await rule(ada, (await channel(ada))["id"])
    monitor = await fails(world)
    await ada.put(f"/acme/monitor/{monitor}/mute", {})
    await failed_again(world, monitor, "normal")
    await failed_again(world, monitor)
    await deliver_notices(world.runtime)
    titles = [item.title for item in pool.sent]
    assert titles == ["[acme] shop fails"], "only what came before the mute"
    assert len((await ada.get("/acme/notification")).json) == 1


@pytest.mark.parametrize("alerts", [True, False])
async def test_indicators_alert_unless_alerts_are_off(
    world: World, ada: Client, pool: FakeEgressPool, alerts: bool
) -> None:
    await rule(ada, (await channel(ada))["id"])
    body = {"title": "queue", "type": "text", "value": "5", "alerts": alerts}
    indicator = (await ada.post("/acme/indicator", body)).json
    await ada.patch(f"/acme/indicator/{indicator['id']}/state", {"state": "failure"})
    await deliver_notices(world.runtime)
    assert [item.title for item in pool.sent] == ["[acme] queue changed to failure"] * alerts


async def test_a_disabled_channel_is_sent_nothing(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    first_channel = await channel(ada)
    await rule(ada, first_channel["id"])
    await ada.patch(f"/acme/notify/channel/{first_channel['id']}", {"enable": False})
    await fails(world)
    await deliver_notices(world.runtime)
    assert (await ada.get("/acme/notify/message")).json == []


async def test_another_organization_is_not_notified(
    world: World, ada: Client, eve: Client, pool: FakeEgressPool
) -> None:
    theirs = (await eve.post("/notify/channel", {"name": "x", "url": "https://example.com"})).json
    body = {"name": "x", "channels": [theirs["id"]], "kinds": [], "group": 0}
    assert (await eve.post("/notify/rule", body)).status == 201
    await fails(world)
    await deliver_notices(world.runtime)
    assert pool.sent == []
    assert (await eve.get("/notify/message")).json == []
    assert (await eve.get("/notification")).json == []


async def test_a_manager_sees_the_names_of_who_is_notified(world: World) -> None:
    ada, max = world.client("ada"), world.client("max")
    path = "/acme/notify/recipients"
    assert (await max.get(path)).json == []
    ops = (await channel(ada, SECRET))["id"]
    await rule(ada, ops, tags=["Web"], severity="HIGH")
    await rule(ada, (await channel(ada, name="nights"))["id"], objects=[MISSING], kinds=["job.*"])
    await rule(ada, (await channel(ada, name="off", enable=False))["id"])
    assert (await max.get(f"{path}?tag=WEB")).json == [{"name": "ops"}]
    assert (await max.get(f"{path}?tag=web&severity=LOW")).json == []
    task = f"{path}?kind=task&tag=db&object={MISSING}"
    assert (await max.get(task)).json == [{"name": "nights"}]


async def test_a_user_does_not_see_who_is_notified(world: World) -> None:
    assert (await world.client("uma").get("/acme/notify/recipients")).status == 403


@pytest.mark.parametrize("query", ["kind=host", "severity=low"])
async def test_an_unknown_kind_or_severity_is_refused(world: World, query: str) -> None:
    answer = await world.client("ada").get(f"/acme/notify/recipients?{query}")
    assert (answer.status, answer.json["code"]) == (400, "bad_query")
