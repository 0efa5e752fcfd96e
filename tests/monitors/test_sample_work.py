"""The work of the server for a batch of samples: statements, rows and rules."""

import sys
from collections.abc import Sequence
from itertools import product
from typing import Any
from unittest import mock

import msgspec
import pytest

from belvedere.base.clock import DAY, MINUTE
from belvedere.db import Tx
from belvedere.db.postgres.connection import PostgresConnection
from belvedere.monitors.evaluation import observations, rollups, samples
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, MonitorState
from belvedere.protocol import Sample, Samples
from monitors.monitor_steps import MonitorSteps
from statements import RecordingTx

MANY = 20


@pytest.mark.parametrize("count", [1, 100])
def test_unchanged_samples_of_one_batch_share_their_statements(
    steps: MonitorSteps, count: int
) -> None:
    """One row for each sample; the monitor and each step of its history are written once."""
    shop = steps.make()
    steps.sample(shop, "normal", measured={"ms": 1.0})
    rows: dict[str, int] = {}

    def record(tx: Tx) -> int:
        recording: Any = RowCountingTx(tx, rows)
        batch = [Sample(shop, 1, 0, "normal", measured={"ms": 1.0}) for _ in range(count)]
        samples.record_batches(recording, steps.host_id, [Samples("other", 1, batch)])
        return len(recording.statements)

    assert steps.db.write_blocking(record) <= 4
    assert rows["monitor_samples"] == count
    assert rows["monitors"] == 1
    # The samples of a second may belong to two minutes.
    assert rows["monitor_rollups"] in range(8, 17)


def test_a_batch_reads_only_its_own_monitors(steps: MonitorSteps) -> None:
    """The host may have thousands of others."""
    shop, *_ = [steps.make() for _ in range(20)]
    rows: dict[str, int] = {}

    def record(tx: Tx) -> None:
        counting: Any = RowCountingTx(tx, rows)
        batch = Samples("other", 1, [Sample(shop, 1, 0, "normal")])
        samples.record_batches(counting, steps.host_id, [batch])

    steps.db.write_blocking(record)
    assert rows["monitors read"] == 1
    assert steps.state(shop) == "normal"


# On SQLite: the driver of PostgreSQL is Python, too.
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_an_unchanged_result_takes_few_calls(steps: MonitorSteps) -> None:
    """Each result is of another monitor, the most expensive case. It was 80 before."""
    ids = [steps.make() for _ in range(MANY)]
    batch = [Sample(id_, 1, 0, "normal", "success", "ok", {"ms": 1}, {"ms": 1.0}) for id_ in ids]
    steps.send(Samples("other", 1, batch))
    calls = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def record(tx: Tx) -> int:
        sys.setprofile(count)
        try:
            return samples.record_batches(tx, steps.host_id, [Samples("other", 2, batch)])
        finally:
            sys.setprofile(None)

    assert steps.db.write_blocking(record) == MANY
    assert MANY < calls <= 55 * MANY


def test_the_steps_of_many_samples_are_summed() -> None:
    stored = [
        rollups.StoredSample("b", 59_000, "normal", "", {"ms": 3.0}),
        rollups.StoredSample("a", 59_500, "failure", "", {}),
        rollups.StoredSample("b", 61_000, "normal", "", {"ms": 1.0}),
    ]
    aggregates = rollups._aggregate(stored)
    assert aggregates["b", "ms", MINUTE, 0] == (1, 3.0, 3.0, 3.0)
    assert aggregates["b", "ms", MINUTE, MINUTE] == (1, 1.0, 1.0, 1.0)
    assert aggregates["b", "ms", DAY, 0] == (2, 4.0, 1.0, 3.0)
    assert aggregates["b", "up", DAY, 0] == (2, 2.0, 1.0, 1.0)
    assert aggregates["a", "up", DAY, 0] == (1, 0.0, 0.0, 0.0)
    assert len(aggregates) == 4 + 2 * 5
    # The rows of one monitor are written one after the other.
    assert [key[0] for key in aggregates] == ["a"] * 4 + ["b"] * 10


# SQLite has no round trips and runs every row as a statement of its own.
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_monitors_of_a_batch_are_written_with_one_statement(steps: MonitorSteps) -> None:
    ids = [steps.make() for _ in range(20)]
    batch = [Sample(monitor_id, 1, 0, "normal", measured={"ms": 1.0}) for monitor_id in ids]
    texts: list[str] = []
    enqueue = PostgresConnection.enqueue

    def record(self: PostgresConnection, sql: str, params: Sequence[Any] = ()) -> None:
        texts.append(sql)
        enqueue(self, sql, params)

    with mock.patch.object(PostgresConnection, "enqueue", record):
        steps.send(Samples("other", 1, batch))
    assert sum(text.startswith("update monitors") for text in texts) == 1
    assert {steps.state(monitor_id) for monitor_id in ids} == {"normal"}


@pytest.mark.parametrize("state", list(MonitorState))
@pytest.mark.parametrize("outcome", ["normal", "failure", "changed"])
def test_the_rules_are_skipped_only_if_they_change_nothing(
    state: MonitorState, outcome: Outcome
) -> None:
    flip_lists = ("[]", "[1]", "[1,2,3,4,5,6]")
    for fails, is_failing, is_flapping, flips in product((0, 1), (0, 1), (0, 1), flip_lists):
        row = monitor_row(
            state=state,
            fails_count=fails,
            is_failing=is_failing,
            is_flapping=is_flapping,
            flips=flips,
        )
        before = msgspec.structs.astuple(row)
        # After the calm time of a flapping monitor.
        observation = Observation(DAY, outcome)
        is_skipped = samples._changes_nothing(row, observation)
        change = samples.evaluate(row, observation)
        is_unchanged = msgspec.structs.astuple(row) == before and not change.names
        assert is_unchanged or not is_skipped


def test_a_successful_check_of_a_normal_monitor_needs_no_rules() -> None:
    row = monitor_row(state=MonitorState.NORMAL)
    assert samples._changes_nothing(row, Observation(1_000, "normal"))


def test_recording_a_batch_does_not_change_it(steps: MonitorSteps) -> None:
    """The agent in the server's process sends the same objects again if a write fails."""
    processes = steps.make(type="psaux", url=None)
    sample = Sample(processes, 1, 0, "normal", data={"psaux": ["init"], "count": 1})
    with mock.patch.object(observations, "store_process_list") as store:
        steps.send(Samples("other", 1, [sample]))
    assert store.call_args.args[2] == ["init"]
    assert sample.data == {"psaux": ["init"], "count": 1}
    assert '"psaux"' not in steps.show(processes).last_event


def monitor_row(**fields: Any) -> MonitorRow:
    """A row with these fields; texts are empty and numbers are zero."""
    empty = {"maintenance": "[]", "flips": "[]", "config": "{}", "fail_threshold": 3}
    zeros = {name: 0 for name in MonitorRow.__struct_fields__}
    return MonitorRow(**{**zeros, "type": "scraper", **empty, **fields})


class RowCountingTx(RecordingTx):
    """Also counts the rows that are written to each table, and the monitors that are read."""

    def __init__(self, tx: Tx, rows: dict[str, int]) -> None:
        super().__init__(tx)
        self._rows = rows

    def all(self, shape: Any, sql: str, *params: object) -> list[Any]:
        self.statements.append((sql, params))
        records: list[Any] = self._tx.all(shape, sql, *params)
        self._count(f"{sql.split(' from ')[1].split()[0]} read", len(records))
        return records

    def update_many(self, sql: str, params: Any) -> None:
        self._count(sql.split()[1], len(params))
        self._tx.update_many(sql, params)

    def _count(self, name: str, rows: int) -> None:
        self._rows[name] = self._rows.get(name, 0) + rows

    def execute_many(self, sql: str, params: Any) -> None:
        self._count(sql.split()[2], len(params))
        self._tx.execute_many(sql, params)
