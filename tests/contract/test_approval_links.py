"""One-time links in mails: a GET decides nothing, one POST decides once."""

import re
from typing import Any

import pytest

from belvedere.access.customers import member_changes
from belvedere.base.clock import DAY, SECOND
from contract import notifying
from contract.client import Client
from contract.running import create, show
from contract.test_approval_plan import CHANGES
from contract.world import World
from egress.fake_pool import FakeEgressPool
from manual_clock import ManualClock

LINK = re.compile(r"(Approve|Reject): +http://belvedere\.test(/-/approval/bvl_[\w-]+)")


@pytest.fixture
def pool(world: World) -> FakeEgressPool:
    world.runtime.settings.mail = "mailtos://relay.test"
    fake_egress_pool = FakeEgressPool(mail=world.runtime.settings.mail)
    world.runtime.egress = fake_egress_pool
    return fake_egress_pool


async def request_approval(
    world: World, uma: Client, pool: FakeEgressPool, **more: Any
) -> dict[str, str]:
    """A job that waits for Vic, and the links that were sent to Vic."""
    fields: dict[str, Any] = {"type": "approval", "approvers": ["vic"], "acl": ["uma"], **more}
    task = await world.task("release <1>", **fields)
    script = await world.task("deploy", triggers=[f"task:{task}:success"])
    job = await create(uma, task)
    await notifying.deliver_notices(world.runtime)
    (request,) = [item for item in pool.sent if item.to == "vic@acme.test"]
    actual_fields = {verb.lower(): path for verb, path in LINK.findall(request.body)}
    return {"job": job["id"], "script": script, "body": request.body, **actual_fields}


async def test_a_mailed_link_approves(
    world: World, ada: Client, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool)
    assert "deploy" in mail["body"] and "on the host web-1" in mail["body"]
    page = await anonymous.get(mail["approve"])
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "release &lt;1&gt;" in page.text and "deploy" in page.text
    assert "<form method='post'>" in page.text and "vic@acme.test" in page.text
    # Mail scanners open every link, and nothing happens.
    assert (await anonymous.request("HEAD", mail["approve"])).status == 200
    assert (await show(uma, mail["job"]))["lifecycle"] == "onhold"
    done = await anonymous.post(mail["approve"])
    assert (done.status, "It is approved." in done.text) == (200, True)
    job = await show(uma, mail["job"])
    assert (job["lifecycle"], job["state"]) == ("finished", "success")
    assert job["result"]["user"]["email"] == "vic@acme.test"
    entries = (await ada.get(f"/api/audit?customer=acme&object_id={mail['job']}")).json
    assert [(entry["user"], entry["after"]["by"]) for entry in entries] == [
        ("vic@acme.test", "link")
    ]


async def test_a_link_rejects(
    world: World, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool)
    assert (await anonymous.post(mail["reject"])).status == 200
    assert (await show(uma, mail["job"]))["state"] == "failure"


async def test_an_approval_link_works_once(
    world: World, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool)
    assert (await anonymous.post(mail["approve"])).status == 200
    again = await anonymous.post(mail["approve"])
    assert (again.status, again.code) == (404, "link_gone")
    other = await anonymous.post(mail["reject"])
    assert (other.status, other.code) == (409, "wrong_lifecycle")
    # The result can still be seen, without a button.
    page = await anonymous.get(mail["reject"])
    assert "It is approved." in page.text and "<form" not in page.text


async def test_an_approval_link_expires(
    world: World, uma: Client, anonymous: Client, pool: FakeEgressPool, clock: ManualClock
) -> None:
    mail = await request_approval(world, uma, pool, expires=30 * DAY)
    clock.move(7 * DAY // SECOND + 1)
    for answer in (await anonymous.get(mail["approve"]), await anonymous.post(mail["approve"])):
        assert (answer.status, answer.code) == (404, "link_gone")


async def test_an_approval_link_is_valid_only_for_its_approver(
    world: World, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    """A person who may no longer sign in cannot decide, even with a valid link."""
    mail = await request_approval(world, uma, pool)
    vic = world.actors.vic
    await world.runtime.db.write(
        member_changes.change, world.actors.olga, vic.member_id, enabled=False
    )
    answer = await anonymous.post(mail["approve"])
    assert (answer.status, answer.code) == (404, "link_gone")
    assert (await show(uma, mail["job"]))["lifecycle"] == "onhold"


async def test_a_changed_plan_is_not_approved_by_link(
    world: World, ada: Client, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool)
    await ada.patch(f"/acme/task/{mail['script']}", CHANGES["script"])
    refused = await anonymous.post(mail["approve"])
    assert (refused.status, refused.code) == (409, "approval_void")
    # It was refused, not used.
    assert (await anonymous.post(mail["reject"])).status == 200


async def test_guesses_are_limited(anonymous: Client) -> None:
    answers = [await anonymous.get(f"/-/approval/bvl_{n}") for n in range(25)]
    assert answers[0].status == 404
    assert answers[-1].status == 429


async def test_four_eyes_mail_only_the_others(
    world: World, uma: Client, pool: FakeEgressPool
) -> None:
    more = {"approvers": ["uma", "vic"], "four_eyes": True}
    await request_approval(world, uma, pool, **more)
    assert [notification.to for notification in pool.sent] == ["vic@acme.test"]
    inbox = [notification["kind"] for notification in (await uma.get("/acme/notification")).json]
    assert inbox == []


async def test_without_an_address_of_its_own_the_server_sends_no_links(
    world: World, uma: Client, pool: FakeEgressPool
) -> None:
    world.runtime.settings.url = ""
    mail = await request_approval(world, uma, pool)
    assert "approve" not in mail
    assert f"belvedere job approve {mail['job']}" in mail["body"]


async def test_the_page_cannot_be_framed_or_scripted(
    world: World, uma: Client, anonymous: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool)
    policy = (await anonymous.get(mail["approve"])).headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy


async def test_a_disabled_answer_has_no_link(
    world: World, uma: Client, pool: FakeEgressPool
) -> None:
    mail = await request_approval(world, uma, pool, success_enabled=False)
    assert "reject" in mail and "approve" not in mail
