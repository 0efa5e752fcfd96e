"""The samples of hosts that stay up: the same as any other, for the work of one."""

from typing import Any

import pytest

from belvedere.db import Row, Tx
from belvedere.monitors import housekeeping
from belvedere.monitors.evaluation import host_samples, samples
from belvedere.monitors.evaluation.observations import Observation
from monitors.monitor_steps import MonitorSteps
from statements import RecordingTx

# The search for hosts; the samples, four aggregates and the monitors.
READS, WRITES = 1, 6


class CountingTx(RecordingTx):
    def __init__(self, tx: Tx) -> None:
        super().__init__(tx)
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        self.writes += name in ("execute", "execute_many", "update_many")
        return super().__getattr__(name)


def add_hosts(steps: MonitorSteps, count: int) -> None:
    for number in range(count):
        MonitorSteps(steps.db, steps.keys, steps.actors, steps.clock).build(f"more-{number}")


def hear(tx: Tx) -> None:
    """Heartbeats of all hosts."""
    tx.execute("update hosts set seen_at = ?", tx.now)


def pass_a_minute(steps: MonitorSteps) -> None:
    steps.clock.move(60)
    steps.db.write_blocking(hear)


@pytest.mark.parametrize("hosts", [1, 4])
def test_samples_of_any_number_of_hosts_take_the_same_statements(
    steps: MonitorSteps, hosts: int
) -> None:
    add_hosts(steps, hosts - 1)
    pass_a_minute(steps)

    def record(tx: Tx) -> tuple[int, int]:
        recording: Any = CountingTx(tx)
        assert host_samples.is_due(tx)
        assert host_samples.record(recording, "") is None
        assert not host_samples.is_due(tx)
        return len(recording.statements), recording.writes

    assert steps.db.write_blocking(record) == (READS, WRITES)
    samples_of = steps.db.write_blocking(
        lambda tx: tx.rows("select count(*) from monitor_samples group by monitor_id")
    )
    assert samples_of == [(2,)] * hosts


def test_samples_of_steady_hosts_equal_those_of_other_results(steps: MonitorSteps) -> None:
    """Twice, in the same ten minutes: the first adds the aggregates, the second counts in them."""

    def record_one(tx: Tx) -> None:
        rows = housekeeping._host_monitors(tx, [steps.host_id])[steps.host_id]
        new = [(row, Observation(tx.now, "normal", "host:up")) for row in rows]
        samples.record_observations(tx, new)

    def rows_after(operation: Any) -> list[list[Row]]:
        recorded: list[list[list[Row]]] = []

        def run(tx: Tx) -> None:
            for _ in range(2):
                tx.now += 60_000
                hear(tx)
                operation(tx)
            recorded.append(
                [
                    tx.rows("select at, state, message, measured from monitor_samples order by at"),
                    tx.rows("select * from monitor_rollups order by step, at"),
                    tx.rows("select * from monitors order by id"),
                ]
            )
            raise LookupError("undo")

        with pytest.raises(LookupError):
            steps.db.write_blocking(run)
        return recorded[0]

    together = rows_after(lambda tx: host_samples.record(tx, ""))
    assert together == rows_after(record_one)
    assert len(together[0]) == 3


@pytest.mark.parametrize(
    "change",
    [
        "enabled = 0",
        "state = 'updates_stopped'",
        "fails_count = 1",
        "is_failing = 1",
        "is_flapping = 1",
        "flips = '[1]'",
        """maintenance = '[{"days":["mon"]}]'""",
    ],
)
def test_a_monitor_whose_state_could_change_is_evaluated(steps: MonitorSteps, change: str) -> None:
    pass_a_minute(steps)
    steps.db.write_blocking(lambda tx: tx.execute(f"update monitors set {change}"))
    assert steps.db.write_blocking(host_samples.is_due) is False


@pytest.mark.parametrize("change", ["gone_at = 1", "connected_at = null", "deleted_at = 1"])
def test_a_host_that_is_not_up_gets_no_sample(steps: MonitorSteps, change: str) -> None:
    pass_a_minute(steps)
    steps.db.write_blocking(lambda tx: tx.execute(f"update hosts set {change}"))
    assert steps.db.write_blocking(host_samples.is_due) is False


def test_a_host_that_died_during_an_outage_of_the_server_gets_no_sample(
    steps: MonitorSteps,
) -> None:
    """Nothing ended its session, and after the outage it is not marked as unreachable at once."""
    steps.clock.move(3_600)
    assert steps.db.write_blocking(host_samples.is_due) is False
    steps.db.write_blocking(host_samples.record, "")
    rows = steps.db.write_blocking(lambda tx: tx.rows("select count(*) from monitor_samples"))
    assert rows == [(1,)]
    steps.beat()
    assert steps.db.write_blocking(host_samples.is_due) is True


def test_many_hosts_are_recorded_in_several_transactions(
    steps: MonitorSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_samples, "BATCH_SIZE", 2)
    add_hosts(steps, 3)
    pass_a_minute(steps)
    after, passes = steps.db.write_blocking(host_samples.record, ""), 1
    while after is not None:
        after, passes = steps.db.write_blocking(host_samples.record, after), passes + 1
    assert passes == 3
    assert steps.db.write_blocking(host_samples.is_due) is False
