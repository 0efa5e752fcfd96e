"""After a crash of the keeper: no process runs unsupervised, and no result is invented."""

import os
from pathlib import Path

import pytest

from agent.keeper_process import KeeperHarness
from agent.processes import with_cookie
from belvedere.agent.journal.journal import line
from belvedere.agent.state_folder import boot_id

HEAD = line(["journal", 1, "the-journal", "host"])


def test_a_new_keeper_reports_ended_and_unknown_scripts(
    keeper: KeeperHarness, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = keeper.order("#!/bin/sh\necho before\nexit 2\n")
    keeper.report(ended)
    journal_id = keeper.state["journal_id"]
    live = keeper.order(
        "#!/bin/sh\nsetsid sh -c 'trap \"\" TERM; sleep 300' & echo out\nexec sleep 300\n"
    )
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == live)
    keeper.kill()
    assert len(with_cookie(keeper.folder.root)) >= 2
    keeper.start()
    assert with_cookie(keeper.folder.root) == []
    state = keeper.connect()
    assert state["journal_id"] == journal_id
    reports = {entry["fence"]: entry["report"] for entry in state["entries"]}
    job_ids = {entry["fence"]: entry["job_id"] for entry in state["entries"]}
    assert (reports[ended]["code"], reports[ended]["lastline"]) == (2, "before")
    assert reports[live] == {"ending": "unknown", "reason": "keeper_lost", "bytes_total": 4}
    line = f"keeper of a script is gone job={job_ids[live]} fence={live}\n"
    assert line in capfd.readouterr().err
    keeper.send_messages(do="ack", fences=[ended, live])
    keeper.hello()
    assert keeper.state["entries"] == []
    assert os.listdir(keeper.folder.spool) == []


def test_an_accepted_fence_is_never_run_again(keeper: KeeperHarness, tmp_path: Path) -> None:
    script = f"#!/bin/sh\necho x >> {tmp_path}/ran\nsleep 300\n"
    fence = keeper.order(script)
    keeper.wait(lambda m: m["say"] == "started")
    keeper.kill()
    keeper.start()
    keeper.connect()
    keeper.order(script, fence=fence)
    keeper.send_messages(do="ack", fences=[fence])
    keeper.order(script, fence=fence)
    keeper.wait(lambda m: m == {"say": "gone", "fence": fence})
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
    keeper: KeeperHarness, tmp_path: Path, point: str, ran: bool
) -> None:
    keeper.kill()
    keeper.start(BELVEDERE_FAILPOINT=point)
    keeper.connect()
    fence = keeper.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    assert keeper.process.wait(10) == -9
    keeper.start()
    entries = keeper.connect()["entries"]
    assert [(entry["fence"], entry["report"]["ending"]) for entry in entries] == [
        (fence, "unknown")
    ]
    if not ran:
        assert not (tmp_path / "ran").exists()
    assert keeper.leftover_pids() == []


def test_a_death_after_the_end_is_written_keeps_it(keeper: KeeperHarness) -> None:
    keeper.kill()
    keeper.start(BELVEDERE_FAILPOINT="keeper.ended:2")
    keeper.connect()
    first = keeper.order("#!/bin/sh\nexit 1\n")
    keeper.report(first)
    second = keeper.order("#!/bin/sh\nexit 2\n")
    assert keeper.process.wait(10) == -9
    keeper.start()
    codes = {entry["fence"]: entry["report"]["code"] for entry in keeper.connect()["entries"]}
    assert codes == {first: 1, second: 2}


def test_after_a_reboot_the_end_is_unknown_for_that_reason(keeper: KeeperHarness) -> None:
    keeper.kill()
    lines = [HEAD, line(["boot", "an earlier one"]), line(["accepted", 5, "job5"])]
    Path(keeper.folder.journal).write_bytes(b"".join(lines))
    keeper.start()
    state = keeper.connect()
    assert state["journal_id"] == "the-journal"
    assert state["entries"][0]["report"] == {"ending": "unknown", "reason": "host_rebooted"}


def test_a_damaged_journal_is_another_journal(keeper: KeeperHarness) -> None:
    keeper.kill()
    lines = [HEAD, b"rubbish\n", line(["boot", boot_id()]), line(["accepted", 5, "job5"])]
    Path(keeper.folder.journal).write_bytes(b"".join(lines))
    keeper.start()
    state = keeper.connect()
    assert state["journal_id"] != "the-journal"
    assert [entry["fence"] for entry in state["entries"]] == [5]


def test_permission_for_background_children_survives_a_restart(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    keeper.run(f"#!/bin/sh\nsleep 300 >&- 2>&- &\necho $! > {tmp_path}/pid\n", daemonize=True)
    pid = int((tmp_path / "pid").read_text())
    live = keeper.order("#!/bin/sh\nexec sleep 300\n")
    keeper.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    keeper.kill()
    keeper.start()
    assert with_cookie(keeper.folder.root) == [pid]
    assert os.path.isdir(f"/proc/{pid}/cwd/")


def test_files_of_former_jobs_are_swept(keeper: KeeperHarness, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"#!/bin/sh\nmkdir -p a/b; touch a/b/c; echo > {ready}\nexec sleep 300\n"
    fence = keeper.order(script)
    keeper.wait(lambda m: m["say"] == "started" and m["fence"] == fence)
    # Waits until the script has written its files.
    ready.read_text()
    (place,) = [item for item in Path(keeper.folder.work).iterdir() if item.suffix != ".files"]
    assert (place / "a/b/c").exists()
    keeper.kill()
    keeper.start()
    keeper.connect()
    keeper.run("#!/bin/sh\nsleep 0.2\n")
    assert not place.exists()
