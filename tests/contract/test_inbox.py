"""The inbox of each member: GET /notification, and who is notified of what."""

from typing import Any

import pytest

from belvedere.egress.messages import EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.notifications import inbox
from belvedere.server import notices
from belvedere.server.notices.objects import ALERT_KINDS
from contract import flowing, interface_fields
from contract.client import Client
from contract.notifying import deliver_notices, send_messages
from contract.running import create, run
from contract.world import World
from egress.fake_pool import FakeEgressPool
from egress.receivers import mail_sink
from manual_clock import ManualClock

RECORD: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "object_id", "group_id"), interface_fields.identifier),
    **dict.fromkeys(("kind", "object", "severity", "title", "body"), interface_fields.string),
    "read": interface_fields.boolean,
    "creation_date": interface_fields.moment,
}


@pytest.fixture(autouse=True)
def pool(world: World) -> FakeEgressPool:
    world.runtime.egress = fake_egress_pool = FakeEgressPool()
    return fake_egress_pool


async def titles(world: World, *names: str) -> dict[str, list[str]]:
    """The contents of these members' inboxes, newest first."""
    fields = {}
    for name in names:
        answer = await world.client(name).get("/acme/notification")
        assert answer.status == 200, answer.body
        fields[name] = [record["title"] for record in answer.json]
    return fields


async def failed_job(world: World, who: str, **fields: Any) -> None:
    task = await world.task(**fields)
    async with world.agent() as agent:
        await run(world.client(who), agent, task, code=1)
    await deliver_notices(world.runtime)


async def test_the_starter_is_notified_of_a_failed_job(world: World, uma: Client) -> None:
    """A job that ends badly notifies the person who started it."""
    await failed_job(world, "uma")
    (notification,) = (await uma.get("/acme/notification")).json
    assert interface_fields.missing(notification, RECORD) == []
    assert (notification["kind"], notification["title"]) == (
        "job.finished",
        "echo ended in failure",
    )
    assert (notification["severity"], notification["read"]) == ("HIGH", False)
    assert await titles(world, "ada", "max", "vic") == {"ada": [], "max": [], "vic": []}


async def test_failures_of_a_task_are_one_group(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        for _ in range(2):
            await run(uma, agent, task, code=1)
    await deliver_notices(world.runtime)
    rows = (await uma.get("/acme/notification")).json
    assert len({row["object_id"] for row in rows}) == 2
    assert [row["group_id"] for row in rows] == [task, task]


async def test_an_older_row_is_grouped_by_its_object(world: World, uma: Client) -> None:
    await failed_job(world, "uma")
    await world.runtime.db.write(lambda tx: tx.execute("update notifications set group_id = ''"))
    (notification,) = (await uma.get("/acme/notification")).json
    assert notification["group_id"] == notification["object_id"]


async def test_a_notification_is_marked_read_and_unread(world: World, uma: Client) -> None:
    await failed_job(world, "uma")
    (notification,) = (await uma.get("/notification?customer=acme")).json
    target = f"/acme/notification/{notification['id']}"
    assert (await uma.put(f"{target}/read")).json == {**notification, "read": True}
    assert (await uma.get("/acme/notification?where[read]=false")).json == []
    assert (await uma.put(f"{target}/unread")).json == notification
    counted = await uma.get("/acme/notification?where[read]=false&count=true&limit=1")
    assert counted.headers["x-total-count"] == "1"


async def test_all_are_read_at_once(world: World, uma: Client, vic: Client) -> None:
    monitor = (await world.client("ada").post("/acme/monitor", {"name": "m", "type": "push"})).json
    await failing(world, monitor["id"])
    assert (await uma.put("/acme/notification/read")).json == {"count": 1}
    assert (await uma.put("/acme/notification/read")).json == {"count": 0}
    assert [
        notification["read"] for notification in (await uma.get("/acme/notification")).json
    ] == [True]
    # Only the caller's own.
    assert [
        notification["read"] for notification in (await vic.get("/acme/notification")).json
    ] == [False]


async def failing(world: World, monitor_id: str) -> None:
    ada = world.client("ada")
    key = (await ada.get(f"/acme/monitor/{monitor_id}/credentials")).json["secret"]
    for _ in range(3):
        await ada.post(f"/monitor/{monitor_id}/push/{key}", {"state": "failure"})
    await deliver_notices(world.runtime)


async def test_an_inbox_is_read_by_its_owner_only(
    world: World, uma: Client, ada: Client, eve: Client
) -> None:
    await failed_job(world, "uma")
    (notification,) = (await uma.get("/acme/notification")).json
    for other in (ada, world.client("olga"), eve):
        refused = await other.put(f"/notification/{notification['id']}/read")
        assert (refused.status, refused.code) == (404, "notification_not_found")
    token = await world.client("token").get("/acme/notification")
    assert (token.status, token.code) == (403, "person_only")


async def test_admins_and_named_people_are_notified_of_a_job_without_a_starter(
    world: World,
) -> None:
    await failed_job(world, "token", acl=["vic"])
    text = "echo ended in failure"
    assert await titles(world, "olga", "ada", "max", "uma", "vic") == {
        "olga": [text],
        "ada": [text],
        "max": [],
        "uma": [],
        "vic": [text],
    }


@pytest.mark.parametrize("code", [0, 1])
async def test_notify_and_success_are_respected(world: World, code: int) -> None:
    """A job without `notify` notifies nobody; one that succeeds notifies nobody who did not ask for
    it."""
    task = await world.task(notify=code == 0)
    async with world.agent() as agent:
        await run(world.client("uma"), agent, task, code=code)
    await deliver_notices(world.runtime)
    assert await titles(world, "uma", "ada") == {"uma": [], "ada": []}


async def test_a_failed_step_is_reported_by_its_workflow_only(world: World, ada: Client) -> None:
    flow = await flowing.create_workflow(world, ada, tags=["prod"])
    await flowing.run(world.client("uma"), flow)
    async with world.agent() as agent:
        await flowing.step(world, agent, code=1)
    await deliver_notices(world.runtime)
    assert await titles(world, "uma", "ada") == {"uma": ["release ended in failure"], "ada": []}


async def test_approvers_are_notified(world: World, uma: Client) -> None:
    fields: dict[str, Any] = {"type": "approval", "approvers": ["vic@acme.test"], "acl": ["uma"]}
    await create(uma, await world.task("release", **fields))
    await deliver_notices(world.runtime)
    texts = ["release is waiting for an approval"]
    assert await titles(world, "uma", "vic", "ada") == {"uma": [], "vic": texts, "ada": []}


async def test_people_who_can_see_a_monitor_are_notified(world: World, ada: Client) -> None:
    for acl in ([], ["uma"]):
        body = {"name": f"m{len(acl)}", "type": "push", "acl": acl}
        monitor = (await ada.post("/acme/monitor", body)).json
        await failing(world, monitor["id"])
    record = await titles(world, "max", "uma", "vic")
    assert record["uma"] == record["max"] == ["m1 fails", "m0 fails"]
    assert record["vic"] == ["m0 fails"]


NOTE: dict[str, Any] = {
    "type": "notification",
    "subject": "Backup",
    "body": "is done",
    "recipients": ["vic@acme.test", "eve@globex.test", "nobody@acme.test"],
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], {"vic": ["Backup"], "max": []}),
        (["Hello", "", "max@acme.test, VIC"], {"vic": ["Hello"], "max": ["Hello"]}),
        (["", "x", '["max"]'], {"vic": [], "max": ["Backup"]}),
        (["a\r\nBcc: x@y.z", "", ""], {"vic": ["a Bcc: x@y.z"], "max": []}),
    ],
)
async def test_a_notification_task_reaches_the_members_that_it_names(
    world: World, ada: Client, arguments: list[str], said: dict[str, list[str]]
) -> None:
    items = [{"type": "input", "label": str(n), "required": False} for n in range(len(arguments))]
    await create(ada, await world.task("note", task_arguments=items, **NOTE), arguments)
    await deliver_notices(world.runtime)
    assert await titles(world, "vic", "max") == said
    assert (await world.client("eve").get("/notification")).json == []


async def test_managers_are_notified_of_a_forgotten_password_in_the_inbox(
    world: World, anonymous: Client
) -> None:
    await anonymous.post("/api/auth/password/recover", {"email": "uma@acme.test"})
    await deliver_notices(world.runtime)
    texts = ["uma@acme.test forgot the password and requests a link"]
    assert await titles(world, "max", "uma") == {"max": texts, "uma": []}


async def test_old_events_are_not_notified(world: World, ada: Client, clock: ManualClock) -> None:
    task = await world.task()
    async with world.agent() as agent:
        await run(ada, agent, task, code=1)
    clock.move(25 * 3_600)
    await deliver_notices(world.runtime)
    assert (
        await world.runtime.db.read(lambda tx: tx.value("select count(*) from notifications")) == 0
    )


# Mail from the installation itself


def mailing(world: World, port: int) -> None:
    address = f"mailto://127.0.0.1:{port}?from=belvedere@acme.test&mode=insecure"
    world.runtime.settings.mail = address
    # The operator's own mail server may have an internal address.
    world.runtime.egress = EgressPool(mail=address)


def link_in(body: bytes) -> str:
    """The token of the link, from a mail as it was sent."""
    text = body.replace(b"=\r\n", b"").replace(b"=3D", b"=").decode()
    return text.partition("/ui/link#")[2].split()[0]


async def test_a_forgotten_password_is_mailed(world: World, anonymous: Client) -> None:
    with mail_sink() as sink:
        mailing(world, sink.port)
        await anonymous.post("/api/auth/password/recover", {"email": "uma@acme.test"})
        await deliver_notices(world.runtime)
        await world.runtime.egress.close()
    (received_message,) = sink.got
    assert "uma@acme.test" in received_message.headers["to"]
    body = {"token": link_in(received_message.body), "password": "a-wholly-new-one"}
    assert (await anonymous.put("/api/auth/password/reset", body)).status == 200
    text = await world.runtime.db.read(lambda tx: tx.rows("select state, box from messages"))
    assert text == [("sent", None)], "the link is kept nowhere"


async def test_an_invitation_is_mailed(world: World, anonymous: Client) -> None:
    with mail_sink() as sink:
        mailing(world, sink.port)
        max_ = world.client("max")
        reply = await max_.post("/api/member", {"user": {"email": "new@acme.test"}})
        await deliver_notices(world.runtime)
        await world.runtime.egress.close()
    (received_message,) = sink.got
    assert "new@acme.test" in received_message.headers["to"]
    body = {"token": link_in(received_message.body), "password": "a-wholly-new-one"}
    # Both links work, and they lead to one member.
    response = await anonymous.post("/api/auth/link", {"token": reply.json["invitation"]["token"]})
    assert response.status == 200
    assert (await anonymous.post("/api/auth/invitation", body)).status == 200
    again = {"token": reply.json["invitation"]["token"], "password": "another-new-one"}
    assert (await anonymous.post("/api/auth/invitation", again)).status in (401, 404)


async def test_a_notification_task_mails_where_it_says_so(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    world.runtime.settings.mail = pool.mail = "mailto://mail.test"
    for email in (False, True):
        types = {"email": email}
        task = await world.task(f"note {email}", notificationTypes=types, **NOTE)
        await create(ada, task)
    await deliver_notices(world.runtime)
    await send_messages(world.runtime)
    assert [(item.to, item.title, item.body) for item in pool.sent] == [
        ("vic@acme.test", "Backup", "is done")
    ]


PREFERENCES = "/acme/notification/preferences"


async def test_muted_notifications_are_not_delivered(
    world: World, uma: Client, ada: Client
) -> None:
    record = (await uma.get(PREFERENCES)).json
    assert record["muted"] == [] and "job.finished" in record["kinds"]
    set_ = await uma.put(PREFERENCES, {"muted": ["job.finished", "job.lost", "job.finished"]})
    assert set_.json["muted"] == ["job.finished", "job.lost"]
    assert (await uma.get("/notification/preferences?customer=acme")).json == set_.json
    await failed_job(world, "uma")
    await failed_job(world, "ada", name="other")
    assert await titles(world, "uma", "ada") == {"uma": [], "ada": ["other ended in failure"]}
    await uma.put(PREFERENCES, {"muted": []})
    await failed_job(world, "uma", name="third")
    assert await titles(world, "uma") == {"uma": ["third ended in failure"]}


async def test_a_deleted_channel_leaves_no_failed_messages_in_inboxes(
    world: World, ada: Client, pool: FakeEgressPool
) -> None:
    """Neither those that are in the inbox already nor one that is still to be delivered."""
    body = {"name": "ops", "url": "https://example.com/hook"}
    channels = [(await ada.post("/acme/notify/channel", body)).json["id"] for _ in range(2)]
    pool.results[:] = [EgressResult("There is no such address.", for_good=True)] * 4
    for channel in channels:
        await ada.post(f"/acme/notify/channel/{channel}/test")
    await deliver_notices(world.runtime)
    title = "A message could not be delivered"
    assert await titles(world, "ada") == {"ada": [title, title]}
    await ada.post(f"/acme/notify/channel/{channels[0]}/test")
    assert (await ada.delete(f"/acme/notify/channel/{channels[0]}")).status == 200
    await deliver_notices(world.runtime)
    assert await titles(world, "ada") == {"ada": [title]}


@pytest.mark.parametrize("muted", [["job.assigned"], ["x"], [""], [7], "job.finished", None])
async def test_an_unknown_kind_cannot_be_muted(uma: Client, muted: Any) -> None:
    assert (await uma.put(PREFERENCES, {"muted": muted})).status == 400
    assert (await uma.get(PREFERENCES)).json["muted"] == []


async def test_preferences_are_a_persons(world: World, anonymous: Client) -> None:
    for client, status in ((world.client("token"), 403), (anonymous, 401)):
        assert (await client.get(PREFERENCES)).status == status
        assert (await client.put(PREFERENCES, {"muted": []})).status == status


def test_every_kind_has_notifications() -> None:
    assert set(inbox.KINDS) <= notices.KINDS
    alerts = {kind for how in ALERT_KINDS.values() for kind in how.alerts}
    assert alerts <= set(inbox.KINDS)
