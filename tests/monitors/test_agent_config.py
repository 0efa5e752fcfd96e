"""What agents are told to check."""

import base64

import pytest

from belvedere import files
from belvedere.access.customers import service as customers
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.files import service as file_service
from belvedere.files.service import FileChange
from belvedere.monitors import agent_config, service, watch_changes
from monitors.monitor_steps import Tower

FIELDS = {
    "scraper": {"url": "https://x.test/"},
    "dstat": {},
    "process": {"raw_search": "nginx"},
    "file": {"path": "/etc/hosts"},
    "psaux": {},
    "tcp": {"target": "127.0.0.1", "port": "22"},
    "ping": {"target": "gateway"},
    "dns": {"target": "x.test"},
    "tls": {"target": "x.test"},
}


def store(tower: Tower, source: bytes) -> str:
    change = FileChange(filename="look.sh", content=source)
    row = tower.db.write_blocking(files.create, tower.actors.ada, change)
    return row.id


def test_it_works(tower: Tower) -> None:
    shop = tower.make(looptime=5_000)
    watch = tower.watch()
    (one,) = watch.monitors
    assert (one.id, one.type, one.looptime_ms, one.version) == (shop, "scraper", 5_000, 1)
    assert one.config["timeout"] == 10_000
    assert watch.number == 1


@pytest.mark.parametrize("kind", FIELDS)
def test_every_kind_reaches_the_agent_completely(tower: Tower, kind: str) -> None:
    tower.make(**{"type": kind, "name": kind, "url": None, "status_code": None, **FIELDS[kind]})
    (one,) = tower.watch().monitors
    assert one.type == kind
    for name, value in FIELDS[kind].items():
        assert str(one.config[name]) == value


def test_every_change_has_a_higher_number(tower: Tower) -> None:
    numbers = [tower.watch().number]
    shop = tower.make()
    numbers.append(tower.watch().number)
    tower.edit(shop, looptime=2_000)
    numbers.append(tower.watch().number)
    tower.edit(shop, looptime=2_000)
    assert tower.watch().number == numbers[-1]
    tower.db.write_blocking(service.delete, tower.actors.ada, shop)
    numbers.append(tower.watch().number)
    assert numbers == sorted(set(numbers))
    host_id = tower.host_id
    assert tower.db.write_blocking(watch_changes.numbers, [host_id]) == {host_id: numbers[-1]}


def test_a_monitor_that_moves_is_sent_to_both_hosts(tower: Tower) -> None:
    other = Tower(tower.db, tower.keys, tower.actors, tower.clock).build("web-2")
    shop = tower.make()
    tower.sample(shop, "normal")
    before = tower.watch().number
    tower.edit(shop, host_id=other.host_id)
    assert tower.watch().monitors == [] and tower.watch().number > before
    assert [monitor.id for monitor in other.watch().monitors] == [shop]
    assert tower.state(shop) == "unknown"


def test_a_script_travels_with_its_monitor(tower: Tower) -> None:
    script = store(tower, b"#!/bin/sh\necho ok\n")
    tower.make(type="script", name="look", script_id=script, script_runas="sudo %script%")
    (one,) = tower.watch().monitors
    assert base64.b64decode(one.config["source"]) == b"#!/bin/sh\necho ok\n"
    assert (one.config["filename"], one.config["runas"]) == ("look.sh", ["sudo", "%script%"])
    before = tower.watch().number
    change = FileChange(content=b"#!/bin/sh\necho better\n")
    tower.db.write_blocking(file_service.change, tower.actors.ada, script, change)
    tower.db.write_blocking(agent_config.on_file_changed, tower.actors.acme.id, script)
    after = tower.watch()
    assert after.number > before
    assert b"better" in base64.b64decode(after.monitors[0].config["source"])


def test_a_script_that_is_not_there_or_too_long_is_refused(tower: Tower) -> None:
    for script in ("0" * 24, "x", store(tower, b"#" * 300_000)):
        with pytest.raises(Invalid):
            tower.make(type="script", name="look", script_id=script)


def test_checks_of_the_server_itself_are_not_sent(tower: Tower) -> None:
    shop = tower.make()
    tower.make(type="nested", name="all", monitors=[shop])
    tower.make(type="push", name="backup")
    assert [monitor.id for monitor in tower.watch().monitors] == [shop]


def test_a_group_cannot_contain_groups_or_foreign_monitors(tower: Tower) -> None:
    shop = tower.make()
    nested = tower.make(type="nested", name="all", monitors=[shop])
    for members in ([nested], ["0" * 24], []):
        with pytest.raises(Invalid):
            tower.make(type="nested", name="more", monitors=members)


def test_a_script_that_a_monitor_runs_stays(tower: Tower) -> None:
    script = store(tower, b"#!/bin/sh\n")
    monitor = tower.make(type="script", name="look", script_id=script)
    (link,) = tower.db.write_blocking(file_service.list_uses, tower.actors.max, script)
    assert (link.id, link.model) == (monitor, "Monitor")
    with pytest.raises(Conflict, match="look") as refusal:
        tower.db.write_blocking(file_service.delete, tower.actors.ada, script)
    assert refusal.value.code == "file_in_use"
    tower.db.write_blocking(service.delete, tower.actors.ada, monitor)
    tower.db.write_blocking(file_service.delete, tower.actors.ada, script)


def test_an_organization_can_forbid_inner_addresses(tower: Tower) -> None:
    tower.make()
    assert "outer_only" not in tower.watch().monitors[0].config
    before = tower.watch().number
    tower.db.write_blocking(customers.allow_internal_checks, tower.actors.olga, False)
    tower.db.write_blocking(agent_config.on_customer_changed, tower.actors.acme.id)
    assert tower.watch().monitors[0].config["outer_only"] is True
    assert tower.watch().number > before
    tower.db.write_blocking(customers.allow_internal_checks, tower.actors.olga, True)
    assert "outer_only" not in tower.watch().monitors[0].config
    with pytest.raises(Forbidden):
        tower.db.write_blocking(customers.allow_internal_checks, tower.actors.ada, False)
