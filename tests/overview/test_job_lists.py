"""Counts by state and arguments for lists of jobs."""

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
