"""Tasks, workflows, hosts and indicators as rows of a page."""

from typing import Any

from belvedere.base.clock import SECOND
from belvedere.db import Tx
from contract.client import Client
from contract.running import create
from contract.world import World
from manual_clock import ManualClock
from overview.monitoring import check, monitor, set_state


async def lines(client: Client, noun: str, query: str = "") -> list[dict[str, Any]]:
    response = await client.get(f"/-/board/{noun}?{query}")
    assert response.status == 200, response.body
    listed: list[dict[str, Any]] = response.json
    return listed


def _end(tx: Tx, job_id: str, lifecycle: str, state: str) -> None:
    """Sets the states as the watchdog and the agent would, without either."""
    tx.execute(
        "update jobs set lifecycle = 'assigned', started_at = ? where id = ?", tx.now, job_id
    )
    tx.execute(
        "update jobs set lifecycle = ?, state = ?, ended_at = ? where id = ?",
        *(lifecycle, state, tx.now + SECOND, job_id),
    )


async def test_a_row_shows_the_last_jobs_of_a_task(world: World, uma: Client) -> None:
    task = await world.task("backup", tags=["nightly"], description="Copies all.")
    jobs = [(await create(uma, task))["id"] for _ in range(4)]
    ends = (("finished", "success"), ("finished", "failure"), ("terminated", "lost"))
    for job_id, (lifecycle, state) in zip(jobs, ends, strict=False):
        await world.runtime.db.write(_end, job_id, lifecycle, state)
    (line,) = await lines(uma, "tasks")
    assert line["beats"] == "nflr"
    assert [job["id"] for job in line["runs"]] == jobs[::-1]
    assert line["last_job"]["state"] == "in_progress"
    assert [job["duration"] for job in line["runs"]] == [None, SECOND, SECOND, SECOND]
    assert (line["tags"], line["description"]) == (["nightly"], "Copies all.")
    assert (line["hostname"], line["script_name"]) == ("web-1", "backup.sh")
    assert line["may_run"] and not line["has_arguments"]


async def test_names_are_sorted_without_regard_to_case(world: World, uma: Client) -> None:
    for name in ("Report", "backup", "Copy"):
        await world.task(name)
    tasks = await lines(uma, "tasks", "sort[title]=1")
    assert [line["name"] for line in tasks] == ["backup", "Copy", "Report"]
    assert await lines(uma, "workflows", "sort[title]=1") == []


async def test_every_list_sorts_names_without_regard_to_case(world: World, ada: Client) -> None:
    names = ["Report", "backup", "Copy"]
    for name in names:
        await world.task(name)
        for path, body in (
            ("/monitor", {"type": "push", "name": name}),
            ("/indicator", {"type": "counter", "title": name, "value": 1}),
            ("/webhook", {"name": name, "tasks": []}),
            ("/file", {"filename": f"{name}.txt", "source": "x"}),
        ):
            answer = await ada.post(f"/acme{path}", body)
            assert answer.status < 300, answer.body
    hosts = [host["id"] for host in (await ada.get("/acme/host")).json]
    for host, name in zip(hosts, names, strict=False):
        assert (await ada.patch(f"/acme/host/{host}", {"hostname": name})).status == 200
    for path, field in (
        *(("/-/board/tasks", "name"), ("/-/board/monitors", "name")),
        *(("/-/board/hosts", "hostname"), ("/-/board/indicators", "title")),
        *(("/acme/task", "name"), ("/acme/monitor", "name"), ("/acme/indicator", "title")),
        *(("/acme/webhook", "name"), ("/acme/file", "filename")),
    ):
        records = (await ada.get(f"{path}?sort[{field}]=1")).json
        listed = [record[field] for record in records]
        assert listed == sorted(listed, key=str.lower), path
        assert len(listed) > 1, path


async def test_only_the_last_twenty_jobs_are_shown(world: World, uma: Client) -> None:
    task = await world.task()
    jobs = [(await create(uma, task))["id"] for _ in range(22)]
    other = await world.task("other")
    (line, none) = await lines(uma, "tasks", "sort[name]=1")
    assert [job["id"] for job in line["runs"]] == jobs[:1:-1]
    assert (none["id"], none["runs"], none["last_job"], none["beats"]) == (other, [], None, "")


async def test_deleted_history_is_not_shown(world: World, ada: Client, clock: ManualClock) -> None:
    task = await world.task()
    job = await create(ada, task)
    await world.runtime.db.write(_end, job["id"], "finished", "success")
    clock.move(60)
    await ada.delete("/job/finished")
    (line,) = await lines(ada, "tasks")
    assert line["runs"] == []


async def test_tasks_are_filtered_by_tag(world: World, uma: Client) -> None:
    await world.task("one", tags=["a", "b"])
    await world.task("two")
    assert [line["name"] for line in await lines(uma, "tasks", "where[tags]=b")] == ["one"]


async def test_an_acl_hides_a_task(world: World, uma: Client, vic: Client, eve: Client) -> None:
    await world.task("hidden", acl=["uma"])
    assert await lines(vic, "tasks") == await lines(eve, "tasks") == []
    assert [line["may_run"] for line in await lines(uma, "tasks")] == [True]
    (as_manager,) = await lines(world.client("max"), "tasks")
    assert not as_manager["may_run"]


async def test_steps_show_only_to_who_sees_all(world: World, ada: Client, vic: Client) -> None:
    task = await world.task("step")
    graph = {"nodes": [{"id": "a", "task_id": task}]}
    response = await ada.post("/workflows", {"name": "flow", "graph": graph})
    run = await ada.post(f"/workflows/{response.json['id']}/job", {})
    assert run.status == 200, run.body
    (line,) = await lines(ada, "workflows")
    assert (line["steps"], line["may_run"], len(line["runs"])) == (1, True, 1)
    assert line["last_job"]["id"] == run.json["id"]
    (actual_line,) = await lines(ada, "tasks")
    (hidden,) = await lines(vic, "tasks")
    assert (len(actual_line["runs"]), hidden["runs"]) == (1, [])
    assert await lines(vic, "workflows") == []


async def test_a_host_shows_its_utilization(world: World, vic: Client) -> None:
    stats = await monitor(world, "stats", "dstat")
    await check(
        world,
        stats,
        ["normal"],
        measured={"cpu": 12.0, "mem": 40.0, "disk /": 70.0, "disk /x": 9.0},
    )
    await set_state(world, stats, "failure")
    web_1, web_2 = await lines(vic, "hosts", "sort[hostname]=1")
    assert (web_1["cpu"], web_1["mem"], web_1["disk"]) == (12.0, 40.0, 70.0)
    assert (web_1["monitors"], web_1["failing"]) == (1, 1)
    assert web_1["figures_at"] is not None
    assert (web_2["cpu"], web_2["figures_at"], web_2["failing"]) == (None, None, 0)


async def test_hidden_monitors_do_not_show_on_a_host(world: World, vic: Client) -> None:
    stats = await monitor(world, "stats", "dstat", acl=["uma"])
    await check(world, stats, ["normal"], measured={"cpu": 12.0})
    web_1, _ = await lines(vic, "hosts", "sort[hostname]=1")
    assert (web_1["cpu"], web_1["monitors"]) == (None, 0)


async def test_another_organization_has_its_own_hosts(eve: Client) -> None:
    assert [line["hostname"] for line in await lines(eve, "hosts")] == ["box-1"]


async def test_indicators_bring_their_last_numbers(
    world: World, ada: Client, vic: Client, clock: ManualClock
) -> None:
    response = await ada.post(
        "/indicator", {"title": "sold", "type": "counter", "acl": ["vic", "uma"]}
    )
    for value in range(1, 30):
        clock.move(1)
        await ada.patch(f"/indicator/{response.json['id']}", {"value": value})
    await ada.post("/indicator", {"title": "mood", "type": "text", "value": "7", "acl": ["vic"]})
    mood, sold = await lines(vic, "indicators", "sort[title]=1")
    assert sold["spark"] == [float(n) for n in range(6, 30)]
    assert (mood["spark"], mood["value"], mood["may_dismiss"]) == ([], "7", False)


async def test_the_permission_to_dismiss_is_shown(world: World, ada: Client, uma: Client) -> None:
    for title, read_only in (("a", True), ("b", False)):
        body = {"title": title, "type": "counter", "acl": ["uma"], "read_only": read_only}
        await ada.post("/indicator", body)
    may_dismisses = [
        line["may_dismiss"] for line in await lines(uma, "indicators", "sort[title]=1")
    ]
    assert may_dismisses == [False, True]


async def test_the_worst_indicator_comes_first(world: World, ada: Client) -> None:
    for title, state, severity in (("a", "normal", "HIGH"), ("b", "failure", "LOW")):
        body = {"title": title, "type": "counter", "state": state, "severity": severity}
        await ada.post("/indicator", body)
    await ada.post(
        "/indicator", {"title": "c", "type": "counter", "state": "failure", "severity": "HIGH"}
    )
    actual_lines = await lines(ada, "indicators", "sort[rank]=1&sort[title]=1")
    assert [line["title"] for line in actual_lines] == ["c", "b", "a"]
