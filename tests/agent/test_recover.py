"""A keeper that died: nothing runs on unseen, nothing is claimed that nobody saw."""

import os
from pathlib import Path

import pytest

from agent.keeper_process import Keeping
from agent.processes import bearing
from belvedere.agent.journal.journal import line
from belvedere.agent.state_folder import boot_id

HEAD = line(["journal", 1, "the-journal", "host"])


def test_it_works(keeping: Keeping) -> None:
    ended = keeping.order("#!/bin/sh\necho before\nexit 2\n")
    keeping.report(ended)
    journal_id = keeping.state["journal_id"]
    live = keeping.order(
        "#!/bin/sh\nsetsid sh -c 'trap \"\" TERM; sleep 300' & echo out\nexec sleep 300\n"
    )
    keeping.wait(lambda m: m["say"] == "output" and m["fence"] == live)
    keeping.kill()
    assert len(bearing(keeping.folder.root)) >= 2
    keeping.start()
    assert bearing(keeping.folder.root) == []
    state = keeping.connect()
    assert state["journal_id"] == journal_id
    reports = {entry["fence"]: entry["report"] for entry in state["entries"]}
    assert (reports[ended]["code"], reports[ended]["lastline"]) == (2, "before")
    assert reports[live] == {"ending": "unknown", "reason": "keeper_lost", "bytes_total": 4}
    keeping.say(do="ack", fences=[ended, live])
    keeping.hello()
    assert keeping.state["entries"] == []
    assert os.listdir(keeping.folder.spool) == []


def test_an_accepted_fence_is_never_run_again(keeping: Keeping, tmp_path: Path) -> None:
    script = f"#!/bin/sh\necho x >> {tmp_path}/ran\nsleep 300\n"
    fence = keeping.order(script)
    keeping.wait(lambda m: m["say"] == "started")
    keeping.kill()
    keeping.start()
    keeping.connect()
    keeping.order(script, fence=fence)
    keeping.say(do="ack", fences=[fence])
    keeping.order(script, fence=fence)
    keeping.wait(lambda m: m == {"say": "gone", "fence": fence})
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.parametrize(
    ("point", "ran"),
    [
        ("keeper.accepted", False),
        ("keeper.spawned", True),
        ("keeper.script_ended", True),
    ],
)
def test_a_death_before_the_end_is_written_is_unknown(
    keeping: Keeping, tmp_path: Path, point: str, ran: bool
) -> None:
    keeping.kill()
    keeping.start(BELVEDERE_FAILPOINT=point)
    keeping.connect()
    fence = keeping.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    assert keeping.process.wait(10) == -9
    keeping.start()
    entries = keeping.connect()["entries"]
    assert [(entry["fence"], entry["report"]["ending"]) for entry in entries] == [
        (fence, "unknown")
    ]
    if not ran:
        assert not (tmp_path / "ran").exists()
    assert keeping.left() == []


def test_a_death_after_the_end_is_written_keeps_it(keeping: Keeping) -> None:
    keeping.kill()
    keeping.start(BELVEDERE_FAILPOINT="keeper.ended:2")
    keeping.connect()
    first = keeping.order("#!/bin/sh\nexit 1\n")
    keeping.report(first)
    second = keeping.order("#!/bin/sh\nexit 2\n")
    assert keeping.process.wait(10) == -9
    keeping.start()
    codes = {entry["fence"]: entry["report"]["code"] for entry in keeping.connect()["entries"]}
    assert codes == {first: 1, second: 2}


def test_after_a_reboot_the_end_is_unknown_for_that_reason(keeping: Keeping) -> None:
    keeping.kill()
    lines = [HEAD, line(["boot", "an earlier one"]), line(["accepted", 5, "job5"])]
    Path(keeping.folder.journal).write_bytes(b"".join(lines))
    keeping.start()
    state = keeping.connect()
    assert state["journal_id"] == "the-journal"
    assert state["entries"][0]["report"] == {"ending": "unknown", "reason": "host_rebooted"}


def test_a_damaged_journal_is_another_journal(keeping: Keeping) -> None:
    keeping.kill()
    lines = [HEAD, b"rubbish\n", line(["boot", boot_id()]), line(["accepted", 5, "job5"])]
    Path(keeping.folder.journal).write_bytes(b"".join(lines))
    keeping.start()
    state = keeping.connect()
    assert state["journal_id"] != "the-journal"
    assert [entry["fence"] for entry in state["entries"]] == [5]


def test_what_background_children_were_allowed_survives(keeping: Keeping, tmp_path: Path) -> None:
    keeping.run(f"#!/bin/sh\nsleep 300 >&- 2>&- &\necho $! > {tmp_path}/pid\n", daemonize=True)
    pid = int((tmp_path / "pid").read_text())
    live = keeping.order("#!/bin/sh\nexec sleep 300\n")
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    keeping.kill()
    keeping.start()
    assert bearing(keeping.folder.root) == [pid]
    assert os.path.isdir(f"/proc/{pid}/cwd/")


def test_files_of_former_jobs_are_swept(keeping: Keeping, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"#!/bin/sh\nmkdir -p a/b; touch a/b/c; echo > {ready}\nexec sleep 300\n"
    fence = keeping.order(script)
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == fence)
    # Blocks until the script has written its files.
    ready.read_text()
    (place,) = [item for item in Path(keeping.folder.work).iterdir() if item.suffix != ".files"]
    assert (place / "a/b/c").exists()
    keeping.kill()
    keeping.start()
    keeping.connect()
    keeping.run("#!/bin/sh\nsleep 0.2\n")
    assert not place.exists()
