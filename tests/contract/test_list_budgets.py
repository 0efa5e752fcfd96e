"""Lists of history examine a limited number of rows, and continue where they stopped.

Lists of jobs have more tests: test_search_budget.py.
"""

import csv
import io
from dataclasses import dataclass, replace
from typing import Any

import pytest

from belvedere.access import Actor, audit, history_lists, searches
from belvedere.access.api import audit as audit_api
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs.queries import pages
from belvedere.notifications import inbox
from belvedere.notifications.delivery import messages
from belvedere.notifications.model import AddressedNotice, Notice, NoticeSeverity
from belvedere.webhooks.deliveries import store as deliveries
from belvedere.webhooks.model import Delivery
from contract import flowing
from contract.client import Client, Response
from contract.world import World

STEP, MOST, ROWS = 2, 5, 13
WEBHOOK = "0123456789abcdef01234567"


def is_rare(number: int) -> bool:
    """Every fourth row is one that the filter looks for."""
    return number % 4 == 0


def _notice(number: int, at: int) -> Notice:
    severity = NoticeSeverity.HIGH if is_rare(number) else NoticeSeverity.LOW
    return Notice("job.lost", "job", "a" * 24, f"notice {number}", at, severity)


def _fill_audit(tx: Tx, actor: Actor, webhook_id: str) -> None:
    for number in range(ROWS):
        action = "task.rare" if is_rare(number) else "task.change"
        audit.record(tx, actor, action, "task", WEBHOOK, None, {"n": number})


def _fill_messages(tx: Tx, actor: Actor, webhook_id: str) -> None:
    for number in range(ROWS):
        messages.insert(tx, actor.customer_id, [_notice(number, tx.now)])


def _fill_inbox(tx: Tx, actor: Actor, webhook_id: str) -> None:
    for number in range(ROWS):
        notice = AddressedNotice(
            actor.customer_id, _notice(number, tx.now), people=(actor.user_id,)
        )
        inbox.deliver(tx, [notice])


def _fill_deliveries(tx: Tx, actor: Actor, webhook_id: str) -> None:
    texts = {"address": "192.0.2.1", "door": "secret", "username": "", "content_type": "text/plain"}
    for number in range(ROWS):
        row = Delivery(
            id=new_id(),
            customer_id=actor.customer_id,
            webhook_id=webhook_id,
            at=tx.now,
            verdict="rare" if is_rare(number) else "accepted",
            delivery_key=None,
            replay_of=None,
            jobs="[]",
            masked="[]",
            headers="{}",
            size=2,
            **texts,
        )
        deliveries.insert(tx, [(row, "{}")])


@dataclass(frozen=True)
class HistoryList:
    fill: Any
    path: str
    # Selects the rare rows; those of nothing.
    rare: str
    nothing: str
    # Other parameters that its route takes.
    others: tuple[str, ...] = ("where[id][$gt]=0", "sort[id]=1", "count=true")


LISTS = {
    "audit": HistoryList(
        _fill_audit, "/api/audit?", "action=task.rare", "action=nothing", ("user=ada",)
    ),
    "audit of an object": HistoryList(
        _fill_audit, f"/api/audit?object_id={WEBHOOK}&", "action=task.r", "kind=agent", ()
    ),
    "messages": HistoryList(
        _fill_messages, "/acme/notify/message?", "where[severity]=HIGH", "where[state]=dead"
    ),
    "inbox": HistoryList(
        _fill_inbox, "/acme/notification?", "where[severity]=HIGH", "where[read]=true"
    ),
    "deliveries": HistoryList(
        _fill_deliveries,
        "/acme/webhook/{webhook}/delivery?",
        "where[verdict]=rare",
        "where[door]=token",
    ),
}


@pytest.fixture
def row_limits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that each step was allowed to examine."""
    steps: list[int] = []
    read = history_lists.read_page

    def count_rows(tx: Tx, table: Any, scope: Any, listing: Any, *limits: Any) -> Any:
        if limits[1] is not None:
            steps.append(limits[1])
        page = read(tx, table, scope, listing, *limits)
        assert limits[1] is None or len(page.records) <= limits[1]
        return page

    monkeypatch.setattr(history_lists, "read_page", count_rows)
    return steps


async def follow(client: Client, path: str) -> list[Response]:
    answers = [await client.get(path)]
    while link := answers[-1].headers.get("link"):
        assert len(answers) < 100
        answers.append(await client.get(link[1 : link.index(">")]))
    assert {answer.status for answer in answers} == {200}
    return answers


def ids_of(answers: list[Response]) -> list[str]:
    return [record["id"] for answer in answers for record in answer.json]


async def fill_list(world: World, ada: Client, name: str) -> HistoryList:
    """The list with its rows, and the path that names them."""
    task = await world.task()
    hook = (await ada.post("/acme/webhook", {"name": "hook", "tasks": [task]})).json
    history = LISTS[name]
    await world.runtime.db.write(history.fill, world.actors.ada, hook["id"])
    path = history.path.replace("{webhook}", hook["id"])
    return replace(history, path=path)


@pytest.mark.parametrize("name", LISTS)
async def test_pages_together_are_the_full_result(
    world: World, ada: Client, row_limits: list[int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    history = await fill_list(world, ada, name)
    queries = ["", "limit=1", history.rare, f"{history.rare}&limit=1", *history.others]
    expected = {query: ids_of(await follow(ada, history.path + query)) for query in queries}
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    assert len(expected[history.rare]) == 4
    for query in queries:
        row_limits.clear()
        answers = await follow(ada, history.path + query)
        assert ids_of(answers) == expected[query], query
        assert max(row_limits) <= STEP and sum(row_limits) <= len(answers) * MOST, query


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_without_a_match_stops_and_says_where_to_continue(
    world: World, ada: Client, row_limits: list[int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    history = await fill_list(world, ada, name)
    newest = ids_of([await ada.get(history.path)])
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    row_limits.clear()
    first = await ada.get(history.path + history.nothing)
    assert first.json == [] and row_limits == [2, 2, 1]
    assert first.headers["x-looked-until"] == newest[MOST - 1]
    assert f"after={newest[MOST - 1]}" in first.headers["link"]
    answers = await follow(ada, history.path + history.nothing)
    assert ids_of(answers) == [] and len(answers) > 2


async def test_no_further_step_begins_after_the_time(
    world: World, ada: Client, row_limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    history = await fill_list(world, ada, "messages")
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_STEPS_S", -1.0)
    answer = await ada.get(history.path + history.nothing)
    assert row_limits == [STEP] and "link" in answer.headers


async def test_a_total_within_the_budget_is_marked_as_partial(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = await fill_list(world, ada, "inbox")
    path = f"{history.path}{history.rare}&count=true&limit=1"
    exact = await ada.get(path)
    assert exact.headers["x-total-count"] == "4" and "x-total-more" not in exact.headers
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    partial = await ada.get(path)
    assert partial.headers["x-total-count"] == "2" and partial.headers["x-total-more"] == "true"


async def test_rows_by_id_need_no_history(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = await fill_list(world, ada, "messages")
    ids = ids_of([await ada.get(history.path)])
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    answer = await ada.get(f"{history.path}where[id]={ids[-1]}")
    assert ids_of([answer]) == [ids[-1]] and "link" not in answer.headers


async def test_an_export_reads_all_of_the_audit_in_steps(
    world: World, ada: Client, row_limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill_list(world, ada, "audit")
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    exported = await ada.get("/api/audit.csv?action=task.rare")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [row["action"] for row in rows] == ["task.rare"] * 4
    assert len(row_limits) > 4 and set(row_limits) == {STEP}
    assert audit_api.MAX_EXPORT > ROWS


async def test_inputs_of_workflow_jobs_are_read_in_steps(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = await flowing.create_workflow(world, ada)
    jobs = [(await flowing.run(ada, flow))["id"] for _ in range(7)][::-1]
    limits: list[int] = []
    read = pages.read_page

    def count_rows(tx: Tx, actor: Any, listing: Any, count: Any, rows: Any, size: int = 0) -> Any:
        limits.append(rows)
        return read(tx, actor, listing, count, rows, size)

    monkeypatch.setattr(pages, "read_page", count_rows)
    monkeypatch.setattr(searches, "STEP_ROWS", STEP)
    monkeypatch.setattr(searches, "MAX_ROWS", MOST)
    path = f"/acme/workflows/{flow['id']}/jobs/input"
    for query in ("", "?limit=1", "?limit=3"):
        limits.clear()
        answers = await follow(ada, path + query)
        assert [record["workflow_job_id"] for a in answers for record in a.json] == jobs
        assert max(limits) <= STEP and len(answers) > 1
