"""Scripts that resist being stopped: through the whole product, no process is left."""

import time

import pytest

from e2e import process_leaks
from e2e.site import Site
from e2e.wait_until import until

# TERM, a pause of this length, KILL.
GRACE_S = 5.0
A_LITTLE_S = 3.0


def test_a_canceled_script_handles_sigterm(site: Site) -> None:
    """A script that handles TERM and is canceled ends at once."""
    job_id = site.start('#!/bin/sh\ntrap "echo bye; exit 7" TERM\necho here\nsleep 600 & wait\n')
    site.says(job_id, b"here")
    job = site.cancel(job_id)
    assert (job["lifecycle"], job["state"], job["ran"]) == ("terminated", "canceled", "yes")
    assert (job["result"]["code"], job["result"]["killed"]) == (7, True)
    assert site.world.log(job_id) == b"here\nbye\n"
    site.is_empty()


@pytest.mark.heavy
def test_scripts_that_ignore_sigterm_are_killed_after_the_grace_period(site: Site) -> None:
    source = "#!/bin/sh\ntrap '' TERM\n(while :; do sleep 1; done) &\necho here\n"
    job_id = site.start(source + "while :; do sleep 1; done\n")
    site.says(job_id, b"here")
    asked_at = time.monotonic()
    job = site.cancel(job_id)
    took_s = time.monotonic() - asked_at
    assert (job["lifecycle"], job["state"]) == ("terminated", "canceled")
    assert (job["result"]["code"], job["result"]["signal"]) == (137, "SIGKILL")
    assert GRACE_S - 0.1 <= took_s <= GRACE_S + A_LITTLE_S
    site.is_empty()


def test_the_agent_ends_a_script_at_its_timeout_without_the_server(site: Site) -> None:
    job = site.run("#!/bin/sh\necho here\nsleep 600\n", timeout=700)
    assert (job["lifecycle"], job["state"]) == ("terminated", "timeout")
    assert (job["trigger_name"], job["result"]["killed"]) == ("timeout", True)
    assert job["result"]["times"]["seconds"] <= A_LITTLE_S
    site.is_empty()


# Each ends at once and leaves something behind that would live for ten minutes.
LEAVERS = {
    "a background child": "sleep 600 >/dev/null 2>&1 &",
    "one that holds its output open": "sleep 600 &",
    "one in a session of its own": "setsid sleep 600 >/dev/null 2>&1 &",
    "a daemon, forked twice": "(setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &)",
    "one without environment or folder": "cd /; setsid env -i sleep 600 >/dev/null 2>&1 &",
    "one that ignores TERM": "(trap '' TERM HUP; while :; do sleep 1; done) >/dev/null 2>&1 &",
    "one that starts others for ever": "(while :; do (sleep 1 & sleep 0.01); done) &",
}


@pytest.mark.parametrize("leaver", LEAVERS.values(), ids=LEAVERS.keys())
def test_an_ended_script_leaves_no_process(site: Site, leaver: str) -> None:
    job = site.run(f"#!/bin/sh\n{leaver}\necho gone\nexit 3\n")
    assert (job["lifecycle"], job["state"], job["result"]["code"]) == ("finished", "failure", 3)
    assert "kill_incomplete" not in job["result"]
    assert site.world.log(job["id"]) == b"gone\n"
    site.is_empty()


@pytest.mark.parametrize("leaver", LEAVERS.values(), ids=LEAVERS.keys())
def test_canceling_a_script_ends_all_its_processes(site: Site, leaver: str) -> None:
    job_id = site.start(f"#!/bin/sh\n{leaver}\necho here\nexec sleep 600\n")
    site.says(job_id, b"here")
    job = site.cancel(job_id)
    assert (job["lifecycle"], job["state"]) == ("terminated", "canceled")
    assert "kill_incomplete" not in job["result"]
    site.is_empty()


def test_two_hundred_children_end_with_their_script(site: Site) -> None:
    source = "#!/bin/bash\nfor i in {1..200}; do sleep 600 & done\necho here\nwait\n"
    job_id = site.start(source)
    site.says(job_id, b"here")
    keeper = site.agent.keeper()
    until(lambda: len(process_leaks.descendants(keeper)) > 200)
    job = site.cancel(job_id)
    assert (job["lifecycle"], job["state"]) == ("terminated", "canceled")
    site.is_empty()


def test_ending_a_script_leaves_other_scripts_running(site: Site) -> None:
    quiet = site.start("#!/bin/sh\necho here\nsleep 1\necho done\n")
    site.says(quiet, b"here")
    many = "for i in {1..20}; do setsid sleep 600 & done"
    loud = site.start(f"#!/bin/bash\n{many}\necho here\nwait\n")
    site.says(loud, b"here")
    assert site.cancel(loud)["state"] == "canceled"
    job = site.world.wait_ended(quiet)
    assert (job["lifecycle"], job["result"]["code"]) == ("finished", 0)
    assert site.world.log(quiet) == b"here\ndone\n"
