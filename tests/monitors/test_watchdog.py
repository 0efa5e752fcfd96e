"""What the server sees by itself."""

import pytest

from belvedere.base.errors import NotFound
from belvedere.monitors import housekeeping, service
from belvedere.monitors.evaluation import watchdog
from monitors.monitor_steps import Tower


def test_it_works(tower: Tower) -> None:
    shop = tower.make(looptime=10_000)
    tower.sample(shop, "normal")
    tower.turn(39)
    assert tower.state(shop) == "normal"
    tower.turn(2)
    assert tower.state(shop) == "updates_stopped"
    tower.turn(60)
    tower.sample(shop, "normal")
    assert tower.state(shop) == "normal"
    assert tower.told() == [("updates_stopped", shop), ("updates_started", shop)]


def test_a_host_has_its_own_monitor_and_it_is_normal(tower: Tower) -> None:
    host = tower.host_monitor()
    assert tower.state(host) == "normal" and tower.show(host).name == "web-1"
    tower.connect()
    assert tower.host_monitor() == host


def test_a_dead_host_is_one_alert_and_its_monitors_are_unknown(tower: Tower) -> None:
    monitors = [tower.make(name=f"m{n}") for n in range(5)]
    for monitor in monitors[:4]:
        tower.sample(monitor, "normal")
    tower.sample(monitors[3], "failure", "failure", "failure")
    before = tower.told()
    for _ in range(20):
        tower.turn(20, beats=False)
    assert [tower.state(monitor) for monitor in monitors] == ["unknown"] * 5
    assert tower.told()[len(before) :] == [("updates_stopped", tower.host_monitor())]
    assert tower.state(tower.host_monitor()) == "updates_stopped"


def test_after_a_dead_host_nothing_is_up_or_recovered_without_data(tower: Tower) -> None:
    good, bad = tower.make(name="good"), tower.make(name="bad", fail_threshold=1)
    tower.sample(good, "normal")
    tower.sample(bad, "failure")
    tower.turn(100, beats=False)
    tower.connect()
    assert (tower.state(good), tower.state(bad)) == ("unknown", "unknown")
    tower.turn(10)
    assert (tower.state(good), tower.state(bad)) == ("unknown", "unknown")
    host = tower.host_monitor()
    assert tower.told() == [
        ("failure", bad),
        ("updates_stopped", host),
        ("updates_started", host),
    ]
    tower.sample(bad, "failure")
    assert tower.state(bad) == "failure"
    tower.turn(250)
    assert tower.state(good) == "updates_stopped"
    tower.sample(bad, "normal")
    assert tower.told()[3:] == [
        ("updates_stopped", good),
        ("updates_stopped", bad),
        ("updates_started", bad),
        ("recovered", bad),
    ]


def test_a_short_absence_of_the_agent_is_no_alert(tower: Tower) -> None:
    tower.turn(1)
    tower.leave()
    tower.turn(20, beats=False)
    assert tower.state(tower.host_monitor()) == "normal"
    tower.connect()
    tower.turn(10)
    assert tower.told() == []


def test_an_agent_that_disconnected_and_stays_offline_is_one_alert(tower: Tower) -> None:
    tower.turn(1)
    tower.leave()
    tower.turn(35, beats=False)
    assert tower.told() == [("updates_stopped", tower.host_monitor())]


def test_a_new_monitor_under_a_dead_host_stays_unknown(tower: Tower) -> None:
    tower.turn(100, beats=False)
    shop = tower.make()
    tower.turn(1_000, beats=False)
    assert tower.state(shop) == "unknown"


def test_a_paused_one_is_left_alone_until_its_pause_ends(tower: Tower) -> None:
    shop = tower.make()
    tower.sample(shop, "normal")
    until = tower.clock() + 600_000
    tower.db.write_blocking(service.pause, tower.actors.ada, shop, until)
    assert tower.watch().monitors == []
    tower.turn(590)
    assert tower.state(shop) == "paused"
    tower.turn(20)
    assert tower.state(shop) == "unknown"
    assert [monitor.id for monitor in tower.watch().monitors] == [shop]
    assert tower.told() == [("paused", shop), ("resumed", shop)]


def test_a_mute_ends_by_itself(tower: Tower) -> None:
    shop = tower.make()
    ada = tower.actors.ada
    tower.db.write_blocking(service.mute, ada, shop, False, tower.clock() + 60_000)
    assert tower.show(shop).alerts == 0
    tower.turn(61)
    assert (tower.show(shop).alerts, tower.show(shop).muted_until) == (1, None)


def test_a_nested_one_is_as_good_as_its_members(tower: Tower) -> None:
    a, b = tower.make(name="a", fail_threshold=1), tower.make(name="b", fail_threshold=1)
    both = tower.make(type="nested", name="both", monitors=[a, {"_id": b}])
    tower.turn(5)
    assert tower.state(both) == "unknown"
    tower.sample(a, "normal")
    tower.turn(5)
    assert tower.state(both) == "unknown"
    tower.sample(b, "normal")
    tower.turn(5)
    assert tower.state(both) == "normal"
    tower.sample(b, "failure")
    tower.turn(5)
    assert tower.state(both) == "failure"
    assert "b" in tower.show(both).last_event
    tower.turn(300)
    assert tower.state(both) == "unknown"
    assert [item for item in tower.told() if item[1] == both] == [("failure", both)]


def test_a_turn_with_nothing_to_do_writes_nothing(tower: Tower) -> None:
    tower.turn(5)
    tower.sample(tower.make(), "normal")
    assert tower.db.write_blocking(watchdog.has_work) is False


def test_a_deleted_host_takes_its_monitors_along(tower: Tower) -> None:
    shop = tower.make()
    tower.db.write_blocking(housekeeping.on_host_deleted, tower.host_id)
    with pytest.raises(NotFound):
        tower.show(shop)
    assert tower.watch().monitors == []
