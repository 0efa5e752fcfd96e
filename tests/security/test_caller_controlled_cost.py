"""Operations whose cost a caller chooses: the worst input costs a bounded multiple of a plain one.

Steps are lines of Python, counted and not timed (security/counting.py)."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, cast
from zoneinfo import ZoneInfo

import msgspec
import pytest

from belvedere.access.people import naming
from belvedere.base.errors import Invalid
from belvedere.hosts import choice
from belvedere.indicators.values import chart, html
from belvedere.jobs.output.log_lines import LogSearch
from belvedere.jobs.output.log_store import Chunk
from belvedere.monitors.config import kinds, maintenance
from belvedere.monitors.config.kinds import ScraperConfig
from belvedere.rest import listing, listing_sql, text_fields
from belvedere.rest.listing import Field, Listable
from belvedere.schedules.timing import cron, recurrence
from belvedere.schedules.timing.cron import BadCron
from belvedere.tasks.definition import argument_types, argument_values, validation
from belvedere.tasks.model import Argument, ArgumentKind, Option, TaskSpec, Type
from belvedere.workflow_specs import graph_validation
from belvedere.workflow_specs.model import Edge, Graph, Node
from belvedere.workflows.recipes import format, importer
from contract.client import Client
from contract.world import World
from security.counting import steps

# One more than any limit of the lists below.
MANY = 20_000
LISTABLE = Listable(fields={"id": Field("x.id"), "name": Field("x.name"), "tag.N": Field("{n}")})


@dataclass(frozen=True)
class Cost:
    """An operation with a plain input, the worst that is allowed or refused, and the ratio."""

    operation: str
    call: Callable[[Any], Any]
    plain: Any
    worst: Any
    ratio: int = 200


def _task(**fields: Any) -> TaskSpec:
    return TaskSpec(**{"name": "t", "type": Type.DUMMY, **fields})


def _select(count: int) -> list[Argument]:
    options = [Option(str(n), f"option {n}") for n in range(count)]
    return [Argument(type=ArgumentKind.SELECT, order=0, label="x", options=options)]


def _scraper(**fields: Any) -> TaskSpec:
    return _task(type=Type.SCRAPER, url="http://a.test/", method="GET", **fields)


def _line(n: int) -> Graph:
    nodes = [Node(f"n{k}", task_id="0" * 24) for k in range(n)]
    edges = [Edge(f"n{k}", f"n{k + 1}", "success") for k in range(n - 1)]
    return Graph(nodes, edges)


def _recipe(count: int, name: str = "same") -> dict[str, Any]:
    tasks = [{"id": f"t{n}", "name": name, "type": "dummy"} for n in range(count)]
    nodes = [{"v": f"t{n}", "value": {"_type": "DummyTask"}} for n in range(count)]
    return {"name": "w", "tasks": tasks, "graph": {"nodes": nodes, "edges": []}}


def _events(count: int) -> dict[str, Any]:
    """An older graph: every edge passes through one event, so that each is combined with each."""
    recipe = _recipe(2)
    recipe["graph"]["nodes"].append({"v": "e", "value": {"_type": "Event", "name": "x"}})
    ends = [{"v": "t0", "w": "e"}, {"v": "e", "w": "t1"}]
    recipe["graph"]["edges"] = ends * (count // 2)
    return recipe


def _first(text: str) -> None:
    cron.parse(text).after(datetime(2026, 1, 1))


def _web_check(**fields: Any) -> None:
    list(kinds._scraper(ScraperConfig("http://a/", **fields)))


def _fires(text: str) -> None:
    output = recurrence.read(None, text, ZoneInfo("America/New_York"), 0)
    assert len(list(islice(output.fires(1_790_000_000_000), 100))) <= 100


def _search(data: bytes) -> None:
    looking = LogSearch("needle", 10)
    for n in range(4):
        looking.feed(Chunk(n * len(data), 0, len(data), data))


COSTS = [
    Cost("conditions of a list", lambda q: listing_sql.clauses(listing.read(q, LISTABLE)),
         {"where[name]": ["a"]}, {f"where[tag.{n % 999}][$in][{n}]": ["a"] for n in range(999)}),
    Cost("values of a condition", lambda q: listing_sql.clauses(listing.read(q, LISTABLE)),
         {"where[name]": ["a"]}, {"where[name][$in][]": ["a"] * 1_000}),
    Cost("text that a list looks for", lambda q: listing.read(q, LISTABLE),
         {"where[name][$text]": ["a"]}, {"where[name][$text]": ["%" * 60_000]}),
    Cost("depth of a condition", lambda q: listing.read(q, LISTABLE),
         {"where[name]": ["a"]}, {"where" + "[name]" * 10_000: ["a"]}),
    Cost("a cron text that never happens", _first,
         "0 0 2 2 *", "0 0 30 2 *"),
    Cost("a cron text that happens every 28 years", _fires, "0 0 1 * *", "0 0 29 2 */7"),
    Cost("a long cron text", cron.parse, "0 0 1 * *", "1," * MANY + "1 0 1 * *"),
    Cost("a long interval",
         recurrence.interval, "every 5 minutes", "every" + " " * 500_000 + "5 x"),
    Cost("tags", lambda tags: text_fields.tags("tags", tags), ["a"], ["a"] * MANY),
    Cost("tags of a member", naming.tags, ["a:b"], ["a:b"] * MANY),
    Cost("a long text", lambda text: text_fields.prose("x", text), "a", "a" * 30_000_000),
    Cost("options of an argument", lambda a: validation.validate(_task(task_arguments=a)),
         _select(10), _select(MANY)),
    Cost("arguments of a task", lambda a: validation.validate(_task(task_arguments=a)),
         [Argument(ArgumentKind.INPUT)] * 2, [Argument(ArgumentKind.INPUT)] * MANY),
    Cost("recipients of a task", lambda r: validation.validate(_task(recipients=r)),
         ["a"], ["a"] * MANY),
    Cost("members of a task", lambda r: validation.validate(_task(assigned_users=r)),
         ["a"], ["a"] * MANY),
    Cost("environment of a task", lambda env: list(validation.env_faults("env", env)),
         {"A": "b"}, {f"A{n}": "b" for n in range(MANY)}),
    Cost("headers of a scraper task", lambda h: validation.validate(_scraper(headers=h)),
         {"a": "b"}, {f"a{n}": "b" for n in range(MANY)}),
    Cost("headers of a web check", lambda h: _web_check(headers=h),
         {"a": "b"}, {f"a{n}": "b" for n in range(MANY)}),
    Cost("a path in JSON", lambda p: _web_check(json_path=p),
         "$.a", "$" + ".a" * 30_000),
    Cost("days of a maintenance window",
         lambda d: maintenance._weekly_fault(maintenance.MaintenanceWindow(days=d)),
         ["mon"], ["mon"] * MANY),
    Cost("nodes of a workflow",
         lambda g: graph_validation.faults_of(g, "n0"), _line(10), _line(MANY)),
    Cost("faults of a workflow", lambda g: graph_validation.faults_of(g, "n0"),
         _line(10), Graph(_line(2).nodes, [Edge("x", "y", "z")] * 1_000), ratio=600),
    Cost("tasks of a recipe with one name", importer.read, _recipe(2), _recipe(200)),
    Cost("tasks of a recipe", importer.read, _recipe(2), _recipe(MANY)),
    Cost("edges of an old recipe", format.read, _events(2), _events(2_000), ratio=600),
    Cost("labels of a chart", chart.encode_chart,
         chart.Chart([], labels=["a"]), chart.Chart([], labels=["a"] * MANY)),
    Cost("times of a chart", chart.encode_chart,
         chart.Chart([], times=["2026-01-01"]), chart.Chart([], times=["2026-01-01"] * MANY)),
    Cost("html of an indicator", html.sanitize, "<p>a", "<b>" * 10_000, ratio=60_000),
    Cost("a log with orders to a terminal", _search, b"a\n" * 2, b"\x1b[0;\x1b]" * MANY),
    Cost("values of a run",
         lambda item: argument_values.fit([Argument(ArgumentKind.INPUT)], item),
         ["a"], ["a"] * MANY),
    Cost("a choice of many", lambda text: argument_types.convert(
        Argument(ArgumentKind.SELECT, multiple=True, options=[Option("a", "a")]), text),
         '["a"]', "[" * 100_000),
]  # fmt: skip


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cast("Cost", cost).operation)
def test_the_worst_input_costs_a_bounded_multiple_of_a_plain_one(cost: Cost) -> None:
    def call(given: Any) -> Callable[[], None]:
        def run() -> None:
            with contextlib.suppress(Invalid, BadCron, argument_types.InvalidArgument):
                cost.call(given)

        return run

    call(cost.plain)()
    assert steps(call(cost.worst)) <= cost.ratio * steps(call(cost.plain))


async def test_nothing_is_looked_up_for_a_workflow_that_is_too_large(
    ada: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was a query for each of 20,000 nodes, inside the transaction that writes."""
    looked_up = 0

    def find(*_args: Any, **_more: Any) -> None:
        nonlocal looked_up
        looked_up += 1

    monkeypatch.setattr("belvedere.workflows.bodies.tasks.find", find)
    nodes = [{"id": f"n{n}", "task_id": f"{n:024x}"} for n in range(10_000)]
    body = {"name": "w", "graph": {"nodes": nodes, "edges": []}, "start": "n0"}
    refused = await ada.post("/acme/workflows", body)
    assert refused.status == 400 and "1 to 200 nodes" in refused.text
    assert looked_up == 0


async def test_too_many_hosts_of_a_command_are_refused_before_they_are_looked_up(
    ada: Client,
) -> None:
    for field in ("hosts", "tags"):
        many = [f"h{n}" for n in range(choice.MAX_NAMED + 1)]
        refused = await ada.post("/acme/exec", {"command": ["true"], field: many})
        assert refused.status == 400 and f"At most {choice.MAX_NAMED} {field}" in refused.text


async def test_a_long_command_is_not_written_down_for_many_hosts(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.jobs.lifecycle.commands.MAX_WRITTEN", 1_000)
    body = {"command": ["echo", "a" * 900], "hosts": ["web-1", "web-2"]}
    refused = await ada.post("/acme/exec", body)
    assert refused.status == 400 and "too long for 2 hosts" in refused.text
    assert (await ada.post("/acme/exec", {**body, "hosts": ["web-1"]})).status == 201


async def test_a_list_with_many_conditions_is_refused_and_not_a_fault(ada: Client) -> None:
    """SQLite stops at a thousand."""
    text = "&".join(f"where[id][$in][{n}]=a" for n in range(998))
    refused = await ada.get(f"/acme/task?{text}")
    assert (refused.status, refused.code) == (400, "bad_query")
    long = await ada.get(f"/acme/task?where[name][$text]={'a' * 300}")
    assert (long.status, long.code) == (400, "bad_query")


async def test_a_long_text_is_not_looked_for_in_a_log(world: World, ada: Client) -> None:
    task = await world.task()
    job = (await ada.post("/acme/job", {"task": task})).json["id"]
    refused = await ada.get(f"/acme/job/{job}/log/search?q={'a' * 1_001}")
    assert (refused.status, refused.code) == (400, "invalid_query")


def test_a_recipe_gives_each_node_a_name_of_its_own() -> None:
    text = format.read(_recipe(120))
    assert len({node.id for node in text.nodes.values()}) == 120
    assert msgspec.json.encode(text)
