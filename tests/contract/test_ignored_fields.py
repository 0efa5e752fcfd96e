"""Fields and arguments without effect: named in Belvedere-Ignored, refused with ?strict=1."""

from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.server.notices.jobs import note_of
from contract.client import Client
from contract.test_triggers import react
from contract.world import World

IGNORED = "belvedere-ignored"


async def test_ignored_fields_are_named_or_refused(world: World, ada: Client) -> None:
    task = await world.task()
    body = {"concurency": 1, "description": "d"}
    changed = await ada.patch(f"/acme/task/{task}", body)
    assert (changed.status, changed.headers[IGNORED]) == (200, "concurency")
    refused = await ada.patch(f"/acme/task/{task}?strict=1", body)
    assert (refused.status, refused.code) == (400, "unknown_field")
    assert refused.json["message"] == "There is no field concurency. Did you mean concurrency?"
    assert refused.json["errors"][0]["field"] == "concurency"


async def test_a_strict_refusal_changes_nothing(world: World, ada: Client) -> None:
    task = await world.task()
    await ada.patch(f"/acme/task/{task}?strict=1", {"concurency": 1, "description": "new"})
    assert (await ada.get(f"/acme/task/{task}")).json["description"] == ""


async def test_a_record_can_be_sent_back(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}])
    record = (await ada.get(f"/acme/task/{task}")).json
    record.pop("timeout")
    changed = await ada.put(f"/acme/task/{task}?strict=1", record)
    assert changed.status == 200, changed.json
    # They have no effect, and the client is told so.
    assert "creation_date" in changed.headers[IGNORED].split(", ")
    assert "_type" not in changed.headers[IGNORED].split(", ")


async def test_nested_fields_are_named_with_their_place(world: World, ada: Client) -> None:
    task = await world.task()
    body = {"task_arguments": [{"type": "input"}, {"type": "input", "lable": "x"}]}
    changed = await ada.patch(f"/acme/task/{task}", body)
    assert changed.headers[IGNORED] == "task_arguments[1].lable"
    refused = await ada.patch(f"/acme/task/{task}?strict=1", body)
    assert refused.json["message"].endswith("Did you mean label?")


async def test_names_cannot_break_the_header(world: World, ada: Client) -> None:
    task = await world.task()
    body = {"a\r\nSet-Cookie: b": 1, "é" * 500: 2, **{f"x{n}": n for n in range(100)}}
    header = (await ada.patch(f"/acme/task/{task}", body)).headers[IGNORED]
    assert header.startswith("a%0D%0ASet-Cookie%3A%20b, ")
    assert len(header.split(", ")) == 20 and len(header) < 1000


async def test_a_body_without_unknown_fields_has_no_header(world: World, ada: Client) -> None:
    task = await world.task()
    changed = await ada.patch(f"/task/{task}", {"description": "d", "customer": "acme"})
    assert IGNORED not in changed.headers


async def test_a_run_request_names_them_too(world: World, ada: Client) -> None:
    task = await world.task()
    body = {"task": task, "taskarguments": ["a"]}
    created = await ada.post("/acme/job", body)
    assert (created.status, created.headers[IGNORED]) == (200, "taskarguments")
    refused = await ada.post("/acme/job?strict=1", body)
    assert refused.json["message"].endswith("Did you mean task_arguments?")


async def test_extra_arguments_are_ignored_with_a_warning(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}])
    body = {"task": task, "task_arguments": ["a", "b", "c"]}
    created = await ada.post("/acme/job", body)
    assert created.json["task_arguments_values"] == ["a"]
    assert created.headers[IGNORED] == "task_arguments[1], task_arguments[2]"
    (warning,) = (await ada.get(f"/acme/job/{created.json['id']}")).json["warnings"]
    assert warning.startswith("2 values were ignored") and "task_arguments[1]" in warning
    refused = await ada.post("/acme/job?strict=1", body)
    assert (refused.status, refused.code) == (400, "too_many_arguments")
    plain = (await ada.post("/acme/job", {"task": task, "task_arguments": ["a"]})).json
    assert "warnings" not in (await ada.get(f"/acme/job/{plain['id']}")).json


async def test_a_workflow_that_has_to_wait_ignores_them_too(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}])
    graph = {"nodes": [{"id": "a", "task_id": task}]}
    body = {"name": "w", "graph": graph, "multitasking": False}
    workflow = (await ada.post("/acme/workflows", body)).json["id"]
    for _ in range(2):
        run = await ada.post(f"/acme/workflows/{workflow}/job", ["a", "b"])
        assert (run.status, run.headers[IGNORED]) == (200, "task_arguments[1]")
    (step,) = (await ada.get("/acme/job?where[_type]=ScriptJob")).json
    assert (await ada.put(f"/acme/job/{step['id']}/cancel")).status == 200
    await react(world)
    (second,) = (await ada.get("/acme/job?where[_type]=ScriptJob&where[lifecycle]=ready")).json
    full = (await ada.get(f"/acme/job/{second['id']}")).json
    assert full["task_arguments_values"] == ["a"]


async def test_input_and_restart_ignore_them_too(world: World, ada: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input"}])
    body = {"task": task, "lifecycle": "onhold"}
    job = (await ada.post("/acme/job", body)).json["id"]
    response = await ada.put(f"/acme/job/{job}/input", {"args": [{"value": "a"}, "b"]})
    assert (response.json["task_arguments_values"], response.headers[IGNORED]) == (
        ["a"],
        "task_arguments[1]",
    )
    await ada.put(f"/acme/job/{job}/cancel")
    again = await ada.put(f"/acme/job/{job}/restart", {"task_arguments": ["x", "y"]})
    assert (again.json["task_arguments_values"], again.headers[IGNORED]) == (
        ["x"],
        "task_arguments[1]",
    )


async def test_a_refusal_repeats_only_the_beginning_of_a_long_name(
    world: World, ada: Client
) -> None:
    task = await world.task()
    refused = await ada.patch(f"/acme/task/{task}?strict=1", {"x" * 100_000: 1})
    assert (refused.status, len(refused.body) < 1_000) == (400, True)


async def test_a_notification_takes_subject_body_and_recipients(world: World, ada: Client) -> None:
    fields = {"name": "note", "type": "notification", "subject": "s", "body": "b"}
    task = (await ada.post("/acme/task", fields)).json["id"]
    body = {"task": task, "task_arguments": [None, "Disk full", "uma@acme.test", "extra"]}
    created = await ada.post("/acme/job", body)
    assert created.json["task_arguments_values"] == ["", "Disk full", "uma@acme.test"]
    assert created.headers[IGNORED] == "task_arguments[3]"
    await react(world)
    subject, text, to = await world.runtime.db.read(_note, created.json["id"])
    assert (subject, text, to) == ("s", "Disk full", frozenset({"uma@acme.test"}))
    plain = await ada.post("/acme/job", {"task": task})
    assert plain.json["task_arguments_values"] == ["", "", ""]


def _note(tx: Tx, job_id: str) -> tuple[str, str, frozenset[str]]:
    customer_id = tx.value("select customer_id from jobs where id = ?", job_id)
    return note_of(tx, store.find(tx, customer_id, job_id))
