"""What the server detects without a result."""

import pytest

import run_timeouts
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.monitors import housekeeping, service
from belvedere.monitors.evaluation import watchdog
from monitors.monitor_steps import MonitorSteps
from statements import cost


def test_a_monitor_without_samples_becomes_stale(steps: MonitorSteps) -> None:
    shop = steps.make(looptime=10_000)
    steps.sample(shop, "normal")
    steps.turn(39)
    assert steps.state(shop) == "normal"
    steps.turn(2)
    assert steps.state(shop) == "updates_stopped"
    steps.turn(60)
    steps.sample(shop, "normal")
    assert steps.state(shop) == "normal"
    assert steps.event_list() == [("updates_stopped", shop), ("updates_started", shop)]


def test_a_host_has_its_own_monitor_and_it_is_normal(steps: MonitorSteps) -> None:
    host = steps.host_monitor()
    assert steps.state(host) == "normal" and steps.show(host).name == "web-1"
    steps.connect()
    assert steps.host_monitor() == host


def test_a_dead_host_is_one_alert_and_its_monitors_are_unknown(steps: MonitorSteps) -> None:
    monitors = [steps.make(name=f"m{n}") for n in range(5)]
    for monitor in monitors[:4]:
        steps.sample(monitor, "normal")
    steps.sample(monitors[3], "failure", "failure", "failure")
    before = steps.event_list()
    for _ in range(20):
        steps.turn(20, beats=False)
    assert [steps.state(monitor) for monitor in monitors] == ["unknown"] * 5
    assert steps.event_list()[len(before) :] == [("updates_stopped", steps.host_monitor())]
    assert steps.state(steps.host_monitor()) == "updates_stopped"


def test_a_step_changes_a_bounded_number_of_monitors(
    steps: MonitorSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage of a large network, other writers must not wait for all of its monitors."""
    monkeypatch.setattr(watchdog, "BATCH_SIZE", 2)
    monitors = [steps.make(name=f"m{n}") for n in range(5)]
    for monitor in monitors:
        steps.sample(monitor, "normal")
    steps.clock.move(100)
    run_timeouts.mark_silent(steps.db)
    counts = []
    has_more = True
    while has_more:
        has_more = steps.db.write_blocking(watchdog.run)
        counts.append([steps.state(monitor) for monitor in monitors].count("unknown"))
    assert counts == [2, 4, 5]


def test_after_a_dead_host_nothing_is_up_or_recovered_without_data(steps: MonitorSteps) -> None:
    good, bad = steps.make(name="good"), steps.make(name="bad", fail_threshold=1)
    steps.sample(good, "normal")
    steps.sample(bad, "failure")
    steps.turn(100, beats=False)
    steps.connect()
    assert (steps.state(good), steps.state(bad)) == ("unknown", "unknown")
    steps.turn(10)
    assert (steps.state(good), steps.state(bad)) == ("unknown", "unknown")
    host = steps.host_monitor()
    assert steps.event_list() == [
        ("failure", bad),
        ("updates_stopped", host),
        ("updates_started", host),
    ]
    steps.sample(bad, "failure")
    assert steps.state(bad) == "failure"
    steps.turn(250)
    assert steps.state(good) == "updates_stopped"
    steps.sample(bad, "normal")
    assert steps.event_list()[3:] == [
        ("updates_stopped", good),
        ("updates_stopped", bad),
        ("updates_started", bad),
        ("recovered", bad),
    ]


def test_a_short_absence_of_the_agent_is_no_alert(steps: MonitorSteps) -> None:
    steps.turn(1)
    steps.leave()
    steps.turn(20, beats=False)
    assert steps.state(steps.host_monitor()) == "normal"
    steps.connect()
    steps.turn(10)
    assert steps.event_list() == []


def test_after_an_outage_of_the_server_nothing_is_known_of_a_host_until_it_is_seen(
    steps: MonitorSteps,
) -> None:
    """Its row still says connected. Results that the server could not receive are not missing."""
    shop = steps.make()
    steps.sample(shop, "failure", "failure", "failure")
    steps.db.write_blocking(
        lambda tx: tx.execute("update monitors set flips = '[1]' where type = 'host'")
    )
    before, last_event = steps.event_list(), steps.show(steps.host_monitor()).last_event
    steps.clock.move(3_600)
    assert steps.db.write_blocking(watchdog.has_work) is False
    steps.db.write_blocking(watchdog.run)
    assert (steps.event_list(), steps.show(steps.host_monitor()).last_event) == (before, last_event)
    steps.turn(1)
    assert steps.event_list()[len(before) :] == [("updates_stopped", shop)]


def test_an_agent_that_disconnected_and_stays_offline_is_one_alert(steps: MonitorSteps) -> None:
    steps.turn(1)
    steps.leave()
    steps.turn(35, beats=False)
    assert steps.event_list() == [("updates_stopped", steps.host_monitor())]


def test_a_new_monitor_under_a_dead_host_stays_unknown(steps: MonitorSteps) -> None:
    steps.turn(100, beats=False)
    shop = steps.make()
    steps.turn(1_000, beats=False)
    assert steps.state(shop) == "unknown"


def test_a_paused_monitor_is_ignored_until_its_pause_ends(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.sample(shop, "normal")
    until = steps.clock() + 600_000
    steps.db.write_blocking(service.pause, steps.actors.ada, shop, until)
    assert steps.watch().monitors == []
    steps.turn(590)
    assert steps.state(shop) == "paused"
    steps.turn(20)
    assert steps.state(shop) == "unknown"
    assert [monitor.id for monitor in steps.watch().monitors] == [shop]
    assert steps.event_list() == [("paused", shop), ("resumed", shop)]


def test_a_mute_ends_by_itself(steps: MonitorSteps) -> None:
    shop = steps.make()
    ada = steps.actors.ada
    steps.db.write_blocking(service.mute, ada, shop, False, steps.clock() + 60_000)
    assert steps.show(shop).alerts == 0
    steps.turn(61)
    assert (steps.show(shop).alerts, steps.show(shop).muted_until) == (1, None)


def test_a_nested_monitor_has_the_worst_state_of_its_members(steps: MonitorSteps) -> None:
    a, b = steps.make(name="a", fail_threshold=1), steps.make(name="b", fail_threshold=1)
    both = steps.make(type="nested", name="both", monitors=[a, {"_id": b}])
    steps.turn(5)
    assert steps.state(both) == "unknown"
    steps.sample(a, "normal")
    steps.turn(5)
    assert steps.state(both) == "unknown"
    steps.sample(b, "normal")
    steps.turn(5)
    assert steps.state(both) == "normal"
    steps.sample(b, "failure")
    steps.turn(5)
    assert steps.state(both) == "failure"
    assert "b" in steps.show(both).last_event
    steps.turn(300)
    assert steps.state(both) == "unknown"
    assert [item for item in steps.event_list() if item[1] == both] == [("failure", both)]


def test_a_pass_without_work_writes_nothing(steps: MonitorSteps) -> None:
    steps.turn(5)
    steps.sample(steps.make(), "normal")
    assert steps.db.write_blocking(watchdog.has_work) is False


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("condition", [watchdog._HOST_DOWN, watchdog._UNDER_DEAD_HOST])
def test_the_search_for_hosts_that_are_down_does_not_read_those_that_are_up(
    steps: MonitorSteps, condition: str
) -> None:
    """It runs every few seconds, and thousands of hosts are up."""
    sql = f"select 1 from monitors where deleted_at is null and ({condition}) limit 1"
    params = ("updates_stopped", 0, 0)[-condition.count("?") :]

    def cost_of_search(tx: Tx) -> int:
        return cost(tx, (sql, params))

    steps.make()
    before = steps.db.write_blocking(cost_of_search)
    for number in range(5):
        more = MonitorSteps(steps.db, steps.keys, steps.actors, steps.clock).build(f"more-{number}")
        more.make()
    assert steps.db.write_blocking(cost_of_search) == before


def test_a_host_is_deleted_with_its_monitors(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.db.write_blocking(housekeeping.on_host_deleted, steps.host_id)
    with pytest.raises(NotFound):
        steps.show(shop)
    assert steps.watch().monitors == []
