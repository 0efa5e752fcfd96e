"""Attacks on approvals: nobody alone decides about what they started, and nobody makes themselves
an approver."""

from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, Level, operator
from belvedere.access.customers import member_changes
from belvedere.access.people import memberships
from belvedere.jobs import store
from belvedere.jobs.approvals import links as approval_links
from belvedere.jobs.people import approvers
from belvedere.server.background import loops
from contract import flowing
from contract.client import Client, Response
from contract.running import create
from contract.test_triggers import react
from contract.world import World
from manual_clock import ManualClock
from people import PASSWORD, PASSWORD_HASH


async def approval(world: World, approvers: list[str], **more: Any) -> str:
    fields = {"type": "approval", "approvers": approvers, "acl": ["uma", "max"], **more}
    return await world.task("release", **{"four_eyes": True, **fields})


async def waiting_approval(ada: Client) -> str:
    """The only approval that waits."""
    jobs = (await ada.get("/acme/job?where[lifecycle]=onhold&where[_type]=ApprovalJob")).json
    assert len(jobs) == 1, jobs
    job_id: str = jobs[0]["id"]
    return job_id


async def approve(world: World, who: str, job_id: str) -> Response:
    return await world.client(who).put(f"/acme/job/{job_id}/approve")


async def start_by_secret(ada: Client, anonymous: Client, task: str) -> Response:
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    return await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")


async def test_a_reader_of_the_secret_cannot_approve_its_jobs(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, ["ada", "olga", "max"])
    job_id = (await start_by_secret(ada, anonymous, task)).json["id"]
    for who in ("ada", "olga"):
        refused = await approve(world, who, job_id)
        assert (refused.status, refused.code) == (403, "four_eyes")
    assert (await approve(world, "max", job_id)).status == 200


async def test_a_run_without_possible_approvers_is_refused(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, ["ada", "olga"])
    refused = await start_by_secret(ada, anonymous, task)
    assert (refused.status, refused.code) == (400, "no_approver")
    assert "Name an approver" in refused.json["message"]
    # A person can still start it, and the other approver decides.
    job = await create(ada, task)
    assert (await approve(world, "olga", job["id"])).status == 200


async def test_a_reader_of_the_webhook_cannot_approve_its_jobs(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, ["ada", "max"])
    hook = (await ada.post("/acme/webhook", {"name": "push", "tasks": [task]})).json["id"]
    secret = (await ada.get(f"/acme/webhook/{hook}/credentials")).json["secret"]
    assert (await anonymous.post(f"/acme/webhook/{hook}/trigger/secret/{secret}")).status == 200
    job_id = await waiting_approval(ada)
    assert (await approve(world, "ada", job_id)).code == "four_eyes"
    assert (await approve(world, "max", job_id)).status == 200


async def test_a_workflow_started_by_its_secret_counts_the_same(
    world: World, ada: Client, anonymous: Client
) -> None:
    """The approval is its second step: it checks who started the workflow."""
    tasks = [await world.task(), await approval(world, ["ada", "max"])]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
        "edges": [{"source": "a", "target": "b"}],
    }
    flow = await flowing.create_workflow(world, ada, graph=graph)
    secret = await flowing.secret_of(ada, flow)
    async with world.agent() as agent:
        path = f"/workflows/{flow['id']}/secret/{secret}/job?customer=acme"
        response = await anonymous.post(path, {})
        assert response.status == 200, response.body
        await flowing.step(world, agent)
    job_id = await waiting_approval(ada)
    assert (await approve(world, "ada", job_id)).code == "four_eyes"
    assert (await approve(world, "max", job_id)).status == 200


async def test_the_starter_of_a_triggering_job_cannot_approve_the_target(
    world: World, ada: Client, uma: Client
) -> None:
    source = await world.task()
    between = await world.task("between", triggers=[f"task:{source}:success"])
    await approval(world, ["uma", "vic"], triggers=[f"task:{between}:success"])
    async with world.agent() as agent:
        await create(uma, source)
        for _ in range(2):
            await agent.end(await agent.order())
            await react(world)
    job_id = await waiting_approval(ada)
    assert (await approve(world, "uma", job_id)).code == "four_eyes"
    assert (await approve(world, "vic", job_id)).status == 200


async def test_the_creator_of_a_schedule_cannot_approve_its_jobs(
    world: World, ada: Client, clock: ManualClock
) -> None:
    task = await approval(world, ["ada", "olga"])
    await ada.post(f"/acme/task/{task}/schedule", {"repeatEvery": "* * * * *"})
    clock.move(60)
    await loops.fire_schedules(world.runtime)
    job_id = await waiting_approval(ada)
    assert (await approve(world, "ada", job_id)).code == "four_eyes"
    # Another admin did not create or change the schedule.
    assert (await approve(world, "olga", job_id)).status == 200


async def test_an_unattended_approval_is_offered_only_to_possible_approvers(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, ["ada", "max"])
    job_id = (await start_by_secret(ada, anonymous, task)).json["id"]
    for who, count in (("ada", 0), ("max", 1)):
        needs = (await world.client(who).get("/-/needs")).json
        assert len([need for need in needs if need["job"]["id"] == job_id]) == count


TAG = "release:approver"


async def tagged_approval(world: World) -> None:
    """The tag exists because Vic has it."""
    vic = world.actors.vic
    await world.runtime.db.write(member_changes.change, world.actors.ada, vic.member_id, tags=[TAG])
    await approval(world, [TAG], four_eyes=False)


async def test_a_manager_cannot_give_an_approver_tag(world: World) -> None:
    await tagged_approval(world)
    manager = world.client("max")
    for member in (world.actors.max, world.actors.uma):
        refused = await manager.patch(f"/api/member/{member.member_id}", {"tags": ["a:b", TAG]})
        assert (refused.status, refused.code) == (403, "approver_tag")
    person = {"email": "friend@acme.test"}
    refused = await manager.post("/api/member", {"user": person, "tags": [TAG.upper()]})
    assert (refused.status, refused.code) == (403, "approver_tag")
    # A manager may assign other tags.
    other = await manager.patch(f"/api/member/{world.actors.uma.member_id}", {"tags": ["a:b"]})
    assert other.status == 200


async def test_a_manager_cannot_take_an_approver_tag_away(world: World) -> None:
    await tagged_approval(world)
    path = f"/api/member/{world.actors.vic.member_id}"
    refused = await world.client("max").patch(path, {"tags": []})
    assert (refused.status, refused.code) == (403, "approver_tag")
    response = await world.client("max").patch(path, {"tags": [TAG, "a:b"]})
    assert response.status == 200


async def test_the_tag_of_an_open_approval_stays_guarded(world: World, ada: Client) -> None:
    await tagged_approval(world)
    task = (await ada.get("/acme/task")).json[0]["id"]
    await create(ada, task)
    changed = await ada.put(f"/acme/task/{task}", {"name": "release", "approvers": ["ada"]})
    assert changed.status == 200
    path = f"/api/member/{world.actors.max.member_id}"
    refused = await world.client("max").patch(path, {"tags": [TAG]})
    assert (refused.status, refused.code) == (403, "approver_tag")


async def test_an_admin_gives_an_approver_tag(world: World, ada: Client) -> None:
    await tagged_approval(world)
    path = f"/api/member/{world.actors.max.member_id}"
    assert (await ada.patch(path, {"tags": [TAG]})).status == 200


def test_a_user_name_that_equals_an_approver_tag_gives_no_right() -> None:
    person = Actor("c", "acme", Level.MANAGER, "member", user_id="u", username="release")
    assert not approvers.is_named({"release"}, person, {"u"})
    assert approvers.is_named(
        {"release"}, msgspec.structs.replace(person, tags=("Release",)), {"u"}
    )


# Credentials of approvers.


@pytest.mark.parametrize("named_by", ["id", "tag"])
async def test_a_manager_gets_no_link_for_an_approver(world: World, named_by: str) -> None:
    """The attack: reset the approver's password, sign in as the approver, approve one's own job."""
    uma = world.actors.uma
    await world.runtime.db.write(member_changes.change, world.actors.ada, uma.member_id, tags=[TAG])
    await approval(world, ["uma" if named_by == "id" else TAG])
    path = f"/api/member/{uma.member_id}/reset"
    refused = await world.client("max").post(path)
    assert (refused.status, refused.code) == (403, "approver")
    assert (
        await world.client("max").post(f"/api/member/{world.actors.vic.member_id}/reset")
    ).status == 201
    assert (await world.client("ada").post(path)).status == 201


async def test_a_manager_does_not_invite_an_approver(world: World, ada: Client) -> None:
    """Neither by an address that a task names nor with a new link for an invited person."""
    body = {"user": {"email": "pat@acme.test"}, "credential": "user"}
    member = (await ada.post("/api/member", body)).json
    await approval(world, ["pat@acme.test"])
    refused = await world.client("max").post(f"/api/member/{member['id']}/reset")
    assert (refused.status, refused.code) == (403, "approver")
    people = ["quin@acme.test"]
    await approval(world, [], approvals_target="assignees", assigned_users=people)
    body = {"user": {"email": "Quin@acme.test"}, "credential": "user"}
    refused = await world.client("max").post("/api/member", body)
    assert (refused.status, refused.code) == (403, "approver")
    assert (await ada.post("/api/member", body)).status == 200


# Accounts that are joined.


async def pat_of_two(world: World, ada: Client) -> Client:
    """Pat has their own account in globex, and an account of acme with the same address."""
    by = operator(world.actors.globex)
    await world.runtime.db.write(
        member_changes.add_member, by, "pat@acme.test", Level.USER, password_hash=PASSWORD_HASH
    )
    body = {"user": {"email": "pat@acme.test"}, "credential": "user"}
    link = (await ada.post("/api/member", body)).json["invitation"]["token"]
    used = {"token": link, "password": "another-long-password"}
    done = await world.client().post("/api/auth/invitation", used)
    return Client(world.app, done.json["access_token"])


async def join_acme(world: World) -> Client:
    """Pat accepts acme for their own account."""
    body = {"email": "pat@acme.test", "password": PASSWORD, "customer": "globex"}
    pat = Client(
        world.app, (await world.client().post("/api/auth/login", body)).json["access_token"]
    )
    (offer,) = (await pat.get("/api/session/invitation")).json
    assert (await pat.post("/api/session/invitation", {"id": offer["id"]})).status == 200
    moved = await pat.put(f"/api/session/customer/{world.actors.acme.id}")
    return Client(world.app, moved.json["access_token"])


async def test_an_approver_who_joins_with_another_account_stays_approver(
    world: World, ada: Client
) -> None:
    await pat_of_two(world, ada)
    task = await approval(world, ["pat@acme.test"])
    job = await create(ada, task)
    pat = await join_acme(world)
    assert [record["id"] for record in (await pat.get("/acme/job")).json] == [job["id"]]
    assert (await pat.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_starter_who_joins_with_another_account_stays_the_starter(
    world: World, ada: Client
) -> None:
    """The attack: start it with one account, accept it for the other one, and approve."""
    before = await pat_of_two(world, ada)
    task = await approval(world, ["pat@acme.test", "vic"], acl=["pat@acme.test"])
    job = await create(before, task)
    pat = await join_acme(world)
    refused = await pat.put(f"/acme/job/{job['id']}/approve")
    assert (refused.status, refused.code) == (403, "four_eyes")
    assert (await approve(world, "vic", job["id"])).status == 200


async def test_a_link_to_approve_follows_the_account(world: World, ada: Client) -> None:
    await pat_of_two(world, ada)
    job = await create(ada, await approval(world, ["pat@acme.test"]))
    db, keys = world.runtime.db, world.runtime.keyring
    member = await db.read(memberships.for_email, world.actors.acme.id, "pat@acme.test")
    assert member is not None
    row = await db.read(store.find, world.actors.acme.id, job["id"])
    links = await db.write(approval_links.create_links, keys, row, member.user_id)
    await join_acme(world)
    assert (await world.client().post(f"/-/approval/{links['approve']}")).status == 200


# Approvals that waited when the server was upgraded: no record says what started them.


async def forget_starters(world: World) -> None:
    await world.runtime.db.write(lambda tx: tx.execute("delete from job_starters"))


async def test_an_admin_decides_an_old_approval_without_approvers(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, ["ada", "max"])
    job_id = (await start_by_secret(ada, anonymous, task)).json["id"]
    await forget_starters(world)
    assert (await approve(world, "ada", job_id)).code == "four_eyes"
    await world.runtime.db.write(
        member_changes.change, world.actors.olga, world.actors.max.member_id, enabled=False
    )
    assert (await approve(world, "ada", job_id)).status == 200


async def test_an_admin_never_decides_a_new_approval(
    world: World, ada: Client, anonymous: Client
) -> None:
    """Also when the other approvers have left: the start is recorded."""
    task = await approval(world, ["ada", "max"])
    job_id = (await start_by_secret(ada, anonymous, task)).json["id"]
    await world.runtime.db.write(
        member_changes.change, world.actors.olga, world.actors.max.member_id, enabled=False
    )
    assert (await approve(world, "ada", job_id)).code == "four_eyes"
