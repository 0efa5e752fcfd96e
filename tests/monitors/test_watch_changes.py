"""Differences of the lists that agents have: what they cost, and that they lead to the list."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belvedere import files
from belvedere.agent.monitoring.monitor_list import MonitorList
from belvedere.base.clock import DAY
from belvedere.db import Tx
from belvedere.files import service as file_service
from belvedere.files.service import FileChange
from belvedere.monitors import agent_config, housekeeping, service, store, watch_changes
from belvedere.monitors.agent_config import ListPosition
from belvedere.monitors.config import new_rows
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.model import MonitorType
from belvedere.protocol import MonitorCheck, MonitorConfig
from monitors.monitor_steps import MonitorSteps
from monitors.work import rows_read

TCP = {"type": "tcp", "url": None, "status_code": None, "target": "127.0.0.1", "port": "22"}


def read_changes(steps: MonitorSteps, at: ListPosition) -> tuple[list[MonitorConfig], ListPosition]:
    """Everything that is sent to an agent at this position."""
    items = []
    while news := steps.db.write_blocking(agent_config.next_message, steps.host_id, at, steps.keys):
        watch, at = news
        items.append(watch)
    return items, at


def fill(steps: MonitorSteps, count: int) -> None:
    def add(tx: Tx) -> None:
        for _ in range(count):
            row = new_rows.new_row(
                steps.actors.acme.id, MonitorType.TCP, steps.host_id, steps.clock()
            )
            row.config = '{"target": "127.0.0.1", "port": 22, "timeout": 1000}'
            store.insert(tx, row)
            watch_changes.record(tx, steps.host_id, row.id)

    steps.db.write_blocking(add)


def test_only_changes_are_sent(steps: MonitorSteps) -> None:
    shop, blog = steps.make(), steps.make(name="blog")
    (first,), at = read_changes(steps, ListPosition())
    assert (first.since, {monitor.id for monitor in first.monitors}) == (None, {shop, blog})
    assert read_changes(steps, at) == ([], at)
    steps.edit(shop, looptime=5_000)
    steps.db.write_blocking(service.delete, steps.actors.ada, blog)
    new = steps.make(name="new")
    (second,), at = read_changes(steps, at)
    assert (second.since, second.removed) == (first.number, [blog])
    assert {monitor.id for monitor in second.monitors} == {shop, new}
    assert read_changes(steps, at) == ([], at)


def test_a_pause_and_a_move_are_differences(steps: MonitorSteps) -> None:
    other = MonitorSteps(steps.db, steps.keys, steps.actors, steps.clock).build("web-2")
    shop, blog = steps.make(), steps.make(name="blog")
    _, at = read_changes(steps, ListPosition())
    steps.db.write_blocking(service.pause, steps.actors.ada, shop, None)
    steps.edit(blog, host_id=other.host_id)
    (monitor_config,), at = read_changes(steps, at)
    assert (set(monitor_config.removed), monitor_config.monitors) == ({shop, blog}, [])
    steps.db.write_blocking(service.resume, steps.actors.ada, shop)
    (monitor_config,), at = read_changes(steps, at)
    assert [monitor.id for monitor in monitor_config.monitors] == [shop]


def test_another_script_or_secret_is_a_difference(steps: MonitorSteps) -> None:
    change = FileChange(filename="look.sh", content=b"#!/bin/sh\n")
    script = steps.db.write_blocking(files.create, steps.actors.ada, change).id
    look = steps.make(type="script", name="look", script_id=script, url=None, status_code=None)
    secret = steps.make(name="with a secret", headers={"X-Token": "{{secret:TOKEN}}"})
    steps.make(name="other")
    _, at = read_changes(steps, ListPosition())
    better = FileChange(content=b"#!/bin/sh\necho better\n")
    steps.db.write_blocking(file_service.change, steps.actors.ada, script, better)
    steps.db.write_blocking(agent_config.on_file_changed, steps.actors.acme.id, script)
    (monitor_config,), at = read_changes(steps, at)
    assert [monitor.id for monitor in monitor_config.monitors] == [look]
    steps.db.write_blocking(agent_config.on_secret_changed, steps.actors.acme.id)
    (monitor_config,), at = read_changes(steps, at)
    assert [monitor.id for monitor in monitor_config.monitors] == [secret]


def test_messages_are_bounded(steps: MonitorSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(steps, 250)
    parts, at = read_changes(steps, ListPosition())
    assert [(part.part, part.more) for part in parts] == [(0, True), (1, True), (2, False)]
    # The host's own monitor is in the list and has no check.
    assert sum(len(part.monitors) for part in parts) == 250
    assert max(len(part.monitors) for part in parts) <= 100
    fill(steps, 250)
    monitor_configs, after = read_changes(steps, at)
    assert [len(watch.monitors) for watch in monitor_configs] == [100, 100, 50]
    assert [watch.since for watch in monitor_configs] == [
        at.number,
        monitor_configs[0].number,
        monitor_configs[1].number,
    ]
    monkeypatch.setattr(agent_config, "MAX_BYTES", 1_000)
    small, last = read_changes(steps, at)
    assert max(len(watch.monitors) for watch in small) < 20
    assert (sum(len(watch.monitors) for watch in small), last) == (250, after)
    lists, _ = read_changes(steps, ListPosition())
    assert sum(len(watch.monitors) for watch in lists) == 500
    assert [watch.part for watch in lists] == list(range(len(lists)))


def test_the_cost_of_a_new_monitor_does_not_grow_with_the_list(steps: MonitorSteps) -> None:
    def cost() -> tuple[int, int, int]:
        at = read_changes(steps, ListPosition())[1]
        body = MonitorBody(type="tcp", name="new", target="127.0.0.1", port=22)
        ada, host = steps.actors.ada, steps.host_id
        create = rows_read(steps.db, service.create, steps.keys, ada, body, host)
        read = rows_read(steps.db, agent_config.next_message, host, at, steps.keys)
        (monitor_config,), _ = read_changes(steps, at)
        return create, read, len(monitor_config.monitors)

    fill(steps, 10)
    cost()
    few = cost()
    fill(steps, 990)
    many = cost()
    assert few[2] == many[2] == 1
    # An index with more rows may be one level deeper.
    assert many[0] <= few[0] + 5 and many[1] <= few[1] + 5, (few, many)


def test_a_server_of_the_previous_version_may_change_the_list_too(steps: MonitorSteps) -> None:
    """It increments the number and records nothing."""
    old = "update watches set number = number + 1 where host_id = ?"
    shop = steps.make()
    _, at = read_changes(steps, ListPosition())
    steps.db.write_blocking(lambda tx: tx.execute(old, steps.host_id))
    (monitor_config,), at = read_changes(steps, at)
    assert monitor_config.since is None
    steps.db.write_blocking(lambda tx: tx.execute(old, steps.host_id))
    steps.edit(shop, looptime=5_000)
    (monitor_config,), at = read_changes(steps, at)
    assert monitor_config.since is None
    steps.edit(shop, looptime=6_000)
    (monitor_config,), at = read_changes(steps, at)
    assert monitor_config.since is not None


def test_changes_of_purged_monitors_are_forgotten(steps: MonitorSteps) -> None:
    shop = steps.make()
    _, at = read_changes(steps, ListPosition())
    steps.db.write_blocking(service.delete, steps.actors.ada, shop)
    steps.clock.move((housekeeping.DELETED_RETENTION + DAY) / 1_000)
    steps.db.write_blocking(housekeeping.purge)
    count = "select count(*) from watch_changes where monitor_id = ?"
    assert steps.db.write_blocking(lambda tx: tx.value(count, shop)) == 0
    # An agent that got no message since then gets the whole list.
    (monitor_config,), _ = read_changes(steps, at)
    assert (monitor_config.since, monitor_config.monitors) == (None, [])


class Agent:
    """What an agent checks if its connections lose, repeat and swap messages."""

    def __init__(self, steps: MonitorSteps, dice: random.Random) -> None:
        self._tower, self._dice = steps, dice
        self.checks: dict[str, MonitorCheck] = {}
        self.connect()

    def connect(self) -> None:
        self.at, self.list, self._wire = (
            ListPosition(),
            MonitorList(self, self._request),
            list[MonitorConfig](),
        )

    def _request(self, number: int) -> None:
        self.at = ListPosition()

    def configure(self, monitors: Sequence[MonitorCheck]) -> None:
        self.checks = {monitor.id: monitor for monitor in monitors}

    def change(self, monitors: Sequence[MonitorCheck], removed: Sequence[str]) -> None:
        for monitor_id in removed:
            self.checks.pop(monitor_id, None)
        self.checks.update({monitor.id: monitor for monitor in monitors})

    def follow(self, *, losing: bool) -> None:
        monitor_configs, self.at = read_changes(self._tower, self.at)
        if losing:
            monitor_configs = [
                watch
                for watch in monitor_configs
                for _ in range(self._dice.choice([0, 0, 1, 1, 1, 2]))
            ]
            if self._dice.random() < 0.3:
                self._dice.shuffle(monitor_configs)
        for watch in monitor_configs:
            self.list.take(watch)


STEPS = ["make", "edit", "delete", "pause", "resume", "all", "follow", "lose", "lose", "reconnect"]


def take_step(
    steps: MonitorSteps, agent: Agent, dice: random.Random, step: str, ids: list[str]
) -> None:
    text, ada, write = dice.choice(ids), steps.actors.ada, steps.db.write_blocking
    match step:
        case "make":
            ids.append(steps.make(**{**TCP, "name": f"m{dice.random()}"}))
        case "edit":
            steps.edit(text, looptime=dice.randrange(5_000, 500_000))
        case "delete" if len(ids) > 1:
            write(service.delete, ada, text)
            ids.remove(text)
        case "pause":
            write(service.pause, ada, text, None)
        case "resume":
            write(service.resume, ada, text)
        case "all":
            write(watch_changes.record_all, steps.host_id)
        case "follow" | "lose":
            agent.follow(losing=step == "lose")
        case "reconnect":
            agent.connect()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), names=st.lists(st.sampled_from(STEPS), max_size=40))
def test_the_agent_ends_with_the_server_s_list(
    steps: MonitorSteps, seed: int, names: list[str]
) -> None:
    dice = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        # Several messages for few changes.
        patch.setattr(agent_config, "MAX_MONITORS", 3)
        ids = [steps.make(**{**TCP, "name": "first"})]
        agent = Agent(steps, dice)
        for step in names:
            take_step(steps, agent, dice, step, ids)
        # The last message may be lost. One more change shows that, or two heartbeats
        # (test_monitor_lists.py).
        steps.edit(ids[0], looptime=5_000 + dice.randrange(1_000_000))
        agent.follow(losing=False)
        agent.follow(losing=False)
        assert agent.list.number == steps.watch().number
        assert agent.checks == {item.id: item for item in steps.watch().monitors}
        for item in ids:
            steps.db.write_blocking(service.delete, steps.actors.ada, item)
