"""The configuration that agents get."""

import base64

import pytest

from belvedere import files
from belvedere.access.customers import service as customers
from belvedere.base.errors import Conflict, Forbidden, Invalid
from belvedere.files import service as file_service
from belvedere.files.service import FileChange
from belvedere.monitors import agent_config, service, watch_changes
from belvedere.monitors.config.kinds import MONITOR_KINDS
from monitors.monitor_steps import MonitorSteps

# Values of fields that some kinds require.
REQUIRED = {
    "url": "https://x.test/",
    "raw_search": "nginx",
    "path": "/etc/hosts",
    "target": "x.test",
    "port": "22",
}
FIELDS = {
    kind.value: {name: REQUIRED[name] for name in REQUIRED if name in config.__struct_fields__}
    for kind, (config, _) in MONITOR_KINDS.items()
    if kind.is_run_by_agent and kind != "script"
}


def store(steps: MonitorSteps, source: bytes) -> str:
    change = FileChange(filename="look.sh", content=source)
    row = steps.db.write_blocking(files.create, steps.actors.ada, change)
    return row.id


def test_a_monitor_is_sent_with_its_configuration(steps: MonitorSteps) -> None:
    shop = steps.make(looptime=5_000)
    watch = steps.watch()
    (monitor,) = watch.monitors
    assert (monitor.id, monitor.type, monitor.looptime_ms, monitor.version) == (
        shop,
        "scraper",
        5_000,
        1,
    )
    assert monitor.config["timeout"] == 10_000
    assert watch.number == 1


@pytest.mark.parametrize("kind", FIELDS)
def test_every_kind_reaches_the_agent_completely(steps: MonitorSteps, kind: str) -> None:
    steps.make(**{"type": kind, "name": kind, "url": None, "status_code": None, **FIELDS[kind]})
    (monitor,) = steps.watch().monitors
    assert monitor.type == kind
    for name, value in FIELDS[kind].items():
        assert str(monitor.config[name]) == value


def test_every_change_has_a_higher_number(steps: MonitorSteps) -> None:
    numbers = [steps.watch().number]
    shop = steps.make()
    numbers.append(steps.watch().number)
    steps.edit(shop, looptime=2_000)
    numbers.append(steps.watch().number)
    steps.edit(shop, looptime=2_000)
    assert steps.watch().number == numbers[-1]
    steps.db.write_blocking(service.delete, steps.actors.ada, shop)
    numbers.append(steps.watch().number)
    assert numbers == sorted(set(numbers))
    host_id = steps.host_id
    assert steps.db.write_blocking(watch_changes.numbers, [host_id]) == {host_id: numbers[-1]}


def test_a_monitor_that_moves_is_sent_to_both_hosts(steps: MonitorSteps) -> None:
    other = MonitorSteps(steps.db, steps.keys, steps.actors, steps.clock).build("web-2")
    shop = steps.make()
    steps.sample(shop, "normal")
    before = steps.watch().number
    steps.edit(shop, host_id=other.host_id)
    assert steps.watch().monitors == [] and steps.watch().number > before
    assert [monitor.id for monitor in other.watch().monitors] == [shop]
    assert steps.state(shop) == "unknown"


def test_a_script_travels_with_its_monitor(steps: MonitorSteps) -> None:
    script = store(steps, b"#!/bin/sh\necho ok\n")
    steps.make(type="script", name="look", script_id=script, script_runas="sudo %script%")
    (monitor,) = steps.watch().monitors
    assert base64.b64decode(monitor.config["source"]) == b"#!/bin/sh\necho ok\n"
    assert (monitor.config["filename"], monitor.config["runas"]) == (
        "look.sh",
        ["sudo", "%script%"],
    )
    before = steps.watch().number
    change = FileChange(content=b"#!/bin/sh\necho better\n")
    steps.db.write_blocking(file_service.change, steps.actors.ada, script, change)
    steps.db.write_blocking(agent_config.on_file_changed, steps.actors.acme.id, script)
    after = steps.watch()
    assert after.number > before
    assert b"better" in base64.b64decode(after.monitors[0].config["source"])


def test_a_missing_or_too_long_script_is_refused(steps: MonitorSteps) -> None:
    for script in ("0" * 24, "x", store(steps, b"#" * 300_000)):
        with pytest.raises(Invalid):
            steps.make(type="script", name="look", script_id=script)


def test_checks_of_the_server_itself_are_not_sent(steps: MonitorSteps) -> None:
    shop = steps.make()
    steps.make(type="nested", name="all", monitors=[shop])
    steps.make(type="push", name="backup")
    assert [monitor.id for monitor in steps.watch().monitors] == [shop]


def test_a_group_cannot_contain_groups_or_foreign_monitors(steps: MonitorSteps) -> None:
    shop = steps.make()
    nested = steps.make(type="nested", name="all", monitors=[shop])
    for members in ([nested], ["0" * 24], []):
        with pytest.raises(Invalid):
            steps.make(type="nested", name="more", monitors=members)


def test_a_script_that_a_monitor_runs_stays(steps: MonitorSteps) -> None:
    script = store(steps, b"#!/bin/sh\n")
    monitor = steps.make(type="script", name="look", script_id=script)
    (link,) = steps.db.write_blocking(file_service.list_uses, steps.actors.max, script)
    assert (link.id, link.model) == (monitor, "Monitor")
    with pytest.raises(Conflict, match="look") as refusal:
        steps.db.write_blocking(file_service.delete, steps.actors.ada, script)
    assert refusal.value.code == "file_in_use"
    steps.db.write_blocking(service.delete, steps.actors.ada, monitor)
    steps.db.write_blocking(file_service.delete, steps.actors.ada, script)


def test_an_organization_can_forbid_inner_addresses(steps: MonitorSteps) -> None:
    steps.make()
    assert "outer_only" not in steps.watch().monitors[0].config
    before = steps.watch().number
    steps.db.write_blocking(customers.allow_internal_checks, steps.actors.olga, False)
    steps.db.write_blocking(agent_config.on_customer_changed, steps.actors.acme.id)
    assert steps.watch().monitors[0].config["outer_only"] is True
    assert steps.watch().number > before
    steps.db.write_blocking(customers.allow_internal_checks, steps.actors.olga, True)
    assert "outer_only" not in steps.watch().monitors[0].config
    with pytest.raises(Forbidden):
        steps.db.write_blocking(customers.allow_internal_checks, steps.actors.ada, False)
