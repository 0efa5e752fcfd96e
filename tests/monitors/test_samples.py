"""What agents report, counted once and in order."""

import json
from typing import Any

import msgspec
import pytest

from belvedere.base.clock import MINUTE, iso
from belvedere.monitors import history
from belvedere.monitors.evaluation import rollups
from belvedere.protocol import Sample, Samples
from belvedere.triggers.store import Trigger, attach
from monitors.monitor_steps import Tower


def test_it_works(tower: Tower) -> None:
    shop = tower.make()
    assert (tower.state(shop), tower.show(shop).last_event) == ("unknown", "{}")
    tower.sample(shop, "normal", message="200", data={"status": 200}, measured={"ms": 12.5})
    row = tower.show(shop)
    assert row.state == "normal"
    last = json.loads(row.last_event)
    assert last["state"] == "normal" and last["data"] == {"status": 200}


def test_failure_after_three_misses_and_normal_at_the_first_good_one(tower: Tower) -> None:
    shop = tower.make()
    tower.sample(shop, "normal", "failure", "failure")
    assert tower.state(shop) == "normal" and tower.show(shop).fails_count == 2
    tower.sample(shop, "failure")
    assert tower.state(shop) == "failure"
    tower.sample(shop, "normal")
    assert tower.state(shop) == "normal"
    assert tower.told() == [("failure", shop), ("recovered", shop)]
    assert tower.show(shop).recovery_count == 1


def test_a_monitor_that_never_succeeded_is_down_from_its_first_check_on(tower: Tower) -> None:
    """Its alert still waits for the threshold."""
    shop = tower.make()
    tower.sample(shop, "failure")
    assert (tower.state(shop), tower.told()) == ("failure", [])
    tower.sample(shop, "failure")
    assert (tower.state(shop), tower.told()) == ("failure", [])
    tower.sample(shop, "failure", "failure")
    assert tower.told() == [("failure", shop)]
    tower.sample(shop, "normal")
    assert tower.told() == [("failure", shop), ("recovered", shop)]


def test_a_first_failure_that_was_no_outage_alerts_nobody(tower: Tower) -> None:
    shop = tower.make()
    tower.sample(shop, "failure", "normal", "failure")
    assert (tower.state(shop), tower.told()) == ("normal", [])


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
    tower: Tower, type_: str, fields: dict[str, Any], severity: str
) -> None:
    monitor_id = tower.make(**{"url": None, "type": type_, **fields})
    assert tower.show(monitor_id).severity == severity


def test_the_threshold_is_the_monitors_own(tower: Tower) -> None:
    shop = tower.make(fail_threshold="1")
    tower.sample(shop, "failure")
    assert tower.state(shop) == "failure"


def test_a_batch_that_comes_again_counts_once(tower: Tower) -> None:
    shop = tower.make()
    batch = Samples("s1", 1, [Sample(shop, 1, 0, "failure")])
    assert [tower.send(batch), tower.send(batch), tower.send(batch, batch)] == [1, 0, 0]
    assert tower.show(shop).fails_count == 1
    assert tower.send(Samples("s1", 2, [Sample(shop, 1, 0, "failure")])) == 1
    assert tower.send(Samples("s2", 1, [Sample(shop, 1, 0, "failure")])) == 1
    assert tower.state(shop) == "failure"


def test_samples_of_an_older_configuration_say_nothing(tower: Tower) -> None:
    shop = tower.make(fail_threshold=1)
    tower.sample(shop, "failure")
    tower.edit(shop, url="http://other.test/")
    assert tower.state(shop) == "unknown"
    tower.batch += 1
    assert tower.send(Samples("s1", tower.batch, [Sample(shop, 1, 0, "failure")])) == 0
    assert tower.state(shop) == "unknown"
    tower.sample(shop, "normal")
    assert tower.told() == [("failure", shop), ("recovered", shop)]


def test_the_agent_of_another_host_cannot_report_for_a_monitor(tower: Tower) -> None:
    shop = tower.make()
    other = Tower(tower.db, tower.keys, tower.actors, tower.clock).build("web-2")
    assert other.send(Samples("x", 1, [Sample(shop, 1, 0, "failure")])) == 0
    assert tower.show(shop).fails_count == 0


def test_what_cannot_be_stored_is_left_out(tower: Tower) -> None:
    shop = tower.make()
    tower.sample(
        shop,
        "normal",
        message="a\0b" * 2_000,
        event="\ud800",
        data={"big": "x" * 100_000},
        measured={"up": 7.0, "huge": 1e308, "fine": 1.5},
    )
    last = json.loads(tower.show(shop).last_event)
    assert len(last["message"]) == 1_000 and last["data"] == {}
    found = tower.db.write_blocking(history.history, tower.actors.vic, shop, None, None, 0)
    assert list(found.points[0].values) == ["fine"]


def test_an_event_starts_a_task_with_the_failing_values(tower: Tower) -> None:
    shop = tower.make(fail_threshold=1, headers={"Authorization": "Basic canary"})
    target = Trigger("monitor", shop, "failure", "task", "f" * 24)
    tower.db.write_blocking(attach, tower.actors.acme.id, [target])
    tower.sample(shop, "failure", message="status 500", data={"status": 500})
    tower.sample(shop, "normal")
    (fired,) = tower.fired()
    (argument,) = json.loads(fired.data)["arguments"]
    record = json.loads(argument)
    assert (record["type"], record["monitor_id"], record["hostname"]) == ("scraper", shop, "web-1")
    assert record["event_name"] == "failure" and record["output"]["data"] == {"status": 500}
    assert record["config"]["url"] == "http://shop.test/"
    assert "canary" not in argument


def test_a_changed_file_is_reported_each_time(tower: Tower) -> None:
    file = tower.make(type="file", path="/etc/hosts", name="hosts")
    tower.sample(file, "normal", "changed", "changed")
    assert tower.state(file) == "normal"
    assert tower.told("monitor.changed") == [("changed", file), ("changed", file)]
    assert tower.told("monitor.file:changed") == [("file:changed", file), ("file:changed", file)]


def test_misses_in_maintenance_count_for_nothing(tower: Tower) -> None:
    now = tower.clock()
    window = {"start": iso(now - MINUTE), "end": iso(now + MINUTE)}
    shop = tower.make(fail_threshold=1, maintenance=[window])
    tower.sample(shop, "failure", "failure")
    assert tower.state(shop) == "unknown" and tower.told() == []
    found = tower.db.write_blocking(history.history, tower.actors.vic, shop, None, None, None)
    assert found.uptime is None
    tower.clock.move(120)
    tower.sample(shop, "failure")
    assert tower.state(shop) == "failure"


def test_history_rolls_up(tower: Tower) -> None:
    shop = tower.make(looptime=10_000)
    tower.clock.now = tower.clock() // 3_600_000 * 3_600_000 + 3_600_000
    first = tower.clock()
    for n in range(12):
        tower.sample(shop, "failure" if n == 3 else "normal", measured={"ms": float(n)})
        tower.clock.move(10)

    def show(step: int) -> history.MonitorHistory:
        return tower.db.write_blocking(
            history.history, tower.actors.vic, shop, first, tower.clock(), step
        )

    singles, minutes, hours = show(0), show(MINUTE), show(3_600_000)
    assert len(singles.points) == singles.checks == 12
    assert [(p.checks, p.up) for p in minutes.points] == [(6, pytest.approx(5 / 6)), (6, 1.0)]
    metric = minutes.points[1].values["ms"]
    assert (metric.avg, metric.min, metric.max) == (8.5, 6.0, 11.0)
    assert [p.checks for p in hours.points] == [12]
    assert minutes.uptime == pytest.approx(100 * 11 / 12, abs=1e-3)
    assert minutes.coverage == 100.0


def test_time_without_checks_is_neither_up_nor_down(tower: Tower) -> None:
    shop = tower.make()
    tower.clock.now = tower.clock() // MINUTE * MINUTE + MINUTE
    first = tower.clock()
    for _ in range(5):
        tower.sample(shop, "normal")
        tower.clock.move(60)
    tower.clock.move(300)
    found = tower.db.write_blocking(
        history.history, tower.actors.vic, shop, first, tower.clock(), None
    )
    assert (found.uptime, found.coverage, found.checks) == (100.0, 50.0, 5)
    none = tower.db.write_blocking(
        history.history, tower.actors.vic, shop, first - 600_000, first - 1, None
    )
    assert (none.uptime, none.coverage, none.points) == (None, 0.0, [])


def test_old_samples_go_and_roll_ups_stay_longer(tower: Tower) -> None:
    shop = tower.make()
    tower.sample(shop, "normal", measured={"ms": 1.0})
    tower.clock.move(3 * 24 * 3_600)
    assert tower.db.write_blocking(rollups.purge_old) is False
    left = tower.db.write_blocking(
        lambda tx: tx.rows("select distinct step from monitor_rollups order by step")
    )
    assert [step for (step,) in left] == [600_000, 3_600_000, 86_400_000]
    assert tower.db.write_blocking(lambda tx: tx.rows("select 1 from monitor_samples")) == []


def test_a_flapping_monitor_is_reported_once(tower: Tower) -> None:
    shop = tower.make(fail_threshold=1)
    tower.sample(shop, "normal", *["failure", "normal"] * 10)
    names = [name for name, _ in tower.told()]
    assert names.count("flapping") == 1 and len(names) < 10
    assert msgspec.json.decode(tower.show(shop).flips)
