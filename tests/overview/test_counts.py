"""Counts for the navigation, and pending decisions."""

from typing import Any

from contract.client import Client
from contract.running import create
from contract.world import World
from manual_clock import ManualClock
from overview.monitoring import monitor, set_state


async def counts(client: Client) -> dict[str, Any]:
    response = await client.get("/-/counts")
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def needs(client: Client) -> list[tuple[str, str]]:
    response = await client.get("/-/needs")
    assert response.status == 200, response.body
    return [(record["kind"], record["job"]["id"]) for record in response.json]


async def approval(world: World, **more: Any) -> str:
    return await world.task("ask", type="approval", approvers=["max", "vic"], acl=["uma"], **more)


async def test_monitors_and_jobs_are_counted_by_state(world: World, uma: Client) -> None:
    await set_state(world, await monitor(world, "bad"), "failure")
    await set_state(world, await monitor(world, "good"), "normal")
    task = await world.task()
    await create(uma, task)
    await create(uma, task)
    actual_counts = await counts(uma)
    assert (actual_counts["monitors"]["failure"], actual_counts["monitors"]["normal"]) == (1, 1)
    assert actual_counts["jobs"] == {"running": 0, "queued": 2, "onhold": 0}
    assert actual_counts["hosts"]["offline"] == 2
    assert (actual_counts["needs"], actual_counts["unread"], actual_counts["capped"]) == (
        0,
        0,
        False,
    )
    assert actual_counts["indicators"] == {"failing": 0, "total": 0}


async def test_a_host_without_an_agent_is_down_after_the_time_to_reconnect(
    world: World, vic: Client, clock: ManualClock
) -> None:
    await monitor(world, "shop", "scraper", config={"url": "http://shop.test/"})
    hosts = (await counts(vic))["hosts"]
    assert (hosts["offline"], hosts["down"], hosts["down_hosts"]) == (2, 0, [])
    clock.move(31)
    hosts = (await counts(vic))["hosts"]
    down = world.things.hosts["web-1"]
    # The other host has neither a monitor nor a task.
    assert (hosts["down"], [host["hostname"] for host in hosts["down_hosts"]]) == (1, ["web-1"])
    assert hosts["down_hosts"][0]["id"] == down.host_id
    async with world.agent("web-1"):
        assert (await counts(vic))["hosts"]["down"] == 0


async def test_a_disabled_host_is_not_down(world: World, ada: Client, clock: ManualClock) -> None:
    await monitor(world, "shop", "scraper", config={"url": "http://shop.test/"})
    clock.move(31)
    host_id = world.things.hosts["web-1"].host_id
    assert (await ada.put(f"/acme/host/{host_id}/disable")).status == 200
    assert (await counts(ada))["hosts"]["down"] == 0


async def test_a_host_that_only_has_a_task_is_down_too(
    world: World, vic: Client, clock: ManualClock
) -> None:
    await world.task()
    clock.move(31)
    assert (await counts(vic))["hosts"]["down"] == 1


async def test_nothing_hidden_is_counted(world: World, vic: Client, eve: Client) -> None:
    await set_state(world, await monitor(world, "bad", acl=["uma"]), "failure")
    await create(world.client("uma"), await world.task(acl=["uma"]))
    for client in (vic, eve):
        actual_counts = await counts(client)
        assert actual_counts["monitors"]["failure"] == actual_counts["jobs"]["queued"] == 0


async def test_an_approval_waits_for_its_approvers_only(world: World, uma: Client) -> None:
    job = await create(uma, await approval(world))
    max_, vic, ada = (world.client(who) for who in ("max", "vic", "ada"))
    assert await needs(max_) == await needs(vic) == [("approval", job["id"])]
    assert await needs(uma) == await needs(ada) == []
    assert (await counts(vic))["needs"] == 1
    assert (await counts(uma))["needs"] == 0
    await vic.put(f"/job/{job['id']}/approve")
    assert await needs(max_) == []


async def test_four_eyes_exclude_the_person_who_started_it(world: World) -> None:
    task = await world.task(
        "ask", type="approval", approvers=["max", "ada"], four_eyes=True, acl=["max"]
    )
    job = await create(world.client("ada"), task)
    assert await needs(world.client("ada")) == []
    assert await needs(world.client("max")) == [("approval", job["id"])]


async def test_an_approval_names_the_answers_that_its_task_offers(world: World) -> None:
    for switch, answers in (("failure_enabled", ["approve"]), ("success_enabled", ["reject"])):
        fields: dict[str, Any] = {"approvers": ["max"], "acl": ["max"], switch: False}
        await create(world.client("ada"), await world.task(switch, type="approval", **fields))
        needed = (await world.client("max").get("/-/needs")).json
        assert needed[0]["answers"] == answers


async def test_an_input_waits_for_who_may_run_it(world: World, uma: Client, vic: Client) -> None:
    arguments = [{"type": "input", "label": "How many?"}]
    task = await world.task(
        "fill",
        task_arguments=arguments,
        user_inputs=True,
        description="Say how many.",
        acl=["uma", "vic"],
    )
    response = await uma.post(f"/task/{task}/job", {"lifecycle": "onhold"})
    assert response.json["lifecycle"] == "onhold", response.body
    (need,) = (await uma.get("/-/needs")).json
    assert (need["kind"], need["question"]) == ("input", "Say how many.")
    assert need["arguments"][0]["label"] == "How many?"
    assert need["until"] > response.json["creation_date"]
    assert await needs(vic) == []
    assert await needs(world.client("max")) == []
    assert [kind for kind, _ in await needs(world.client("ada"))] == ["input"]


async def test_open_approvals_are_counted_in_their_organization_only(
    world: World, eve: Client
) -> None:
    await create(world.client("uma"), await approval(world))
    assert await needs(eve) == []


async def test_an_invalid_limit_is_refused(uma: Client) -> None:
    assert (await uma.get("/-/needs?limit=201")).code == "bad_query"
