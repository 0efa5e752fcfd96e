"""How the end of a script is shown in the record: state, trigger_name, output, result."""

from typing import Any

from contract import interface_fields
from contract.client import Client
from contract.running import run
from contract.world import World

# What the agent reports, and the lifecycle, state, trigger_name and output that follow.
ENDS: list[tuple[dict[str, Any], tuple[str, str, str, Any]]] = [
    ({"code": 0}, ("finished", "normal", "success", None)),
    ({"code": 1}, ("finished", "failure", "failure", None)),
    ({"code": 137, "signal": "SIGKILL"}, ("finished", "failure", "failure", None)),
    ({"lastline": "success"}, ("finished", "success", "success", None)),
    ({"lastline": "normal"}, ("finished", "normal", "success", None)),
    ({"lastline": "ok"}, ("finished", "success", "success", None)),
    ({"lastline": "failure"}, ("finished", "failure", "failure", None)),
    ({"lastline": "fail"}, ("finished", "failure", "failure", None)),
    ({"lastline": "error"}, ("finished", "failure", "failure", None)),
    ({"lastline": "all is well"}, ("finished", "normal", "success", None)),
    ({"code": 1, "lastline": "success"}, ("finished", "failure", "failure", None)),
    ({"lastline": '{"state": "failure"}'}, ("finished", "failure", "failure", None)),
    (
        {"lastline": '{"state": "success", "event_name": "deployed"}'},
        ("finished", "success", "deployed", None),
    ),
    (
        {"lastline": '{"output": ["a", 1.0, {"b": [null]}, true]}'},
        ("finished", "normal", "success", ["a", "1.0", '{"b":[null]}', "true"]),
    ),
    ({"lastline": '{"data": "x"}'}, ("finished", "normal", "success", ["x"])),
    (
        {"lastline": '{"output": [1], "data": [2]}'},
        ("finished", "normal", "success", ["1"]),
    ),
    ({"lastline": '["a", -0, 1e5]'}, ("finished", "normal", "success", ["a", "-0", "1e5"])),
    ({"ending": "timeout", "code": 137}, ("terminated", "timeout", "timeout", None)),
    ({"ending": "canceled", "code": 143}, ("terminated", "canceled", "canceled", None)),
    (
        {"ending": "error", "reason": "no_interpreter", "message": "bash is not there"},
        ("finished", "error", "failure", None),
    ),
]


async def test_every_report_has_its_verdict(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        for report, verdict in ENDS:
            job = await run(uma, agent, task, **report)
            pair = (job["lifecycle"], job["state"], job["trigger_name"], job["output"])
            assert pair == verdict, report
            assert interface_fields.missing(job["result"], interface_fields.RESULT) == [], report
            assert job["result"]["code"] == report.get("code", 0)
            killed = report.get("ending") in ("timeout", "canceled")
            assert job["result"]["killed"] is killed, report


async def test_a_task_may_ignore_the_exit_code(world: World, uma: Client) -> None:
    task = await world.task(ignore_exit_code=True)
    async with world.agent() as agent:
        assert (await run(uma, agent, task, code=3))["state"] == "normal"
        assert (await run(uma, agent, task, code=3, lastline="fail"))["state"] == "failure"
        assert (await run(uma, agent, task, code=1, lastline="success"))["state"] == "success"


async def test_a_task_sets_the_state_of_a_script_without_output(world: World, uma: Client) -> None:
    task = await world.task(default_state_evaluation="success")
    async with world.agent() as agent:
        assert (await run(uma, agent, task))["state"] == "success"


async def test_survivors_are_named(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), ending="canceled", survivors=[41, 42])
    assert job["result"]["kill_incomplete"] == [41, 42]


async def test_the_reason_of_a_failed_start_is_reported(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await run(
            uma, agent, await world.task(), ending="error", reason="no_user", message="no such user"
        )
    assert job["ran"] == "no" and job["reason"] == "no_user"
    assert job["result"]["reason"] == "no_user"
