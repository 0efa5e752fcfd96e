"""How many events of webhook calls retention keeps, against the budget of the event log."""

from pathlib import Path

from belvedere import events
from belvedere.bench import results
from belvedere.bench.environment.databases import open_migrated, temporary_database
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.bench.measure.history_data import skip_events
from belvedere.bench.results import FeatureCost
from belvedere.db import Database, Tx
from belvedere.events import budget
from belvedere.jobs.history import retention
from belvedere.server.background.consumers import CONSUMERS

# The budget of an installation is a setting, 100,000 by default.
BUDGET, CALLS = 1_000, 5_000


def measure(server: str, folder: Path) -> FeatureCost:
    with temporary_database(server, folder, "events") as url, open_migrated(url) as db:
        target = db.write_blocking(fixture.create_fixture)
        db.write_blocking(_append_calls, target)
        db.write_blocking(skip_events)
        _purge(db)
        count = db.write_blocking(_count)
    unit = f"of a budget of {BUDGET:,} events, after {CALLS:,} webhook calls"
    return results.feature_cost("event budget", unit, count, BUDGET)


def _append_calls(tx: Tx, target: Fixture) -> None:
    """The events of the calls, without the jobs that they start."""
    call = (target.actor.customer_id, "bench", {"name": "bench"})
    events.append_all(tx, "webhook.triggered", [call] * CALLS)


def _purge(db: Database) -> None:
    """As the server does in the background."""
    while db.write_blocking(budget.count_step):
        pass
    names = [consumer.name for consumer in CONSUMERS]
    for pair in db.write_blocking(budget.over_budget, BUDGET):
        while db.write_blocking(retention.purge_excess_events, names, *pair, BUDGET):
            pass


def _count(tx: Tx) -> int:
    return int(tx.value("select count(*) from events where object = 'webhook'"))
