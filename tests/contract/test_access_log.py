"""The access log: route template, status and time; never the path or the query.

Every other test of this folder runs with the same check (tests/contract/serving.py)."""

import re

from contract.client import Client
from contract.serving import LogRecorder
from contract.world import World
from people import PASSWORD

CANARY = "canary-in-a-query"


async def test_a_request_is_one_log_line(world: World, ada: Client, watch: LogRecorder) -> None:
    task = await world.task()
    watch.lines.clear()
    await ada.get(f"/acme/task/{task}?colour=blue")
    (line,) = watch.lines
    assert re.fullmatch(
        r"belvedere.access request answered method=GET route=/task/\{id\} status=200 ms=[\d.]+"
        r" request=[0-9a-f]{16}",
        line,
    )


async def test_secrets_in_paths_are_not_logged(
    world: World, ada: Client, anonymous: Client, watch: LogRecorder
) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    watch.lines.clear()
    await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")
    await anonymous.post(f"/job/secret/{'f' * 64}?customer=acme&task={task}")
    text = "\n".join(watch.lines)
    route = "method=POST route=/job/secret/{secret}"
    assert f"{route} status=200" in text and f"{route} status=403" in text
    assert secret not in text and "f" * 64 not in text and task not in text


async def test_tokens_in_queries_are_not_logged(
    world: World, anonymous: Client, watch: LogRecorder
) -> None:
    token = world.things.integration["acme"]
    watch.lines.clear()
    await anonymous.get(f"/acme/task?access_token={token}&where[name]={CANARY[:6]}x")
    text = "\n".join(watch.lines)
    assert text.startswith("belvedere.access request answered method=GET route=/task status=200")
    assert token not in text and "where" not in text


async def test_an_unknown_path_is_not_logged_either(anonymous: Client, watch: LogRecorder) -> None:
    await anonymous.get("/somebody/pasted/bvt_here")
    assert " method=GET route=- status=404 " in watch.lines[-1]


async def test_an_internal_error_is_logged_without_the_request_data(
    world: World, ada: Client, watch: LogRecorder
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the fault itself")

    world.runtime.db.read_inline = fail  # type: ignore[method-assign, assignment]
    world.runtime.credentials.clear()
    client = Client(world.app, world.things.integration["acme"])
    answer = await client.post("/acme/job", {"task": "x", "task_arguments": [PASSWORD]})
    assert (answer.status, answer.code) == (500, "internal")
    assert "the fault itself" not in answer.text and "Traceback" not in answer.text
    text = "\n".join(watch.lines)
    assert "the fault itself" in text and answer.json["request_id"] in text
