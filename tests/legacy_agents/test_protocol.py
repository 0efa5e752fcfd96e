"""Every request of a TheEye agent, and how the server works around its weaknesses."""

import asyncio
import base64
import hashlib
import json
from typing import Any

import pytest

import run_timeouts
from belvedere.access.credentials import enrolment
from belvedere.legacy_agents import polling
from belvedere.server.background import consumers, loops
from contract.client import Client
from contract.running import create, show
from contract.world import World
from jobs.last_lines import LAST_LINES
from legacy_agents.legacy_agent import INFO, LegacyAgent
from manual_clock import ManualClock

ARGUMENT = {"type": "input", "label": "one", "required": False}


@pytest.fixture
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request without jobs does not wait for the whole twelve seconds."""
    monkeypatch.setattr(polling, "MAX_WAIT_S", 0.05)


@pytest.fixture
def legacy_agent(world: World) -> LegacyAgent:
    return agent_of(world)


def agent_of(world: World, uses: int = 1, **more: Any) -> LegacyAgent:
    runtime = world.runtime
    token, text = runtime.db.write_blocking(
        enrolment.create_enrolment, runtime.keyring, world.actors.ada, "old agents", uses
    )
    return LegacyAgent(world.client(), token.id, text, **more)


async def two_agents(world: World) -> tuple[LegacyAgent, LegacyAgent]:
    """Two hosts that share one client, both started."""
    first = agent_of(world, uses=2)
    second = LegacyAgent(first.wire, first.client_id, first.secret, hostname="old-2")
    await first.start()
    await second.start()
    return first, second


async def take_job(
    world: World, legacy_agent: LegacyAgent, client: Client, **fields: Any
) -> dict[str, Any]:
    """A job of this task that the agent has."""
    job = await create(client, await world.task(hostname=legacy_agent.hostname, **fields))
    (item,) = await legacy_agent.poll()
    assert item["id"] == job["id"]
    return item


async def test_a_theeye_agent_runs_a_job(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    assert await legacy_agent.start() == []
    job = await take_job(world, legacy_agent, uma, script_runas="bash %script%")
    assert job["_type"] == "ScriptJob" and job["name"] == "echo"
    assert (await show(uma, job["id"]))["lifecycle"] == "assigned"
    done = await legacy_agent.finish(job, "success", lastline="success")
    assert (done.status, done.json["lifecycle"], done.json["state"]) == (
        200,
        "finished",
        "success",
    )
    assert done.json["result"]["log"] == "hello\n" and done.json["ran"] == "yes"
    assert done.json["result"]["times"] == {"seconds": 1, "nanoseconds": 61_619_313}


# 1, 2: signing in and registering


@pytest.mark.parametrize("customer", ["/acme/host/old-1", "/host/old-1?customer=acme"])
async def test_agents_before_1_4_register_by_path(legacy_agent: LegacyAgent, customer: str) -> None:
    await legacy_agent.sign_in()
    body = {"info": INFO, "version": "1.3.0", "hostname": "ignored"}
    answer = await legacy_agent.send("POST", customer, body)
    assert answer.status == 200, answer.body
    assert (answer.json["type"], answer.json["looptime"]) == ("keepAlive", 30_000)
    # The same host as for the other route.
    again = await legacy_agent.register()
    assert again.json["host_id"] == answer.json["host_id"]


async def test_the_token_is_a_bare_json_string(legacy_agent: LegacyAgent) -> None:
    answer = await legacy_agent.sign_in()
    assert isinstance(answer.json, str) and answer.json.startswith("bva_")


async def test_registration_names_host_monitor_and_machine(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.sign_in()
    record = (await legacy_agent.register()).json
    host = (await ada.get(f"/acme/host/{record['host_id']}")).json
    assert (host["hostname"], host["state"], host["ip"]) == ("old-1", "online", "10.1.2.3")
    assert (host["agent_version"], host["os_name"], host["os_version"]) == (
        "2.1.1",
        "Linux",
        "6.1.0",
    )
    monitor = (await ada.get(f"/acme/monitor/{record['resource_id']}")).json
    assert (monitor["type"], monitor["state"]) == ("host", "normal")
    assert (record["type"], record["looptime"]) == ("keepAlive", 30_000) and record["connection_id"]


async def test_wrong_ids_and_secrets_look_alike_and_are_counted(
    world: World, legacy_agent: LegacyAgent, anonymous: Client
) -> None:
    items = []
    for client_id, secret in (
        (legacy_agent.client_id, "wrong"),
        ("0" * 24, legacy_agent.secret),
        ("somebody", legacy_agent.secret),
        (legacy_agent.client_id, ""),
    ):
        refused = await LegacyAgent(legacy_agent.wire, client_id, secret).sign_in()
        assert refused.status == 401
        items.append((refused.code, refused.json["message"]))
    assert len(set(items)) == 1
    assert (await anonymous.post("/token")).status == 401
    for _ in range(20):
        last = await LegacyAgent(legacy_agent.wire, legacy_agent.client_id, "wrong").sign_in()
    assert last.status == 429
    assert (await legacy_agent.sign_in()).status == 429


async def test_an_enrolment_adds_a_limited_number_of_hosts(world: World) -> None:
    first = agent_of(world)
    await first.start()
    other = LegacyAgent(first.wire, first.client_id, first.secret, hostname="old-2")
    # The enrolment is used up: its token gives access to the host that it enrolled, and to no
    # other.
    assert (await other.sign_in()).status == 200
    refused = await other.register()
    assert (refused.status, refused.code) == (403, "other_host")


async def test_several_hosts_share_one_client(world: World, uma: Client) -> None:
    first, second = await two_agents(world)
    job = await take_job(world, second, uma)
    assert (await first.finish(job)).code == "other_host"
    assert (await second.finish(job)).json["lifecycle"] == "finished"


async def test_a_used_client_is_accepted_after_a_restart(
    world: World, legacy_agent: LegacyAgent, clock: ManualClock
) -> None:
    await legacy_agent.start()
    clock.move(3 * 86_400)
    again = LegacyAgent(legacy_agent.wire, legacy_agent.client_id, legacy_agent.secret)
    await again.start()
    assert again.resource_id == legacy_agent.resource_id
    # The credential of its predecessor is invalid.
    assert (await legacy_agent.keep_alive()).status == 401


async def test_a_revoked_enrolment_signs_no_agent_in(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.start()
    assert (await ada.delete(f"/api/enrolment/{legacy_agent.client_id}")).status == 200
    assert (await legacy_agent.sign_in()).status == 401


async def test_the_name_of_another_connected_machine_is_refused(world: World) -> None:
    first = agent_of(world)
    await first.start()
    thief = agent_of(world, info={**INFO, "hostname": "another"})
    await thief.sign_in()
    refused = await thief.register()
    assert (refused.status, refused.code) == (409, "host_held")
    assert (await first.keep_alive()).status == 204


async def test_a_token_without_a_host_is_refused(world: World, uma: Client) -> None:
    holder = agent_of(world)
    await holder.start()
    job = await take_job(world, holder, uma)
    nobody = agent_of(world, hostname="old-9")
    await nobody.sign_in()
    assert (await nobody.keep_alive()).status == 404
    assert (await nobody.finish(job)).status == 403
    assert (await nobody.send("GET", f"/acme/script/{job['id']}/download")).status == 404
    assert (await nobody.send("GET", "/acme/job?hostname=old-1")).status == 404
    assert (await nobody.send("GET", "/acme/task")).status == 403


async def test_our_agent_registers_before_it_asks_for_work(world: World) -> None:
    web = world.client("web-1")
    refused = await web.get("/acme/job?hostname=web-1")
    assert (refused.status, refused.code) == (409, "not_registered")
    assert (await web.get("/acme/job?hostname=web-2")).status == 403
    assert (await web.get("/acme/job?hostname=box-1")).status == 404


# After a 401 it signs in again, but does not register again.


async def test_a_forgotten_token_is_replaced_without_registering(world: World, uma: Client) -> None:
    first, _ = await two_agents(world)
    job = await take_job(world, first, uma)
    world.runtime.db.write_blocking(
        lambda tx: tx.execute("delete from tokens where kind = 'agent_token'")
    )
    world.runtime.credentials.clear()
    assert (await first.keep_alive()).status == 401
    await first.sign_in()
    assert (await first.keep_alive()).status == 204
    assert (await first.finish(job)).json["lifecycle"] == "finished"


# 3, 9: monitors


async def test_monitors_are_sent_in_the_format_of_theeye(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.start()
    host = next(h for h in (await ada.get("/acme/host")).json if h["hostname"] == "old-1")
    file = await ada.post("/acme/file", {"filename": "a.sh", "source": "echo ok\n"})
    for body in (
        {"type": "scraper", "url": "http://x.test/", "status_code": "2.."},
        {"type": "dstat", "cpu": 80},
        {"type": "process", "raw_search": "a.b", "is_regexp": False},
        {"type": "script", "script_id": file.json["id"], "script_arguments": ["1"]},
        # A monitor that it cannot check correctly is not sent at all.
        {"type": "scraper", "url": "http://x.test/", "json_path": "$.a"},
        {"type": "process", "raw_search": "x", "least": 2},
        {"type": "tcp", "target": "x.test", "port": 1},
    ):
        named = {"name": body["type"], "host_id": host["id"], "looptime": "4000", **body}
        response = await ada.post("/acme/monitor", named)
        assert response.status == 200, response.body
    web, stat, process, script = await legacy_agent.config()
    assert (web["type"], web["url"], web["looptime"]) == ("scraper", "http://x.test/", 4_000)
    assert (web["status_code"], web["timeout"]) == ("^(?:2..)$", 10_000)
    assert stat["limit"] == {"cpu": 80, "mem": 90, "cache": 90, "disk": 90}
    assert process["ps"]["pattern"] == "a\\.b"
    assert script["script"]["runas"] == "bash %script%"
    assert script["script"]["md5"] == hashlib.md5(b"echo ok\n").hexdigest()
    answer = await legacy_agent.send("GET", f"/acme/script/{script['script']['id']}/download")
    assert answer.body == b"echo ok\n"


@pytest.mark.parametrize(("cache", "shown"), [(None, 0), (12.5, 12.5), ("x", 0), (True, 0)])
async def test_the_swap_of_host_statistics_is_a_number(
    legacy_agent: LegacyAgent, ada: Client, cache: Any, shown: float
) -> None:
    """A host without swap reports null."""
    await legacy_agent.start()
    host = next(h for h in (await ada.get("/acme/host")).json if h["hostname"] == "old-1")
    body = {"name": "stats", "type": "dstat", "host_id": host["id"]}
    monitor = (await ada.post("/acme/monitor", body)).json
    data = {"cpu": 1, "mem": 2.5, "cache": cache, "disk": []}
    response = await legacy_agent.report(monitor["id"], "normal", "host:stats:normal", **data)
    assert (response.status, response.json["state"]) == (200, "normal")
    record = (await ada.get(f"/acme/monitor/{monitor['id']}")).json
    assert record["resource"]["last_event"]["data"] == {**data, "cache": shown}


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("normal", 0, "normal"),
        ("all is well", 0, "normal"),
        (None, 0, "normal"),
        ("", 0, "normal"),
        ("failure", 0, "failure"),
        ("success", 3, "failure"),
        ("killed", None, "failure"),
        ({"odd": 1}, 0, "normal"),
    ],
)
async def test_a_script_monitor_is_judged_like_our_own(
    world: World,
    legacy_agent: LegacyAgent,
    ada: Client,
    state: Any,
    code: int | None,
    expected: str,
) -> None:
    await legacy_agent.start()
    file = await ada.post("/acme/file", {"filename": "a.sh", "source": "echo ok\n"})
    body = {"name": "s", "type": "script", "script_id": file.json["id"], "fail_threshold": 1}
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    response = await ada.post(f"/acme/monitor?host_id={hosts[0]['id']}", body)
    actual_response = await legacy_agent.report(
        response.json["id"], state, code=code, lastline="x", log="x\n"
    )
    assert (actual_response.status, actual_response.json["state"]) == (200, expected)


async def test_a_change_of_a_monitor_is_followed_by_an_update(
    world: World, legacy_agent: LegacyAgent, ada: Client, short_polls: None
) -> None:
    await legacy_agent.start()
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    body = {"name": "web", "type": "scraper", "url": "http://x.test/", "status_code": "200"}
    waiting = asyncio.create_task(legacy_agent.poll())
    response = await ada.post(f"/acme/monitor?host_id={hosts[0]['id']}", body)
    jobs = await waiting or await legacy_agent.poll()
    assert [(job["_type"], job["name"]) for job in jobs] == [
        ("AgentUpdateJob", "agent:config:update")
    ]
    # Sent once, not with every request.
    assert await legacy_agent.poll() == []
    (worker,) = await legacy_agent.update_config(jobs[0])
    assert worker["resource_id"] == response.json["id"]
    assert await legacy_agent.poll() == []
    # It is no job that anyone would see.
    assert (await ada.get("/acme/job")).json == []
    await ada.delete(f"/acme/monitor/{response.json['id']}")
    (update,) = await legacy_agent.poll()
    assert await legacy_agent.update_config(update) == []


async def test_an_update_that_was_not_applied_is_sent_again(
    world: World, legacy_agent: LegacyAgent, ada: Client, clock: ManualClock, short_polls: None
) -> None:
    await legacy_agent.start()
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    assert (await ada.put(f"/acme/host/{hosts[0]['id']}/reconfigure")).status == 204
    (first,) = await legacy_agent.poll()
    clock.move(61)
    (second,) = await legacy_agent.poll()
    assert first["id"] != second["id"]


# 4: the keep-alive


async def test_a_silent_agent_is_unreachable_until_its_next_message(
    world: World, legacy_agent: LegacyAgent, ada: Client, clock: ManualClock
) -> None:
    await legacy_agent.start()
    runtime = world.runtime

    async def state() -> str:
        hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
        word: str = hosts[0]["state"]
        return word

    clock.move(31)
    run_timeouts.mark_silent(runtime.db)
    assert await state() == "unreachable"
    assert (await legacy_agent.keep_alive()).status == 204
    await loops.record_seen(runtime)
    assert await state() == "online"


# 5, 6: the request for work


def test_a_poll_waits_between_ten_and_fourteen_seconds() -> None:
    assert 10 < polling.MAX_WAIT_S < 14


async def test_nothing_to_do_is_an_empty_list(legacy_agent: LegacyAgent, short_polls: None) -> None:
    await legacy_agent.start()
    assert await legacy_agent.poll() == []


async def test_a_waiting_poll_is_answered_immediately(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1")
    waiting = asyncio.create_task(legacy_agent.poll())
    job = await create(uma, task)
    async with asyncio.timeout(10):
        assert [item["id"] for item in await waiting] == [job["id"]]


async def test_several_jobs_come_in_one_answer(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1")
    ids = [(await create(uma, task))["id"] for _ in range(12)]
    actual_ids = [job["id"] for job in await legacy_agent.poll()]
    # As many as it runs at once, oldest first.
    assert actual_ids == ids[:10]
    await legacy_agent.finish({"id": ids[0]})
    assert [job["id"] for job in await legacy_agent.poll()] == ids[10:11]


async def test_a_closed_poll_gets_no_job(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    hasty = world.client(hangs_up=True)
    job = await create(uma, await world.task(hostname="old-1"))
    headers = {"authorization": f"Bearer {legacy_agent.token}"}
    answer = await hasty.request("GET", "/acme/job?hostname=old-1", headers=headers)
    assert answer.json["jobs"] == []
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["attempt_count"]) == ("ready", 0)
    assert [item["id"] for item in await legacy_agent.poll()] == [job["id"]]


async def test_other_clients_get_the_list_of_jobs(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.start()
    assert (await ada.get("/acme/job?hostname=old-1")).json == []


async def test_a_queue_of_one_task(world: World, legacy_agent: LegacyAgent, uma: Client) -> None:
    await legacy_agent.start()
    text, other = [await world.task(n, hostname="old-1") for n in ("one", "other")]
    jobs = [(await create(uma, task))["id"] for task in (other, text, text, text)]
    target = f"/task/{text}/job/queue?hostname=old-1&limit=2&customer=acme"
    answer = await legacy_agent.send("GET", target)
    assert [job["id"] for job in answer.json] == jobs[1:3]
    assert (await legacy_agent.send("GET", target.replace("limit=2", "limit=0"))).json == []


async def test_a_disabled_host_gets_nothing(
    world: World, legacy_agent: LegacyAgent, ada: Client, short_polls: None
) -> None:
    await legacy_agent.start()
    await create(ada, await world.task(hostname="old-1"))
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    await ada.put(f"/acme/host/{hosts[0]['id']}/disable")
    assert await legacy_agent.poll() == []


# 4 and 5 of agent-protocol.md: jobs in a form that it can process


async def test_the_command_is_never_empty(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    for runas, source, expected in (
        ("", "echo x\n", "bash %script%"),
        ("", "#!/bin/sh\necho x\n", "%script%"),
        ("sudo -n python3", "print(1)\n", "sudo -n python3 %script%"),
        ("nice -n 5 %script% --fast", "#!/bin/sh\n", "nice -n 5 %script% --fast"),
    ):
        script = {"filename": "a.sh", "source": source}
        job = await take_job(world, legacy_agent, uma, script_runas=runas, script=script)
        assert job["script_runas"] == expected
        await legacy_agent.finish(job)


async def test_every_argument_is_a_string(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1", task_arguments=[ARGUMENT] * 6)
    await create(uma, task, ["it's $HOME", 5, True, None, {"a": [1]}, ""])
    (job,) = await legacy_agent.poll()
    assert job["task_arguments_values"] == ["it's $HOME", "5", "true", "null", '{"a":[1]}', ""]
    assert all(isinstance(value, str) for value in job["env"].values())
    assert job["timeout"] == 600_000


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        ("text/csv", "text/csv"),
        ("Image/PNG;name=a.png", "image/png"),
        # The name says more than these.
        (";name=report.pdf", "application/pdf"),
        ("application/octet-stream;name=a.json", "application/json"),
        ("no type;name=a.html", "text/html"),
        ("application/octet-stream", "application/octet-stream"),
        (f"text/{'x' * 200}", "application/octet-stream"),
    ],
)
async def test_a_file_travels_as_a_data_url(
    world: World, legacy_agent: LegacyAgent, uma: Client, head: str, media_type: str
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1", task_arguments=[{"type": "file", "label": "f"}])
    content = base64.b64encode(b"content").decode()
    await create(uma, task, [f"data:{head};base64,{content}"])
    (job,) = await legacy_agent.poll()
    assert job["task_arguments_values"] == [f"data:{media_type};base64,{content}"]


async def test_a_file_of_a_job_of_an_earlier_version_has_the_type_of_its_name(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1", task_arguments=[{"type": "file", "label": "f"}])
    await create(uma, task, ["data:text/csv;name=a.txt;base64,SGk="])
    await world.runtime.db.write(
        lambda tx: tx.execute(
            "update jobs set arguments = replace(arguments, ?, ?)", ',"mimetype":"text/csv"', ""
        )
    )
    (job,) = await legacy_agent.poll()
    assert job["task_arguments_values"] == ["data:text/plain;base64,SGk="]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"code": None, "signal": "SIGTERM", "killed": True}, 143),
        ({"code": None, "signal": "SIGKILL"}, 137),
        ({"code": 0, "signal": "sigint"}, 130),
        ({"code": None, "signal": 9}, 137),
        ({"code": 137, "signal": None}, 137),
        ({"code": 3, "signal": "SIGTERM"}, 3),
        ({"code": None, "signal": "SIGNOTHING"}, 128),
        ({"code": None, "signal": 2**70}, 128),
        ({"code": None, "signal": ["SIGTERM"]}, 128),
    ],
)
async def test_the_code_of_a_killed_script_is_128_and_its_signal(
    world: World, legacy_agent: LegacyAgent, uma: Client, data: dict[str, Any], code: int
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    assert (await legacy_agent.finish(job, "killed", **data)).json["result"]["code"] == code
    assert (await show(uma, job["id"]))["result"]["code"] == code


async def test_a_job_keeps_the_script_it_was_created_with(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    """The real one caches scripts by their file name: another content needs another name."""
    await legacy_agent.start()
    script = {"filename": "same.sh", "source": "echo one\n"}
    first = await take_job(world, legacy_agent, ada, script=script)
    record = await show(ada, first["id"])
    await ada.put(f"/acme/file/{record['script_id']}/upload", {"source": "echo two\n"})
    await create(ada, first["task_id"])
    (second,) = await legacy_agent.poll()
    assert [await legacy_agent.fetch(job) for job in (first, second)] == [
        b"echo one\n",
        b"echo two\n",
    ]
    assert first["script"]["filename"] != second["script"]["filename"]
    for job, source in ((first, b"echo one\n"), (second, b"echo two\n")):
        assert job["script"]["md5"] == hashlib.md5(source).hexdigest()
        assert "/" not in job["script"]["filename"] and ".." not in job["script"]["filename"]
    # When the job has ended, it can download nothing more with it.
    await legacy_agent.finish(first)
    gone = await legacy_agent.send("GET", f"/acme/script/{first['script']['id']}/download")
    assert gone.status == 404


async def test_a_web_request_is_its_own_kind(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.start()
    fields = {"type": "scraper", "url": "http://x.test/", "method": "GET", "script": None}
    job = await take_job(world, legacy_agent, ada, **fields)
    assert (job["_type"], job["task"]["url"]) == ("ScraperJob", "http://x.test/")
    assert job["task"]["status_code"] == "^(?:[123][0-9][0-9])$"
    response = {"status_code": 503, "body": "down", "headers": {"a": "b"}}
    done = await legacy_agent.report_result(
        job["id"],
        {
            "state": "failure",
            "event": "scraper:mismatch:status_code",
            "data": {"message": "503", "expected": "x", "response": response, "output": "down"},
        },
    )
    assert (done.json["state"], done.json["trigger_name"]) == (
        "failure",
        "scraper:mismatch:status_code",
    )
    assert done.json["output"] == ["down", '{"a":"b"}', "503"]


async def test_unsupported_jobs_are_not_assigned_to_it(
    world: World, legacy_agent: LegacyAgent, uma: Client, short_polls: None
) -> None:
    await legacy_agent.start()
    job = await create(uma, await world.task(hostname="old-1", os_user="nobody"))
    assert await legacy_agent.poll() == []
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["state"], record["ran"]) == ("finished", "error", "no")
    assert record["result"]["reason"] == "needs_own_agent"


async def test_a_theeye_agent_gets_variables_but_no_secrets(
    world: World, legacy_agent: LegacyAgent, ada: Client, uma: Client
) -> None:
    await legacy_agent.start()
    await ada.put("/acme/secret/REGION", {"value": "eu", "secret": False})
    await ada.put("/acme/secret/API_KEY", {"value": "hunter2-hunter2"})
    job = await take_job(world, legacy_agent, uma)
    assert job["env"]["REGION"] == "eu" and "API_KEY" not in job["env"]
    assert "hunter2" not in str(job)


async def test_a_task_with_secrets_of_its_own_ends_before_it_begins(
    world: World, legacy_agent: LegacyAgent, ada: Client, uma: Client, short_polls: None
) -> None:
    """Refused, because it would run without what it needs, or show the secret."""
    await legacy_agent.start()
    task = await world.task(hostname=legacy_agent.hostname)
    await ada.put("/acme/secret/API_KEY", {"value": "hunter2-hunter2", "task_id": task})
    job = await create(uma, task)
    assert await legacy_agent.poll() == []
    ended = await show(uma, job["id"])
    assert (ended["lifecycle"], ended["state"], ended["ran"]) == ("finished", "error", "no")
    assert ended["result"]["reason"] == "needs_own_agent"


# 6 of agent-protocol.md: ends

ENDS: list[tuple[Any, dict[str, Any], tuple[str, str, str, Any]]] = [
    ("success", {"lastline": "success"}, ("finished", "success", "success", None)),
    ("bye", {"lastline": "bye"}, ("finished", "normal", "success", None)),
    ("", {"lastline": ""}, ("finished", "normal", "success", None)),
    ("done", {"lastline": "done", "code": 3}, ("finished", "failure", "failure", None)),
    ("failure", {"lastline": "failure"}, ("finished", "failure", "failure", None)),
    # The agent has read the last line: its state counts, whatever the line says.
    ("failure", {"lastline": "bye"}, ("finished", "failure", "failure", None)),
    ("success", {"lastline": "failure"}, ("finished", "success", "success", None)),
    (
        "success",
        {"lastline": '{"state":"success","output":["a",{"b":1}]}', "output": ["a", {"b": 1}]},
        ("finished", "success", "success", ["a", '{"b":1}']),
    ),
    (
        "success",
        {"lastline": '{"state":"success","event_name":"deployed"}', "output": {"k": 1}},
        ("finished", "success", "deployed", ['{"k":1}']),
    ),
    (
        None,
        {"lastline": '["a",2]', "output": ["a", 2]},
        ("finished", "normal", "success", ["a", "2"]),
    ),
    (None, {"lastline": "5"}, ("finished", "normal", "success", None)),
    (
        "killed",
        {"killed": True, "signal": "SIGTERM", "code": None},
        ("terminated", "timeout", "timeout", None),
    ),
    ("x", {"code": 137, "killed": False}, ("finished", "failure", "failure", None)),
    (
        "failure",
        {"code": 2**70, "times": {"seconds": 2**70}},
        ("finished", "failure", "failure", None),
    ),
]


async def test_every_end_is_understood(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    task = await world.task(hostname="old-1")
    for state, data, expected in ENDS:
        await create(uma, task)
        (job,) = await legacy_agent.poll()
        done = (await legacy_agent.finish(job, state, **data)).json
        pair = (done["lifecycle"], done["state"], done["trigger_name"], done["output"])
        assert pair == expected, (state, data)
        # The line is shown unchanged, not as we interpret it.
        assert done["result"]["lastline"] == data.get("lastline", "hello")


async def test_a_script_that_could_not_be_fetched_failed(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    data = {"lastline": "404", "log": "Error: 404\n  at x"}
    done = await legacy_agent.report_result(job["id"], {"state": "failure", "data": data})
    assert (done.json["state"], done.json["result"]["log"]) == ("failure", data["log"])


async def test_the_fields_may_come_flat(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    body = {"state": "failure", "code": 0, "log": "x\n", "lastline": "x"}
    done = await legacy_agent.send("PUT", f"/job/{job['id']}?customer=acme", body)
    assert (done.json["state"], done.json["result"]["log"]) == ("failure", "x\n")


async def test_an_end_counts_once(world: World, legacy_agent: LegacyAgent, uma: Client) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    await legacy_agent.finish(job, "success", lastline="success")
    again = await legacy_agent.finish(job, "failure", log="y" * 100_000)
    assert (again.status, again.json["state"], again.json["result"]["log"]) == (
        200,
        "success",
        "hello\n",
    )


async def test_a_log_of_twenty_megabytes_is_kept_and_cut(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    line = "0123456789abcde\n"
    log = "first\n" + line * (20 * 65_536) + "last\n"
    done = await legacy_agent.finish(job, "success", log=log, lastline="last")
    assert (done.status, done.json["state"]) == (200, "success")
    record = await show(uma, job["id"])
    assert record["result"]["log_bytes"] == len(log)
    assert record["result"]["log"].endswith("last\n") and len(record["result"]["log"]) <= 256 * 1024
    assert record["result"]["log_sha256"] == hashlib.sha256(log.encode()).hexdigest()
    text = (await uma.get(f"/acme/job/{job['id']}/log")).text
    assert text.startswith("first\n") and text.endswith("last\n") and "bytes were cut" in text


# 10, 11: statistics


async def test_statistics_are_kept(
    world: World, legacy_agent: LegacyAgent, ada: Client, vic: Client
) -> None:
    await legacy_agent.start()
    dstat = {"cpu_used": 0, "load_1_minute": 4.78, "cacheTotal": 0, "disk": {"total": {}}}
    assert (await legacy_agent.send("POST", "/acme/dstat/old-1", {"dstat": dstat})).status == 200
    psaux = [{"user": "root", "pid": "1", "%cpu": "0.0", "command": f"x {n}"} for n in range(300)]
    assert (await legacy_agent.send("POST", "/acme/psaux/old-1", {"psaux": psaux})).status == 200
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    target = f"/acme/host/{hosts[0]['id']}/stats"
    records = (await ada.get(target)).json
    assert [record["type"] for record in records] == ["dstat", "psaux"]
    assert records[0]["stats"] == dstat and records[1]["stats"] == psaux
    # Command lines contain arguments, also masked ones.
    assert [record["type"] for record in (await vic.get(target)).json] == ["dstat"]
    assert (await vic.get(f"{target}?type=psaux")).json == []
    assert (await vic.get(f"{target}?type=x")).status == 400


# What it never reports


async def test_a_job_that_is_never_reported_is_lost(
    world: World, legacy_agent: LegacyAgent, uma: Client, clock: ManualClock
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma, timeout=10_000)
    clock.move(10 + 5 + 61)
    await legacy_agent.keep_alive()
    await loops.record_seen(world.runtime)
    run_timeouts.lose_overdue(world.runtime.db)
    record = await show(uma, job["id"])
    assert (record["lifecycle"], record["state"], record["ran"]) == ("terminated", "lost", "maybe")
    # Its report waits for the last child of the script; when it arrives, it is accepted.
    done = (await legacy_agent.finish(job, "success", lastline="success")).json
    assert (done["lifecycle"], done["state"], done["reconciled"]) == ("finished", "success", True)


async def test_a_new_agent_process_loses_the_jobs_of_the_previous_one(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    # A process that reports the same again loses nothing.
    await legacy_agent.register()
    assert (await show(uma, job["id"]))["lifecycle"] == "assigned"
    await LegacyAgent(legacy_agent.wire, legacy_agent.client_id, legacy_agent.secret).start()
    record = await show(uma, job["id"])
    assert (record["state"], record["ran"], record["reason"]) == (
        "lost",
        "maybe",
        "agent_restarted",
    )


async def test_our_agent_may_take_the_host_over(
    world: World, legacy_agent: LegacyAgent, ada: Client, clock: ManualClock
) -> None:
    await legacy_agent.start()
    clock.move(31)
    run_timeouts.mark_silent(world.runtime.db)
    (host,) = (await ada.get("/acme/host?where[hostname]=old-1")).json
    text = (await ada.post(f"/acme/host/{host['id']}/enrolment", {})).json["token"]
    body = {"token": text, "hostname": "old-1", "fingerprint": "new machine"}
    response = await world.client().post("/-/enrol", body)
    assert response.status == 201
    assert (await legacy_agent.keep_alive()).status == 401


def _as_the_agent_reads_it(line: str) -> tuple[Any, Any]:
    """State and output that TheEye's agent makes of a last line."""
    try:
        value = json.loads(line)
    except ValueError:
        return line, None
    if isinstance(value, dict):
        return value.get("state"), value.get("output", value.get("data", value))
    return (value, value) if isinstance(value, str) else (None, value)


@pytest.mark.parametrize(("line", "state", "output"), LAST_LINES)
async def test_the_last_line_is_read_as_from_our_own_agent(
    world: World,
    legacy_agent: LegacyAgent,
    uma: Client,
    line: str,
    state: str,
    output: list[str] | None,
) -> None:
    await legacy_agent.start()
    job = await take_job(world, legacy_agent, uma)
    reported_state, reported_output = _as_the_agent_reads_it(line)
    done = await legacy_agent.finish(job, reported_state, lastline=line, output=reported_output)
    assert (done.json["state"], done.json["output"]) == (state, output)


async def test_a_task_that_ignores_exit_codes_keeps_its_last_line(
    world: World, legacy_agent: LegacyAgent, uma: Client
) -> None:
    await legacy_agent.start()
    for ignores, state in ((True, "success"), (False, "failure")):
        job = await take_job(world, legacy_agent, uma, name=f"t{ignores}", ignore_exit_code=ignores)
        done = await legacy_agent.finish(job, "success", lastline="success", code=1)
        assert (done.json["state"], done.json["result"]["code"]) == (state, 1)


async def on_old_host(ada: Client, **fields: Any) -> dict[str, Any]:
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    body = {"name": "site", "looptime": "4000", **fields}
    response = await ada.post(f"/acme/monitor?host_id={hosts[0]['id']}", body)
    assert response.status == 200, response.body
    record: dict[str, Any] = response.json
    return record


async def test_a_maintained_file_has_the_format_of_theeye(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    await legacy_agent.start()
    body = {"filename": "site.conf", "source": "Listen 80\n"}
    file_id = (await ada.post("/acme/file", body)).json["id"]
    host = await on_old_host(
        ada,
        type="file",
        path="/etc/site/a.conf",
        file=file_id,
        permissions="640",
        os_username="root",
    )
    (worker,) = await legacy_agent.config()
    expected = {
        "type": "file",
        "resource_id": host["id"],
        "file": {"id": file_id, "md5": hashlib.md5(b"Listen 80\n").hexdigest()},
        "path": "/etc/site/a.conf",
        "dirname": "/etc/site",
        "basename": "a.conf",
        "permissions": "0640",
        "uid": 0,
    }
    assert {name: worker[name] for name in expected} == expected and "gid" not in worker
    fetched = await legacy_agent.send("GET", f"/acme/file/{file_id}/download")
    assert (fetched.status, fetched.body) == (200, b"Listen 80\n")
    good = await legacy_agent.report(host["id"], "success", stats={"size": 10})
    assert good.json["state"] == "normal"
    response = await legacy_agent.report(host["id"], "changed", "file:restored")
    assert (response.json["state"], response.json["last_event"]["event"]) == (
        "normal",
        "file:restored",
    )
    kinds = world.runtime.db.write_blocking(
        lambda tx: tx.rows(
            "select kind from events where object_id = ? and kind like '%changed'"
            " or object_id = ? and kind like '%restored' order by id",
            *(host["id"], host["id"]),
        )
    )
    names = ["monitor.changed", "monitor.file:changed", "monitor.file:restored"]
    assert [kind for (kind,) in kinds] == names
    await ada.delete(f"/acme/monitor/{host['id']}")
    assert (await legacy_agent.send("GET", f"/acme/file/{file_id}/download")).status == 404


async def test_new_content_of_a_maintained_file_is_an_update(
    world: World, legacy_agent: LegacyAgent, ada: Client, short_polls: None
) -> None:
    await legacy_agent.start()
    body = {"filename": "site.conf", "source": "Listen 80\n"}
    file_id = (await ada.post("/acme/file", body)).json["id"]
    await on_old_host(ada, type="file", path="/etc/a.conf", file=file_id)
    (update,) = await legacy_agent.poll()
    (before,) = await legacy_agent.update_config(update)
    await ada.put(f"/acme/file/{file_id}", {"source": "Listen 81\n"})
    for reaction in consumers.CONSUMERS:
        if "file.changed" in reaction.kinds:
            await consumers.catch_up(reaction, world.runtime)
    (update,) = await legacy_agent.poll()
    (after,) = await legacy_agent.update_config(update)
    assert after["file"]["md5"] != before["file"]["md5"]


@pytest.mark.parametrize(
    "fields", [{"file": ""}, {"permissions": "4755"}, {"os_username": "www-data"}]
)
async def test_a_file_that_it_cannot_maintain_is_not_sent(
    world: World, legacy_agent: LegacyAgent, ada: Client, fields: dict[str, str]
) -> None:
    await legacy_agent.start()
    body = {"filename": "site.conf", "source": "Listen 80\n"}
    file_id = (await ada.post("/acme/file", body)).json["id"]
    await on_old_host(ada, **{"type": "file", "path": "/etc/a.conf", "file": file_id, **fields})
    assert await legacy_agent.config() == []


async def test_a_process_list_is_a_successful_check(
    world: World, legacy_agent: LegacyAgent, ada: Client, vic: Client
) -> None:
    await legacy_agent.start()
    host = await on_old_host(ada, type="psaux")
    (worker,) = await legacy_agent.config()
    assert (worker["type"], worker["resource_id"]) == ("psaux", host["id"])
    psaux = [{"user": "root", "pid": "1", "command": "init"}] * 3
    assert (await legacy_agent.send("POST", "/acme/psaux/old-1", {"psaux": psaux})).status == 200
    record = (await vic.get(f"/acme/monitor/{host['id']}")).json
    assert (record["state"], record["last_event"]["data"]) == ("normal", {"count": 3})
    await ada.put(f"/acme/monitor/{host['id']}/pause")
    for strange in ({"psaux": None}, {"psaux": "x"}, {}):
        assert (await legacy_agent.send("POST", "/acme/psaux/old-1", strange)).status == 200
    assert (await ada.get(f"/acme/monitor/{host['id']}")).json["state"] == "paused"
