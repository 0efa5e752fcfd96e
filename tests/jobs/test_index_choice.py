"""Which index a list of jobs is read along."""

import pytest

from belvedere.db import Database, Tx
from belvedere.jobs.queries import index_choice, pages
from belvedere.rest import listing as filters
from belvedere.rest.listing_sql import clauses
from people import Actors

MISSING = "0" * 24
WAITING = {"where[lifecycle][$in][]": ["ready", "onhold"]}


def plan(db: Database, actors: Actors, query: dict[str, list[str]]) -> str:
    def read(tx: Tx) -> str:
        listing = filters.read(query, pages.listable(db.dialect))
        way = index_choice.choose_index(tx, actors.acme.id, listing, 100)
        sent_clauses = clauses(way.rest)
        text = f"select j.name from jobs j where {way.text}{sent_clauses.where}"
        text += f" order by {way.order}j.id desc limit 9"
        explain = "explain query plan" if db.dialect.name == "sqlite" else "explain"
        return str(tx.rows(f"{explain} {text}", *way.params, *sent_clauses.params))

    return db.write_blocking(read)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({}, "jobs_of_customer"),
        ({"where[name]": ["x"]}, "jobs_of_customer"),
        ({"where[task_id]": [MISSING]}, "jobs_of_task"),
        ({"where[workflow_id]": [MISSING]}, "jobs_of_workflow"),
        ({"where[workflow_job_id]": [MISSING]}, "jobs_of_workflow_job"),
        (WAITING, "jobs_open"),
        ({**WAITING, "where[task_id]": [MISSING]}, "jobs_open"),
        ({**WAITING, "where[workflow_id]": [MISSING]}, "jobs_open"),
        ({"where[lifecycle]": ["assigned"]}, "jobs_assigned"),
        ({"where[state][$in][]": ["failure", "lost"]}, "jobs_ended_badly"),
        ({"where[state][$in][]": ["failure", "success"]}, "jobs_of_customer"),
        ({"where[id][$in][]": [MISSING, MISSING]}, "jobs_1|jobs_pkey"),
    ],
)
def test_each_query_uses_its_index(
    db: Database, actors: Actors, query: dict[str, list[str]], index: str
) -> None:
    # While the table is empty, these two may cost PostgreSQL the same.
    alike = ("jobs_ended_badly", "jobs_of_customer")
    expected = alike if db.dialect.name == "postgres" and index in alike else index.split("|")
    actual_plan = plan(db, actors, query)
    assert any(name in actual_plan for name in expected), actual_plan
