"""Whatever the arguments are, every encoding of a run request gives the script the same argv."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.protocol import AttemptEnded, Report
from contract.client import FORM, Client, Response
from contract.fakeagent import FakeAgent
from contract.world import World

MOST = 4
# Everything that argv can contain: no NUL, no half of a surrogate pair.
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ARGUMENTS = st.lists(WORDS, max_size=MOST)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


class RunRoutes:
    """Tasks of 0 to 4 arguments, and every way to run them."""

    def __init__(self, client: Client, anonymous: Client, agent: FakeAgent) -> None:
        self.client, self.anonymous, self.agent = client, anonymous, agent
        self.tasks: list[tuple[str, str]] = []

    async def make(self, world: World) -> None:
        for count in range(MOST + 1):
            definitions = [{"type": "input", "required": False} for _ in range(count)]
            task = await world.task(f"t{count}", task_arguments=definitions)
            response = await self.client.get(f"/acme/task/{task}/credentials")
            self.tasks.append((task, response.json["secret"]))

    async def argvs(self, answers: list[Response]) -> list[list[str]]:
        """The arguments in the agent's order, for each of these responses."""
        assert [item.status for item in answers] == [200] * len(answers), answers
        orders = {order.job_id: order for order in [await self.agent.order() for _ in answers]}
        actual_orders = [orders[item.json["id"]] for item in answers]
        await self.agent.send_messages(
            *(AttemptEnded(item.fence, Report("exit", log="")) for item in actual_orders)
        )
        for item in actual_orders:
            await self.agent.wait_acked(item.fence)
        return [item.arguments for item in actual_orders]

    async def call_all(self, given: list[str]) -> list[Response]:
        task, secret = self.tasks[len(given)]
        by_secret, query = f"/job/secret/{secret}", f"customer=acme&task={task}"
        plain = [("task_arguments", item) for item in given]
        bracketed = [("task_arguments[]", item) for item in given]
        hidden = [("customer", "acme"), ("task", task), *bracketed]
        form = {"content-type": FORM}
        post, as_user = self.anonymous.post, self.client.post
        body = {"task_arguments": given}
        return [
            await post(f"{by_secret}?{query}", body),
            await post(f"{by_secret}?{query}", raw=urlencode(plain).encode(), headers=form),
            await post(f"{by_secret}?{query}&{urlencode(bracketed)}"),
            await post(by_secret, raw=urlencode(hidden).encode(), headers=form),
            await as_user("/job?customer=acme", {"task": task, **body}),
            await as_user(
                "/acme/job", raw=urlencode([("task", task), *plain]).encode(), headers=form
            ),
            await post(f"/task/{task}/secret/{secret}/job", body),
            await as_user("/acme/job", {"task": task, "task_arguments": _objects(given)}),
            await post(f"{by_secret}?{query}", {"task_arguments": [{"value": v} for v in given]}),
        ]


def _objects(values: list[str]) -> list[dict[str, Any]]:
    """As TheEye's clients send them, here in reverse: `order` decides."""
    named = [{"order": n, "label": f"l{n}", "value": value} for n, value in enumerate(values)]
    return named[::-1]


def property_of(world: World, check: Callable[["RunRoutes", asyncio.Runner], None]) -> None:
    """One server, one agent and one loop for all examples."""
    with asyncio.Runner() as runner:
        agent = world.agent()
        routes = RunRoutes(world.client("ada"), world.client(), agent)
        runner.run(routes.make(world))
        runner.run(agent.__aenter__())
        check(routes, runner)
        runner.run(agent.leave())


def test_all_encodings_pass_the_same_arguments(world: World) -> None:
    def check(routes: RunRoutes, runner: asyncio.Runner) -> None:
        @given(ARGUMENTS)
        @settings(max_examples=30)
        def same(arguments: list[str]) -> None:
            async def argvs() -> list[list[str]]:
                return await routes.argvs(await routes.call_all(arguments))

            assert runner.run(argvs()) == [arguments] * 9

        same()

    property_of(world, check)


def test_values_that_are_no_strings_arrive_as_they_were_written(world: World) -> None:
    def check(routes: RunRoutes, runner: asyncio.Runner) -> None:
        task, secret = routes.tasks[1]
        target = f"/job/secret/{secret}?customer=acme&task={task}"

        @given(JSON_VALUES)
        @settings(max_examples=30)
        def check_value(value: object) -> None:
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)

            async def argv() -> list[str]:
                raw = f'{{"task_arguments": [ {text} ]}}'.encode()
                kind = {"content-type": "application/json"}
                response = await routes.anonymous.post(target, raw=raw, headers=kind)
                return (await routes.argvs([response]))[0]

            assert runner.run(argv()) == [text]

        check_value()

    property_of(world, check)


def test_numbers_keep_their_spelling(world: World) -> None:
    def check(routes: RunRoutes, runner: asyncio.Runner) -> None:
        task, secret = routes.tasks[4]
        target = f"/job/secret/{secret}?customer=acme&task={task}"
        raw = b'{"task_arguments": [1.0, -0, 1e5, {"a" : [0.10]}]}'

        async def argv() -> list[str]:
            kind = {"content-type": "application/json"}
            response = await routes.anonymous.post(target, raw=raw, headers=kind)
            return (await routes.argvs([response]))[0]

        assert runner.run(argv()) == ["1.0", "-0", "1e5", '{"a":[0.10]}']

    property_of(world, check)
