"""The keeper with ordinary scripts."""

import hashlib
import os
import pwd
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent.processes.spawn import MARKS, Spawner

SLEEP = "#!/bin/sh\nexec sleep 300\n"


def test_a_script_runs_and_its_end_is_reported(keeper: KeeperHarness) -> None:
    report = keeper.run('#!/bin/sh\necho "hello $1"\nexit 3\n', "world")
    assert report.pop("elapsed_ns") > 0
    assert report == {
        "ending": "exit",
        "code": 3,
        "lastline": "hello world",
        "log": "hello world\n",
        "bytes_total": 12,
        "lines_total": 1,
        "sha256": hashlib.sha256(b"hello world\n").hexdigest(),
    }


def test_a_script_without_a_first_line_runs_in_bash(keeper: KeeperHarness) -> None:
    assert keeper.run("echo ${BASH_VERSION:+bash}\n")["log"] == "bash\n"


def test_arguments_arrive_as_they_are(keeper: KeeperHarness) -> None:
    wild = ["a b", "", "$HOME", "`id`", "ünï\ncode", "*", "--", "'\""]
    script = '#!/bin/sh\nfor each; do printf "<%s>" "$each"; done\n'
    assert keeper.run(script, *wild)["log"] == "".join(f"<{word}>" for word in wild)


@pytest.mark.parametrize(
    ("runas", "wanted"),
    [
        (["/bin/echo", "run", "%script%"], "run {script} x\n"),
        (["echo", "run"], "run {script} x\n"),
        (["echo", "a=%script%:%script%", "b"], "a={script}:{script} b x\n"),
    ],
)
def test_runas_is_the_command_with_the_script_in_its_place(
    keeper: KeeperHarness, runas: list[str], wanted: str
) -> None:
    script = str(keeper.script("#!/bin/sh\n"))
    report = keeper.run("#!/bin/sh\n", "x", runas=runas)
    assert report["log"] == wanted.format(script=script)


def test_the_environment_is_a_list_and_never_the_agents_own(tmp_path: Path) -> None:
    keeper = KeeperHarness(tmp_path / "state")
    try:
        keeper.process.terminate()
        keeper.process.wait()
        keeper.start(SECRET_OF_THE_AGENT="1", TZ="Europe/Berlin")
        keeper.connect()
        env = {"BELVEDERE_JOB_ID": "j", "PATH": "/usr/bin:/bin", "BELVEDERE_FENCE": "forged"}
        runas = ["cat", "/proc/self/environ", "%script%"]
        log = keeper.run("", env=env, runas=runas)["log"]
    finally:
        keeper.end()
    record = dict(pair.split("=", 1) for pair in log.rstrip("\ufffd").split("\ufffd"))
    assert record.pop("HOME") == pwd.getpwuid(os.getuid()).pw_dir
    assert record.pop("USER") == record.pop("LOGNAME")
    assert record.pop("BELVEDERE_COOKIE").endswith(".101")
    assert record.pop("BELVEDERE_FILES").endswith(".files")
    assert record.pop("SHELL")
    assert record == {
        "BELVEDERE_JOB_ID": "j",
        "PATH": "/usr/bin:/bin",
        "BELVEDERE_FENCE": "101",
        "LANG": "C.UTF-8",
        "TZ": "Europe/Berlin",
    }


def test_every_job_finds_an_empty_folder_that_is_gone_afterwards(keeper: KeeperHarness) -> None:
    script = (
        "#!/bin/sh\npwd; ls -A; umask; stat -c %a .; mkdir -p a/b/c; touch x a/b/y; chmod 0 a\n"
    )
    first = keeper.run(script)["log"].splitlines()
    second = keeper.run(script)["log"].splitlines()
    assert first[1:] == second[1:] == ["0022", "700"]
    # It is removed at once, or by rm a moment later; its end is the next event.
    keeper.run("#!/bin/sh\nsleep 0.2\n")
    assert not Path(first[0]).exists()
    assert not Path(second[0]).exists()


def test_an_untouched_folder_serves_the_next_job(keeper: KeeperHarness) -> None:
    assert keeper.run("#!/bin/sh\npwd\n")["log"] == keeper.run("#!/bin/sh\npwd\n")["log"]


@pytest.mark.parametrize("deed", ["chmod 755 .", "touch x", "touch x; rm x; chmod 711 ."])
def test_a_changed_folder_does_not_serve_the_next_job(keeper: KeeperHarness, deed: str) -> None:
    first = keeper.run(f"#!/bin/sh\npwd\n{deed}\n")["log"]
    assert keeper.run("#!/bin/sh\npwd; ls -A; stat -c %a .\n")["log"] != first + "700\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_of_a_script_stays_open_in_the_keeper(keeper: KeeperHarness) -> None:
    def count_descriptors() -> int:
        # The response to a hello is sent in a turn after the one that cleaned up.
        keeper.hello()
        return len(os.listdir(f"/proc/{keeper.pid}/fd"))

    keeper.run("#!/bin/sh\n")
    before = count_descriptors()
    keeper.run("#!/no/such/thing\n")
    for script in ("exit 3", "echo x", "echo x; sleep 0.1; echo y", "exec >&- 2>&-; sleep 0.1"):
        keeper.run(f"#!/bin/sh\n{script}\n")
        assert count_descriptors() == before


def test_file_arguments_lie_in_the_working_folder(keeper: KeeperHarness) -> None:
    blob = keeper.script("the bytes", "blob")
    blobs = [
        {"index": 0, "filename": "../../etc/passwd", "path": str(blob)},
        {"index": 2, "filename": "passwd", "path": str(blob)},
    ]
    script = '#!/bin/sh\npwd; echo "$@"; cat "$1" "$3"; echo changed > "$1"\n'
    log = keeper.run(script, "", "between", "", blobs=blobs)["log"]
    folder, words, content = log.split("\n")
    assert words == f"{folder}/passwd between {folder}/2-passwd"
    assert content == "the bytesthe bytes"
    assert blob.read_text() == "the bytes"


@pytest.mark.parametrize(
    ("fields", "reason", "words"),
    [
        ({"source": "#!/no/such/thing -x\n"}, "no_interpreter", "#!/no/such/thing -x"),
        ({"source": "x", "runas": ["nosuchprogram"]}, "no_interpreter", "'nosuchprogram'"),
        ({"source": "#!/bin/sh\n", "arguments": ["x" * 200_000]}, "arguments_too_long", "long"),
        ({"source": "#!/bin/sh\n", "arguments": ["a\0b"]}, "cannot_start", "null"),
        ({"source": "#!/bin/sh\n", "os_user": "nobody-here"}, "no_such_user", "nobody-here"),
        ({"source": "#!/bin/sh\n", "runas": ["/"]}, "not_executable", "/"),
        ({"source": "#!/bin/sh\n", "os_user": "a\0b"}, "cannot_prepare", "null"),
        ({"source": "#!/bin/sh\n", "env": {"A=B": "x"}}, "cannot_start", "environment"),
        ({"source": "#!/bin/sh\n", "env": {"A": 1}}, "cannot_start", "int"),
        (
            {
                "source": "#!/bin/sh\n",
                "blobs": [{"index": 3, "filename": "f", "path": "/etc/hosts"}],
            },
            "cannot_prepare",
            "index",
        ),
    ],
)
def test_a_failed_start_reports_its_reason(
    keeper: KeeperHarness, fields: dict[str, Any], reason: str, words: str
) -> None:
    report = keeper.run(**fields)
    assert (report["ending"], report["reason"]) == ("error", reason)
    assert words in report["message"]
    assert keeper.run("#!/bin/sh\necho fine\n")["log"] == "fine\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run scripts as others")
def test_a_script_runs_as_another_user(keeper: KeeperHarness) -> None:
    _open_to_others(keeper)
    blob = keeper.script("given", "blob")
    report = keeper.run(
        '#!/bin/sh\nid -un; echo $HOME; cat "$1"; touch mine; stat -c "%U %a" . mine; ls "$0"\n',
        "",
        os_user="nobody",
        blobs=[{"index": 0, "filename": "given", "path": str(blob)}],
    )
    name, home, *rest = report["log"].splitlines()
    assert name == "nobody"
    assert home == "/nonexistent"
    assert rest[:2] == ["givennobody 700", "nobody 644"]
    assert rest[2].endswith("/test.sh")


def _open_to_others(keeper: KeeperHarness) -> None:
    """The test's own folder is closed to other users; the state folder of a real agent is not."""
    for folder in Path(keeper.folder.root).parents:
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)


def test_a_signal_from_elsewhere_is_an_exit(keeper: KeeperHarness) -> None:
    report = keeper.run("#!/bin/sh\nkill -INT $$\nsleep 1\n")
    assert (report["ending"], report["code"], report["signal"]) == ("exit", 130, "SIGINT")


def test_a_fence_that_was_used_never_runs_again(keeper: KeeperHarness, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = f"#!/bin/sh\necho x >> {ran}\n"
    fence = keeper.order(script)
    keeper.order(script, fence=fence)
    keeper.report(fence)
    keeper.send_messages(do="ack", fences=[fence])
    keeper.order(script, fence=fence)
    keeper.wait(lambda m: m == {"say": "gone", "fence": fence})
    keeper.run("#!/bin/sh\n")
    assert ran.read_text() == "x\n"


def test_orders_of_another_session_are_dropped(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\n", session=2)
    keeper.wait(lambda m: m == {"say": "gone", "fence": fence})
    assert keeper.hello(session=2)["entries"] == []
    assert keeper.run("#!/bin/sh\n", fence=fence, session=2)["ending"] == "exit"


def test_orders_that_the_agent_did_not_read_are_never_accepted(keeper: KeeperHarness) -> None:
    """Another agent has already been told that there are no scripts."""
    os.kill(keeper.pid, signal.SIGSTOP)
    fence = keeper.order(SLEEP)
    waking = threading.Timer(0.1, os.kill, (keeper.pid, signal.SIGCONT))
    waking.start()
    state = keeper.connect()
    waking.join()
    accepted = [entry["fence"] for entry in state["entries"]]
    later = [entry["fence"] for entry in keeper.hello()["entries"]]
    assert accepted == later
    assert set(accepted) <= {fence}


def test_the_state_lists_the_running_scripts(keeper: KeeperHarness) -> None:
    live = keeper.order(SLEEP)
    ended = keeper.order("#!/bin/sh\necho over\n")
    keeper.report(ended)
    keeper.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    state = keeper.connect()
    assert state["containment"] == "subreaper"
    assert state["highest"] == ended
    by_fence = {entry["fence"]: entry for entry in state["entries"]}
    assert set(by_fence) == {live, ended}
    assert by_fence[live]["report"] is None
    assert by_fence[live]["age_ms"] >= 50
    assert by_fence[ended]["report"]["lastline"] == "over"
    assert state["acknowledged"] == []
    keeper.send_messages(do="ack", fences=[ended, live])
    state = keeper.hello()
    assert [entry["fence"] for entry in state["entries"]] == [live]
    assert state["acknowledged"] == [ended]


def test_output_is_shown_while_the_script_runs(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\necho early\nexec sleep 300\n")
    record = keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    assert record["total"] == 6
    segment = Path(keeper.folder.spool) / str(fence) / "0.seg"
    assert segment.read_bytes() == bytes(8) + b"early\n"
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert "log" not in report
    assert (report["bytes_total"], report["lastline"]) == (6, "early")
    keeper.send_messages(do="ack", fences=[fence])
    keeper.run("#!/bin/sh\n")
    assert not segment.exists()


def test_a_newer_attempt_of_a_job_waits_until_the_older_is_gone(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    script = (
        f"#!/bin/sh\ntrap 'sleep 0.1; echo end >> {tmp_path}/log; exit' TERM\n"
        f'echo begin >> {tmp_path}/log\n[ "$1" ] && exit\nready\nsleep 300 & wait\n'
    )
    keeper.order_ready(script, job_id="same")
    newer = keeper.order(script, "quick", job_id="same")
    assert keeper.report(newer)["ending"] == "exit"
    assert (tmp_path / "log").read_text() == "begin\nend\nbegin\n"
    assert [entry["fence"] for entry in keeper.connect()["entries"]] == [newer]


def test_without_a_journal_nothing_starts(keeper: KeeperHarness, tmp_path: Path) -> None:
    keeper.run("#!/bin/sh\n")
    full = (16, resource.RLIM_INFINITY)
    resource.prlimit(keeper.pid, resource.RLIMIT_FSIZE, full)
    fence = keeper.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    report = keeper.report(fence)
    assert (report["ending"], report["reason"]) == ("error", "disk_full")
    free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(keeper.pid, resource.RLIMIT_FSIZE, free)
    assert keeper.run("#!/bin/sh\necho again\n")["log"] == "again\n"
    assert not (tmp_path / "ran").exists()
    assert [entry["fence"] for entry in keeper.hello()["entries"]] == [fence]


def test_a_second_keeper_refuses_with_one_sentence(keeper: KeeperHarness) -> None:
    words = [sys.executable, "-m", "belvedere.agent.keeper.program", "--state", keeper.folder.root]
    second = subprocess.run(words, capture_output=True, text=True, check=False)
    assert second.returncode == 3
    assert second.stdout == f"Another keeper uses {keeper.folder.root}.\n"


def test_an_outdated_keeper_ends_when_nothing_runs(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\nsleep 0.2\nexit 7\n")
    keeper.send_messages(do="retire")
    assert keeper.process.wait(5) == 0
    keeper.start()
    entries = keeper.connect()["entries"]
    assert [(entry["fence"], entry["report"]["code"]) for entry in entries] == [(fence, 7)]


def test_another_enrolment_is_another_journal(keeper: KeeperHarness) -> None:
    live = keeper.order(SLEEP)
    keeper.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    former = keeper.state["journal_id"]
    state = keeper.hello(owner="another host")
    assert state["journal_id"] != former
    keeper.wait(lambda m: m == {"say": "gone", "fence": live})
    assert keeper.leftover_pids() == []
    keeper.kill()
    keeper.start()
    assert keeper.connect(owner="another host")["journal_id"] == state["journal_id"]


def test_a_keeper_that_is_not_used_ends_by_itself(keeper: KeeperHarness) -> None:
    keeper.kill()
    keeper.start("from belvedere.agent.keeper import program\nprogram.IDLE_EXIT = 200_000_000")
    keeper.connect()
    fence = keeper.order("#!/bin/sh\n")
    keeper.report(fence)
    keeper.hang_up()
    with pytest.raises(subprocess.TimeoutExpired):
        keeper.process.wait(0.5)
    keeper.connect()
    keeper.send_messages(do="ack", fences=[fence])
    keeper.hello()
    keeper.hang_up()
    assert keeper.process.wait(5) == 0


def test_without_a_subreaper_only_the_process_group_ends(keeper: KeeperHarness) -> None:
    keeper.kill()
    keeper.start(
        "from belvedere.agent.processes import groups\ngroups.TreeTracking = groups.GroupTracking"
    )
    assert keeper.connect()["containment"] == "group"
    report = keeper.run("#!/bin/sh\nsleep 300 &\necho said\n")
    assert (report["ending"], report["lastline"]) == ("exit", "said")
    fence = keeper.order_ready(
        "#!/bin/sh\ntrap '' TERM\nready\nsleep 300; sleep 300\n", grace_ms=50
    )
    keeper.send_messages(do="cancel", fence=fence)
    assert keeper.report(fence)["ending"] == "canceled"
    assert keeper.leftover_pids() == []


def test_a_script_that_was_prepared_but_not_accepted_leaves_nothing(keeper: KeeperHarness) -> None:
    keeper.process.terminate()
    keeper.process.wait()
    fault = Path(keeper.folder.root) / "fault"
    keeper.start(
        "import os\n"
        "from belvedere.agent.journal import journal\n"
        "sync = journal.sync_data\n"
        "def fail_once(fd):\n"
        f"    if os.path.exists({str(fault)!r}):\n"
        f"        os.unlink({str(fault)!r})\n"
        "        raise OSError(28, 'no space')\n"
        "    sync(fd)\n"
        "journal.sync_data = fail_once\n"
    )
    keeper.connect()
    fault.touch()
    source = "#!/bin/sh\ntest -s $1 && exit 4\n"
    # The file is copied to the work folder while the order is written.
    blob = {"index": 0, "filename": "data", "path": str(keeper.script(source))}
    report = keeper.run(source, "file", blobs=[blob])
    assert (report["ending"], report["reason"]) == ("error", "disk_full")
    # The folder had a file in it, so it was not used again.
    assert os.listdir(keeper.folder.work) == []
    assert keeper.run(source, "file", blobs=[blob])["code"] == 4


def test_no_two_scripts_carry_the_same_mark() -> None:
    spawner = Spawner("cookie", (819_200, 819_200))
    marks = [spawner.mark() for _ in range(MARKS)]
    assert len(set(marks)) == MARKS
    assert spawner.mark() == 0
    spawner.release(marks[5])
    assert spawner.mark() == marks[5]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_script_begins_with_every_signal_at_its_default(keeper: KeeperHarness) -> None:
    keeper.process.terminate()
    keeper.process.wait()
    ignored = "for one in (3, 10, 13, 15, 20, 40): signal.signal(one, signal.SIG_IGN)"
    keeper.start(f"import signal\n{ignored}")
    keeper.connect()
    assert _held_off(keeper, os_user="") == 0
    if os.geteuid() == 0:
        _open_to_others(keeper)
        assert _held_off(keeper, os_user="nobody") == 0


def _held_off(keeper: KeeperHarness, os_user: str) -> int:
    """The signals that are ignored or blocked when a script starts."""
    report = keeper.run("#!/bin/sh\nexec cat /proc/self/status\n", os_user=os_user)
    record = dict(line.split(":\t") for line in report["log"].splitlines())
    # The C library uses 32 and 33 itself.
    return (int(record["SigIgn"], 16) & ~(3 << 31)) | int(record["SigBlk"], 16)
