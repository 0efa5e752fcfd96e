"""Samples of agents, counted once and in order."""

import json
from typing import Any

import msgspec
import pytest

from belvedere.base.clock import MINUTE, iso
from belvedere.monitors import history
from belvedere.monitors.evaluation import rollups
from belvedere.protocol import Sample, Samples
from belvedere.triggers.store import Trigger, attach
from monitors.monitor_steps import MonitorSteps


def test_a_sample_sets_the_state(steps: MonitorSteps) -> None:
    shop = steps.make()
    assert (steps.state(shop), steps.show(shop).last_event) == ("unknown", "{}")
    steps.sample(shop, "normal", message="200", data={"status": 200}, measured={"ms": 12.5})
    row = steps.show(shop)
    assert row.state == "normal"
    last = json.loads(row.last_event)
    assert last["state"] == "normal" and last["data"] == {"status": 200}


def test_three_failed_checks_are_a_failure_and_one_success_ends_it(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.sample(shop, "normal", "failure", "failure")
    assert steps.state(shop) == "normal" and steps.show(shop).fails_count == 2
    steps.sample(shop, "failure")
    assert steps.state(shop) == "failure"
    steps.sample(shop, "normal")
    assert steps.state(shop) == "normal"
    assert steps.event_list() == [("failure", shop), ("recovered", shop)]
    assert steps.show(shop).recovery_count == 1


def test_a_monitor_that_never_succeeded_is_down_from_its_first_check_on(
    steps: MonitorSteps,
) -> None:
    """Its alert still waits for the threshold."""
    shop = steps.make()
    steps.sample(shop, "failure")
    assert (steps.state(shop), steps.event_list()) == ("failure", [])
    steps.sample(shop, "failure")
    assert (steps.state(shop), steps.event_list()) == ("failure", [])
    steps.sample(shop, "failure", "failure")
    assert steps.event_list() == [("failure", shop)]
    steps.sample(shop, "normal")
    assert steps.event_list() == [("failure", shop), ("recovered", shop)]


@pytest.mark.parametrize("checks", [(), ("normal",), ("failure",)])
def test_a_resumed_monitor_is_down_from_its_first_failed_check_on(
    steps: MonitorSteps, checks: tuple[str, ...]
) -> None:
    """Also if it was paused before its first check. The alert waits for the threshold."""
    shop = steps.make()
    steps.sample(shop, *checks)
    steps.clock.move(5)
    steps.edit(shop, enable=False)
    steps.edit(shop, enable=True)
    assert steps.state(shop) == "unknown"
    steps.sample(shop, "failure")
    assert (steps.state(shop), steps.event_list("monitor.failure")) == ("failure", [])
    steps.sample(shop, "failure", "failure")
    assert steps.event_list("monitor.failure") == [("failure", shop)]


def test_a_monitor_without_results_is_down_from_its_first_failed_check_on(
    steps: MonitorSteps,
) -> None:
    shop = steps.make()
    steps.sample(shop, "normal")
    steps.turn(600)
    assert steps.state(shop) == "updates_stopped"
    steps.sample(shop, "failure")
    assert steps.state(shop) == "failure"


def test_a_first_failure_that_was_no_outage_sends_no_alert(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.sample(shop, "failure", "normal", "failure")
    assert (steps.state(shop), steps.event_list()) == ("normal", [])


@pytest.mark.parametrize(
    ("type_", "fields", "severity"),
    [
        ("scraper", {"url": "http://shop.test/"}, "HIGH"),
        ("tcp", {"config": {"target": "shop.test", "port": 443}}, "HIGH"),
        ("ping", {"config": {"target": "shop.test"}}, "HIGH"),
        ("dns", {"config": {"target": "shop.test"}}, "HIGH"),
        ("tls", {"config": {"target": "shop.test"}}, "HIGH"),
        ("file", {"config": {"path": "/etc/hosts"}}, "LOW"),
        ("process", {"config": {"raw_search": "nginx"}}, "LOW"),
        ("push", {}, "LOW"),
    ],
)
def test_a_service_that_is_down_is_severe_by_default(
    steps: MonitorSteps, type_: str, fields: dict[str, Any], severity: str
) -> None:
    monitor_id = steps.make(**{"url": None, "type": type_, **fields})
    assert steps.show(monitor_id).severity == severity


def test_the_threshold_is_the_monitors_own(steps: MonitorSteps) -> None:
    shop = steps.make(fail_threshold="1")
    steps.sample(shop, "failure")
    assert steps.state(shop) == "failure"


def test_a_batch_that_comes_again_counts_once(steps: MonitorSteps) -> None:
    shop = steps.make()
    batch = Samples("s1", 1, [Sample(shop, 1, 0, "failure")])
    assert [steps.send(batch), steps.send(batch), steps.send(batch, batch)] == [1, 0, 0]
    assert steps.show(shop).fails_count == 1
    assert steps.send(Samples("s1", 2, [Sample(shop, 1, 0, "failure")])) == 1
    assert steps.send(Samples("s2", 1, [Sample(shop, 1, 0, "failure")])) == 1
    assert steps.state(shop) == "failure"


def test_samples_of_an_older_configuration_say_nothing(steps: MonitorSteps) -> None:
    shop = steps.make(fail_threshold=1)
    steps.sample(shop, "failure")
    steps.edit(shop, url="http://other.test/")
    assert steps.state(shop) == "unknown"
    steps.batch += 1
    assert steps.send(Samples("s1", steps.batch, [Sample(shop, 1, 0, "failure")])) == 0
    assert steps.state(shop) == "unknown"
    steps.sample(shop, "normal")
    assert steps.event_list() == [("failure", shop), ("recovered", shop)]


def test_the_agent_of_another_host_cannot_report_for_a_monitor(steps: MonitorSteps) -> None:
    shop = steps.make()
    other = MonitorSteps(steps.db, steps.keys, steps.actors, steps.clock).build("web-2")
    assert other.send(Samples("x", 1, [Sample(shop, 1, 0, "failure")])) == 0
    assert steps.show(shop).fails_count == 0


def test_text_that_cannot_be_stored_is_cleaned(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.sample(
        shop,
        "normal",
        message="a\0b" * 2_000,
        event="\ud800",
        data={"big": "x" * 100_000},
        measured={"up": 7.0, "huge": 1e308, "fine": 1.5},
    )
    last = json.loads(steps.show(shop).last_event)
    assert len(last["message"]) == 1_000 and last["data"] == {}
    monitor_history = steps.db.write_blocking(
        history.history, steps.actors.vic, shop, None, None, 0
    )
    assert list(monitor_history.points[0].values) == ["fine"]


def test_an_event_starts_a_task_with_the_failing_values(steps: MonitorSteps) -> None:
    shop = steps.make(fail_threshold=1, headers={"Authorization": "Basic canary"})
    target = Trigger("monitor", shop, "failure", "task", "f" * 24)
    steps.db.write_blocking(attach, steps.actors.acme.id, [target])
    steps.sample(shop, "failure", message="status 500", data={"status": 500})
    steps.sample(shop, "normal")
    (fired,) = steps.list_events()
    (argument,) = json.loads(fired.data)["arguments"]
    record = json.loads(argument)
    assert (record["type"], record["monitor_id"], record["hostname"]) == ("scraper", shop, "web-1")
    assert record["event_name"] == "failure" and record["output"]["data"] == {"status": 500}
    assert record["config"]["url"] == "http://shop.test/"
    assert "canary" not in argument


def test_a_changed_file_is_reported_each_time(steps: MonitorSteps) -> None:
    file = steps.make(type="file", path="/etc/hosts", name="hosts")
    steps.sample(file, "normal", "changed", "changed")
    assert steps.state(file) == "normal"
    assert steps.event_list("monitor.changed") == [("changed", file), ("changed", file)]
    assert steps.event_list("monitor.file:changed") == [
        ("file:changed", file),
        ("file:changed", file),
    ]


def test_misses_in_maintenance_count_for_nothing(steps: MonitorSteps) -> None:
    now = steps.clock()
    window = {"start": iso(now - MINUTE), "end": iso(now + MINUTE)}
    shop = steps.make(fail_threshold=1, maintenance=[window])
    steps.sample(shop, "failure", "failure")
    assert steps.state(shop) == "unknown" and steps.event_list() == []
    monitor_history = steps.db.write_blocking(
        history.history, steps.actors.vic, shop, None, None, None
    )
    assert monitor_history.uptime is None
    steps.clock.move(120)
    steps.sample(shop, "failure")
    assert steps.state(shop) == "failure"


def test_history_rolls_up(steps: MonitorSteps) -> None:
    shop = steps.make(looptime=10_000)
    steps.clock.now = steps.clock() // 3_600_000 * 3_600_000 + 3_600_000
    first = steps.clock()
    for n in range(12):
        steps.sample(shop, "failure" if n == 3 else "normal", measured={"ms": float(n)})
        steps.clock.move(10)

    def show(step: int) -> history.MonitorHistory:
        return steps.db.write_blocking(
            history.history, steps.actors.vic, shop, first, steps.clock(), step
        )

    singles, minutes, hours = show(0), show(MINUTE), show(3_600_000)
    assert len(singles.points) == singles.checks == 12
    assert [(p.checks, p.up) for p in minutes.points] == [(6, pytest.approx(5 / 6)), (6, 1.0)]
    metric = minutes.points[1].values["ms"]
    assert (metric.avg, metric.min, metric.max) == (8.5, 6.0, 11.0)
    assert [p.checks for p in hours.points] == [12]
    assert minutes.uptime == pytest.approx(100 * 11 / 12, abs=1e-3)
    assert minutes.coverage == 100.0


def test_time_without_checks_is_neither_up_nor_down(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.clock.now = steps.clock() // MINUTE * MINUTE + MINUTE
    first = steps.clock()
    for _ in range(5):
        steps.sample(shop, "normal")
        steps.clock.move(60)
    steps.clock.move(300)
    monitor_history = steps.db.write_blocking(
        history.history, steps.actors.vic, shop, first, steps.clock(), None
    )
    assert (monitor_history.uptime, monitor_history.coverage, monitor_history.checks) == (
        100.0,
        50.0,
        5,
    )
    none = steps.db.write_blocking(
        history.history, steps.actors.vic, shop, first - 600_000, first - 1, None
    )
    assert (none.uptime, none.coverage, none.points) == (None, 0.0, [])


def test_old_samples_go_and_roll_ups_stay_longer(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.sample(shop, "normal", measured={"ms": 1.0})
    steps.clock.move(3 * 24 * 3_600)
    assert steps.db.write_blocking(rollups.purge_old) is False
    remaining = steps.db.write_blocking(
        lambda tx: tx.rows("select distinct step from monitor_rollups order by step")
    )
    assert [step for (step,) in remaining] == [600_000, 3_600_000, 86_400_000]
    assert steps.db.write_blocking(lambda tx: tx.rows("select 1 from monitor_samples")) == []


def test_a_flapping_monitor_is_reported_once(steps: MonitorSteps) -> None:
    shop = steps.make(fail_threshold=1)
    steps.sample(shop, "normal", *["failure", "normal"] * 10)
    names = [name for name, _ in steps.event_list()]
    assert names.count("flapping") == 1 and len(names) < 10
    assert msgspec.json.decode(steps.show(shop).flips)
