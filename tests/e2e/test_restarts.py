"""Agents, servers and connections fail and return while scripts run: the scripts are not
affected."""

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from belvedere.client.event_stream import follow
from e2e import process_leaks
from e2e.programs import Agent
from e2e.site import Site
from e2e.wait_until import until

# It waits for the test between two halves of its output, so that the test does not depend on time.
SCRIPT = """#!/bin/sh
seq 1 3000
echo "process $$"
until test -e "$1"; do sleep 0.02; done
seq 3001 6000
exit 5
"""


class WaitingScript:
    """A running script that waits for the test."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._word = Path(tempfile.mkdtemp(dir=site.world.folder)) / "go on"
        self.job_id = site.start(SCRIPT, str(self._word))
        site.says(self.job_id, b"process")
        text = site.world.log(self.job_id).decode().split("process ")[1]
        self.pid = int(text.split()[0])

    @property
    def is_alive(self) -> bool:
        return process_leaks.is_alive(self.pid)

    def go_on(self) -> None:
        self._word.touch()

    def has_ended(self) -> None:
        until(lambda: not self.is_alive)

    def check(self) -> dict[str, Any]:
        """It ended by itself, once, and the site has every byte of it."""
        job = self._site.world.wait_ended(self.job_id)
        numbers = [f"{number}\n" for number in range(1, 6_001)]
        numbers.insert(3_000, f"process {self.pid}\n")
        assert (job["lifecycle"], job["ran"], job["result"]["code"]) == ("finished", "yes", 5)
        # Not lost for a moment and then corrected, either.
        assert (job["attempt_count"], job["reconciled"]) == (1, False)
        assert self._site.world.log(self.job_id).decode() == "".join(numbers)
        assert job["result"]["log_bytes"] == len("".join(numbers))
        return job


def restart(site: Site, how: signal.Signals) -> None:
    site.agent.process.send_signal(how)
    site.agent.process.wait(10)
    site.agent.start(site.world.url)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_script_survives_a_restart_of_its_agent(site: Site, how: signal.Signals) -> None:
    """The agent restarts while its script runs."""
    script, keeper = WaitingScript(site), site.agent.keeper()
    restart(site, how)
    site.world.wait_connected(site.agent)
    assert script.is_alive
    assert site.agent.keeper() == keeper
    script.go_on()
    script.check()


def test_a_script_that_ends_while_its_agent_is_away_is_not_lost(site: Site) -> None:
    script = WaitingScript(site)
    site.agent.stop()
    script.go_on()
    script.has_ended()
    site.agent.start(site.world.url)
    script.check()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_script_does_not_notice_that_the_server_restarts(site: Site, how: signal.Signals) -> None:
    script = WaitingScript(site)
    site.world.server.stop(how)
    assert script.is_alive
    site.world.start()
    site.world.wait_connected(site.agent)
    assert site.world.job(script.job_id)["lifecycle"] == "assigned"
    script.go_on()
    script.check()


def test_a_script_that_ends_while_the_server_is_away_is_not_lost(site: Site) -> None:
    script = WaitingScript(site)
    site.world.server.kill()
    script.go_on()
    script.has_ended()
    site.world.start()
    script.check()


def test_server_agent_and_wire_may_fail_together(site: Site) -> None:
    script = WaitingScript(site)
    site.world.server.kill()
    site.agent.kill()
    site.world.proxy.cut()
    script.go_on()
    script.has_ended()
    site.agent.start(site.world.url)
    site.world.start()
    site.world.proxy.mend()
    script.check()


@pytest.mark.parametrize("fail", ["cut", "silence"])
def test_a_broken_connection_loses_no_line_and_no_exit_code(site: Site, fail: str) -> None:
    script = WaitingScript(site)
    getattr(site.world.proxy, fail)()
    script.go_on()
    script.has_ended()
    site.world.proxy.mend()
    script.check()


def test_an_order_that_vanished_on_the_wire_runs_once(site: Site) -> None:
    """According to the server the agent has it; the agent never received it."""
    ledger = site.world.folder / "ledger"
    task = site.world.task('#!/bin/sh\necho ran >> "$1"\n', site.agent, "ledger")
    site.world.proxy.silence()
    with site.world.beside() as direct:
        response = direct.post("/job", {"task": task, "task_arguments": [str(ledger)]})["id"]
        until(lambda: direct.get(f"/job/{response}/lifecycle") == "assigned")
    site.world.proxy.mend()
    job = site.world.wait_ended(response)
    assert (job["lifecycle"], job["state"]) == ("finished", "normal")
    assert [attempt["state"] for attempt in job["attempts"]] == ["returned", "ended"]
    assert ledger.read_text() == "ran\n"


@pytest.mark.prove
@pytest.mark.limit(150)
@pytest.mark.parametrize("fail", ["silence", "pause"])
def test_long_silence_is_noticed_and_does_no_harm(site: Site, fail: str) -> None:
    """On the network, or in an agent that gets no CPU time: marked within a minute, not lost."""
    script = WaitingScript(site)
    if fail == "silence":
        site.world.proxy.silence()
    else:
        site.agent.process.send_signal(signal.SIGSTOP)
    with site.world.beside() as direct:
        until(lambda: direct.get(f"/job/{script.job_id}")["unreachable_since"], 60)
    script.go_on()
    script.has_ended()
    site.agent.process.send_signal(signal.SIGCONT)
    until(lambda: "no connection" in site.agent.read_log(), 60)
    site.world.proxy.mend()
    assert not script.check()["unreachable_since"]


def test_a_canceled_script_is_stopped_when_its_agent_returns(site: Site) -> None:
    script = WaitingScript(site)
    site.agent.kill()
    job = site.world.api.put(f"/job/{script.job_id}/cancel")
    assert (job["lifecycle"], job["cancel_requested"]) == ("assigned", True)
    assert script.is_alive
    site.agent.start(site.world.url)
    job = site.world.wait_ended(script.job_id)
    assert (job["lifecycle"], job["state"]) == ("terminated", "canceled")
    site.is_empty()


def test_a_dead_keeper_makes_its_scripts_lost_and_leaves_none(site: Site) -> None:
    script = WaitingScript(site)
    os.kill(site.agent.keeper(), signal.SIGKILL)
    job = site.world.wait_ended(script.job_id)
    assert (job["lifecycle"], job["state"]) == ("terminated", "lost")
    assert (job["ran"], job["reason"]) == ("maybe", "keeper_lost")
    assert not script.is_alive
    after = site.run("#!/bin/sh\necho again\n")
    assert (after["lifecycle"], after["state"]) == ("finished", "normal")
    site.is_empty()


def test_two_agents_cannot_share_a_folder(site: Site) -> None:
    second = Agent(site.agent.state, "web")
    second.start(site.world.url)
    assert second.process.wait(20) == 1
    assert "another agent uses this state folder" in second.read_log()
    assert site.run("#!/bin/sh\nexit 0\n")["state"] == "normal"


def test_a_watcher_cut_off_before_the_first_event_misses_nothing(site: Site) -> None:
    with site.world.client() as client:
        with client.open("/-/events") as response:
            texts = [response.readline().decode().rstrip() for _ in range(2)]
        assert texts[1].startswith("id: ")
        job = site.run("#!/bin/sh\nexit 0\n")
        kinds = follow(client, "/-/events", after=texts[1].removeprefix("id: "))
        first = next(event for event in kinds if event.kind == "job.created")
        assert json.loads(first.data)["object_id"] == job["id"]
