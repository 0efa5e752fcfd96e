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
from monitors.monitor_steps import Tower

PAGE = {"type": "scraper", "url": "https://x.test/", "timeout": 60_000}


def start(tower: Tower, actor: Actor | None = None, **fields: Any) -> TrialRecord:
    body = MonitorBody(**{**PAGE, "host_id": tower.host_id, **fields})
    return tower.db.write_blocking(trials.create, actor or tower.actors.ada, body, None)


def show(tower: Tower, trial: TrialRecord, actor: Actor | None = None) -> TrialRecord:
    return tower.db.write_blocking(trials.show, actor or tower.actors.ada, trial.id)


def changes_after(tower: Tower, number: int) -> MonitorConfig | None:
    position = ListPosition(number)
    message = tower.db.write_blocking(
        agent_config.next_message, tower.host_id, position, tower.keys
    )
    return None if message is None else message[0]


def report(tower: Tower, trial: TrialRecord, number: int = 1, **fields: Any) -> None:
    sample = Sample(trial.id, 1, 0, **{"state": "normal", **fields})
    batch = Samples("trials", number, [sample])
    tower.db.write_blocking(samples.record_batches, tower.host_id, [batch])


@pytest.fixture
def online(tower: Tower) -> Tower:
    sql = "update hosts set connected_at = 1, gone_at = null where id = ?"
    tower.db.write_blocking(lambda tx: tx.execute(sql, tower.host_id))
    tower.make()
    return tower


def test_it_works(online: Tower) -> None:
    before = online.watch()
    trial = start(online)
    assert trial.state == "waiting"
    sent = changes_after(online, before.number)
    assert sent is not None
    (check,) = sent.monitors
    assert (check.id, check.type, check.config["url"]) == (trial.id, "scraper", PAGE["url"])
    # A person waits for the result.
    assert check.config["timeout"] == trials.MAX_TIMEOUT
    message = "Status 503 instead of 2xx."
    report(online, trial, state="failure", message=message, measured={"ms": 12.0})
    shown = show(online, trial)
    assert (shown.state, shown.message, shown.measured) == ("failure", message, {"ms": 12.0})
    # The agent drops the check, and no monitor was created.
    dropped = changes_after(online, sent.number)
    assert dropped is not None and dropped.removed == [trial.id]
    assert len(online.watch().monitors) == 1
    stored = online.db.write_blocking(trial_store.find, online.actors.acme.id, trial.id)
    assert stored is not None and stored.config == "{}"


def test_only_the_first_result_of_the_own_host_counts(online: Tower) -> None:
    other = Tower(online.db, online.keys, online.actors, online.clock).build("web-2")
    trial = start(online)
    report(other, trial, state="failure")
    assert show(online, trial).state == "waiting"
    report(online, trial)
    report(online, trial, number=2, state="failure")
    assert show(online, trial).state == "normal"


def test_agents_of_earlier_versions_get_it_with_the_whole_list(online: Tower) -> None:
    trial = start(online)
    full_list = online.db.write_blocking(agent_config.full_list, online.host_id, online.keys)
    assert trial.id in [check.id for check in full_list.monitors]
    report(online, trial)
    full_list = online.db.write_blocking(agent_config.full_list, online.host_id, online.keys)
    assert trial.id not in [check.id for check in full_list.monitors]


def test_private_addresses_are_refused_as_for_stored_monitors(online: Tower) -> None:
    sql = "update customers set inner_checks = 0 where id = ?"
    online.db.write_blocking(lambda tx: tx.execute(sql, online.actors.acme.id))
    number = online.watch().number
    start(online, url="http://127.0.0.1:9/")
    sent = changes_after(online, number)
    assert sent is not None and sent.monitors[0].config["outer_only"] is True


def test_only_admins_of_the_organization_can_try(online: Tower) -> None:
    trial = start(online)
    for actor in (online.actors.max, online.actors.uma):
        with pytest.raises(Forbidden):
            start(online, actor)
        with pytest.raises(Forbidden):
            show(online, trial, actor)
    with pytest.raises(NotFound):
        show(online, trial, online.actors.eve)
    with pytest.raises(Invalid):
        start(online, online.actors.eve)


def test_a_check_that_cannot_run_is_refused(online: Tower) -> None:
    with pytest.raises(Invalid):
        start(online, type="push")
    with pytest.raises(Invalid):
        start(online, url="***")
    sql = "update hosts set gone_at = 2 where id = ?"
    online.db.write_blocking(lambda tx: tx.execute(sql, online.host_id))
    with pytest.raises(Conflict) as refusal:
        start(online)
    assert refusal.value.code == "host_offline"


def test_the_number_of_open_trials_is_limited(online: Tower) -> None:
    for _ in range(trials.MAX_OPEN):
        start(online)
    with pytest.raises(Conflict) as refusal:
        start(online)
    assert refusal.value.code == "too_many_trials"
    online.clock.move(trial_store.LIFE / 1_000 + 1)
    trial = start(online)
    assert show(online, trial).state == "waiting"


def test_a_trial_without_a_result_expires_and_is_purged(online: Tower) -> None:
    trial = start(online)
    number = online.watch().number
    online.clock.move(trial_store.LIFE / 1_000 + 1)
    assert show(online, trial).state == "expired"
    report(online, trial)
    assert show(online, trial).state == "expired"
    online.clock.move(trial_store.RETENTION / 1_000)
    online.db.write_blocking(housekeeping.purge_trials)
    with pytest.raises(NotFound):
        show(online, trial)
    # An agent that still has the check gets the complete list.
    sent = changes_after(online, number - 1)
    assert sent is not None and sent.since is None
    assert trial.id not in [check.id for check in sent.monitors]
