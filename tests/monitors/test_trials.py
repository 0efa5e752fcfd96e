"""Checks that an agent makes once, before a monitor is created."""

from typing import Any

import pytest

from belvedere.access import Actor
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.monitors import agent_config, housekeeping, trial_store, trials
from belvedere.monitors.agent_config import ListPosition
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.evaluation import samples
from belvedere.monitors.trials import TrialRecord
from belvedere.protocol import MonitorConfig, Sample, Samples
from monitors.monitor_steps import MonitorSteps

PAGE = {"type": "scraper", "url": "https://x.test/", "timeout": 60_000}


def start(steps: MonitorSteps, actor: Actor | None = None, **fields: Any) -> TrialRecord:
    body = MonitorBody(**{**PAGE, "host_id": steps.host_id, **fields})
    return steps.db.write_blocking(trials.create, actor or steps.actors.ada, body, None)


def show(steps: MonitorSteps, trial: TrialRecord, actor: Actor | None = None) -> TrialRecord:
    return steps.db.write_blocking(trials.show, actor or steps.actors.ada, trial.id)


def changes_after(steps: MonitorSteps, number: int) -> MonitorConfig | None:
    position = ListPosition(number)
    message = steps.db.write_blocking(
        agent_config.next_message, steps.host_id, position, steps.keys
    )
    return None if message is None else message[0]


def report(steps: MonitorSteps, trial: TrialRecord, number: int = 1, **fields: Any) -> None:
    sample = Sample(trial.id, 1, 0, **{"state": "normal", **fields})
    batch = Samples("trials", number, [sample])
    steps.db.write_blocking(samples.record_batches, steps.host_id, [batch])


@pytest.fixture
def online_host(steps: MonitorSteps) -> MonitorSteps:
    sql = "update hosts set connected_at = 1, gone_at = null where id = ?"
    steps.db.write_blocking(lambda tx: tx.execute(sql, steps.host_id))
    steps.make()
    return steps


def test_a_trial_is_sent_to_the_agent(online_host: MonitorSteps) -> None:
    before = online_host.watch()
    trial = start(online_host)
    assert trial.state == "waiting"
    monitor_config = changes_after(online_host, before.number)
    assert monitor_config is not None
    (check,) = monitor_config.monitors
    assert (check.id, check.type, check.config["url"]) == (trial.id, "scraper", PAGE["url"])
    # A person waits for the result.
    assert check.config["timeout"] == trials.MAX_TIMEOUT
    message = "Status 503 instead of 2xx."
    report(online_host, trial, state="failure", message=message, measured={"ms": 12.0})
    actual_trial = show(online_host, trial)
    assert (actual_trial.state, actual_trial.message, actual_trial.measured) == (
        "failure",
        message,
        {"ms": 12.0},
    )
    # The agent drops the check, and no monitor was created.
    dropped = changes_after(online_host, monitor_config.number)
    assert dropped is not None and dropped.removed == [trial.id]
    assert len(online_host.watch().monitors) == 1
    stored = online_host.db.write_blocking(trial_store.find, online_host.actors.acme.id, trial.id)
    assert stored is not None and stored.config == "{}"


def test_only_the_first_result_of_the_own_host_counts(online_host: MonitorSteps) -> None:
    other = MonitorSteps(
        online_host.db, online_host.keys, online_host.actors, online_host.clock
    ).build("web-2")
    trial = start(online_host)
    report(other, trial, state="failure")
    assert show(online_host, trial).state == "waiting"
    report(online_host, trial)
    report(online_host, trial, number=2, state="failure")
    assert show(online_host, trial).state == "normal"


def test_agents_of_earlier_versions_get_it_with_the_whole_list(online_host: MonitorSteps) -> None:
    trial = start(online_host)
    full_list = online_host.db.write_blocking(
        agent_config.full_list, online_host.host_id, online_host.keys
    )
    assert trial.id in [check.id for check in full_list.monitors]
    report(online_host, trial)
    full_list = online_host.db.write_blocking(
        agent_config.full_list, online_host.host_id, online_host.keys
    )
    assert trial.id not in [check.id for check in full_list.monitors]


def test_private_addresses_are_refused_as_for_stored_monitors(online_host: MonitorSteps) -> None:
    sql = "update customers set inner_checks = 0 where id = ?"
    online_host.db.write_blocking(lambda tx: tx.execute(sql, online_host.actors.acme.id))
    number = online_host.watch().number
    start(online_host, url="http://127.0.0.1:9/")
    monitor_config = changes_after(online_host, number)
    assert monitor_config is not None and monitor_config.monitors[0].config["outer_only"] is True


def test_only_admins_of_the_organization_can_try(online_host: MonitorSteps) -> None:
    trial = start(online_host)
    for actor in (online_host.actors.max, online_host.actors.uma):
        with pytest.raises(Forbidden):
            start(online_host, actor)
        with pytest.raises(Forbidden):
            show(online_host, trial, actor)
    with pytest.raises(NotFound):
        show(online_host, trial, online_host.actors.eve)
    with pytest.raises(Invalid):
        start(online_host, online_host.actors.eve)


def test_a_check_that_cannot_run_is_refused(online_host: MonitorSteps) -> None:
    with pytest.raises(Invalid):
        start(online_host, type="push")
    with pytest.raises(Invalid):
        start(online_host, url="***")
    sql = "update hosts set gone_at = 2 where id = ?"
    online_host.db.write_blocking(lambda tx: tx.execute(sql, online_host.host_id))
    with pytest.raises(Conflict) as refusal:
        start(online_host)
    assert refusal.value.code == "host_offline"


def test_the_number_of_open_trials_is_limited(online_host: MonitorSteps) -> None:
    for _ in range(trials.MAX_OPEN):
        start(online_host)
    with pytest.raises(Conflict) as refusal:
        start(online_host)
    assert refusal.value.code == "too_many_trials"
    online_host.clock.move(trial_store.LIFE / 1_000 + 1)
    trial = start(online_host)
    assert show(online_host, trial).state == "waiting"


def test_a_trial_without_a_result_expires_and_is_purged(online_host: MonitorSteps) -> None:
    trial = start(online_host)
    number = online_host.watch().number
    online_host.clock.move(trial_store.LIFE / 1_000 + 1)
    assert show(online_host, trial).state == "expired"
    report(online_host, trial)
    assert show(online_host, trial).state == "expired"
    online_host.clock.move(trial_store.RETENTION / 1_000)
    online_host.db.write_blocking(housekeeping.purge_trials)
    with pytest.raises(NotFound):
        show(online_host, trial)
    # An agent that still has the check gets the complete list.
    monitor_config = changes_after(online_host, number - 1)
    assert monitor_config is not None and monitor_config.since is None
    assert trial.id not in [check.id for check in monitor_config.monitors]
