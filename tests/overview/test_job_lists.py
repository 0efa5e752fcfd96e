"""Counts by state and arguments for lists of jobs."""

from base64 import b64encode

from contract.client import Client
from contract.world import World


async def test_arguments_are_short_texts_without_masked_ones(world: World, ada: Client) -> None:
    definitions = [
        {"type": "input", "label": "target", "order": 1},
        {"type": "input", "label": "key", "order": 2, "masked": True},
        {"type": "json", "label": "options", "order": 3},
    ]
    task_id = await world.task("Deploy", type="dummy", task_arguments=definitions)
    values = ["a\n b" + "x" * 100, "SECRET-VALUE", {"n": 1}]
    job_id = (await ada.post("/job", {"task": task_id, "task_arguments": values})).json["id"]
    answer = await ada.get(f"/job/arguments?ids={job_id}")
    [record] = answer.json
    assert record["texts"][0] == "a b" + "x" * 56 + "…"
    assert record["texts"][1].replace(" ", "") == '{"n":1}'
    assert (len(record["texts"]), record["more"]) == (2, False)
    assert "SECRET" not in answer.text
    assert (await world.client("eve").get(f"/job/arguments?ids={job_id}")).json == []


async def test_at_most_a_hundred_ids_are_taken(ada: Client) -> None:
    for ids in ("", "abc", ",".join(["0" * 24] * 101)):
        assert (await ada.get(f"/job/arguments?ids={ids}")).code == "bad_query"


async def test_jobs_are_counted_by_state_under_the_same_filter(world: World, ada: Client) -> None:
    task_id, other = [await world.task(name, type="dummy") for name in ("One", "Two")]
    for task in (task_id, task_id, other):
        await ada.post("/job", {"task": task, "task_arguments": []})
    ended = {"lifecycle": "finished", "state": "success"}
    every = (await ada.get("/job/counts")).json
    assert every == {"counts": [{**ended, "count": 3}], "more": False}
    few = (await ada.get(f"/job/counts?where[task_id]={task_id}")).json
    assert few["counts"] == [{**ended, "count": 2}]
    assert (await world.client("eve").get("/job/counts")).json["counts"] == []


async def test_a_file_is_shown_by_name_and_size(world: World, ada: Client) -> None:
    definitions = [
        {"type": "file", "label": "report", "order": 1},
        {"type": "file", "label": "key", "order": 2, "masked": True},
        {"type": "json", "label": "options", "order": 3},
    ]
    task_id = await world.task("Import", type="dummy", task_arguments=definitions)
    content = b64encode(b"x" * 1_500).decode()
    # An argument that looks like a stored file is not one.
    options = {"blob": "0" * 64, "filename": "other"}
    values = [
        f"data:text/csv;name=june%20report.csv;base64,{content}",
        f"data:text/plain;name=private.key;base64,{content}",
        options,
    ]
    job_id = (await ada.post("/job", {"task": task_id, "task_arguments": values})).json["id"]
    answer = await ada.get(f"/job/arguments?ids={job_id}")
    [record] = answer.json
    assert record["texts"][0] == "june report.csv (1.5 kB)"
    assert record["texts"][1].startswith('{"blob"')
    assert "private" not in answer.text


async def test_a_long_file_name_leaves_room_for_the_size(world: World, ada: Client) -> None:
    definitions = [{"type": "file", "label": "report", "order": 1}]
    task_id = await world.task("Import", type="dummy", task_arguments=definitions)
    value = f"data:text/csv;name={'n' * 100}.csv;base64,{b64encode(b'x').decode()}"
    job_id = (await ada.post("/job", {"task": task_id, "task_arguments": [value]})).json["id"]
    [record] = (await ada.get(f"/job/arguments?ids={job_id}")).json
    assert record["texts"] == ["n" * 53 + "… (1 B)"]
