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

from agent.keeper_process import Keeping
from belvedere.agent.processes.spawn import MARKS, Spawner

SLEEP = "#!/bin/sh\nexec sleep 300\n"


def test_it_works(keeping: Keeping) -> None:
    report = keeping.run('#!/bin/sh\necho "hello $1"\nexit 3\n', "world")
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


def test_a_script_without_a_first_line_runs_in_bash(keeping: Keeping) -> None:
    assert keeping.run("echo ${BASH_VERSION:+bash}\n")["log"] == "bash\n"


def test_arguments_arrive_as_they_are(keeping: Keeping) -> None:
    wild = ["a b", "", "$HOME", "`id`", "ünï\ncode", "*", "--", "'\""]
    script = '#!/bin/sh\nfor each; do printf "<%s>" "$each"; done\n'
    assert keeping.run(script, *wild)["log"] == "".join(f"<{word}>" for word in wild)


@pytest.mark.parametrize(
    ("runas", "wanted"),
    [
        (["/bin/echo", "run", "%script%"], "run {script} x\n"),
        (["echo", "run"], "run {script} x\n"),
        (["echo", "a=%script%:%script%", "b"], "a={script}:{script} b x\n"),
    ],
)
def test_runas_is_the_command_with_the_script_in_its_place(
    keeping: Keeping, runas: list[str], wanted: str
) -> None:
    script = str(keeping.script("#!/bin/sh\n"))
    report = keeping.run("#!/bin/sh\n", "x", runas=runas)
    assert report["log"] == wanted.format(script=script)


def test_the_environment_is_a_list_and_never_the_agents_own(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path / "state")
    try:
        keeping.process.terminate()
        keeping.process.wait()
        keeping.start(SECRET_OF_THE_AGENT="1", TZ="Europe/Berlin")
        keeping.connect()
        env = {"BELVEDERE_JOB_ID": "j", "PATH": "/usr/bin:/bin", "BELVEDERE_FENCE": "forged"}
        runas = ["cat", "/proc/self/environ", "%script%"]
        log = keeping.run("", env=env, runas=runas)["log"]
    finally:
        keeping.end()
    found = dict(each.split("=", 1) for each in log.rstrip("\ufffd").split("\ufffd"))
    assert found.pop("HOME") == pwd.getpwuid(os.getuid()).pw_dir
    assert found.pop("USER") == found.pop("LOGNAME")
    assert found.pop("BELVEDERE_COOKIE").endswith(".101")
    assert found.pop("BELVEDERE_FILES").endswith(".files")
    assert found.pop("SHELL")
    assert found == {
        "BELVEDERE_JOB_ID": "j",
        "PATH": "/usr/bin:/bin",
        "BELVEDERE_FENCE": "101",
        "LANG": "C.UTF-8",
        "TZ": "Europe/Berlin",
    }


def test_every_job_finds_an_empty_folder_that_is_gone_afterwards(keeping: Keeping) -> None:
    script = (
        "#!/bin/sh\npwd; ls -A; umask; stat -c %a .; mkdir -p a/b/c; touch x a/b/y; chmod 0 a\n"
    )
    first = keeping.run(script)["log"].splitlines()
    second = keeping.run(script)["log"].splitlines()
    assert first[1:] == second[1:] == ["0022", "700"]
    # Removed on the spot or by rm a moment later: its end is the next thing that happens.
    keeping.run("#!/bin/sh\nsleep 0.2\n")
    assert not Path(first[0]).exists()
    assert not Path(second[0]).exists()


def test_an_untouched_folder_serves_the_next_job(keeping: Keeping) -> None:
    assert keeping.run("#!/bin/sh\npwd\n")["log"] == keeping.run("#!/bin/sh\npwd\n")["log"]


@pytest.mark.parametrize("deed", ["chmod 755 .", "touch x", "touch x; rm x; chmod 711 ."])
def test_a_touched_folder_does_not(keeping: Keeping, deed: str) -> None:
    first = keeping.run(f"#!/bin/sh\npwd\n{deed}\n")["log"]
    assert keeping.run("#!/bin/sh\npwd; ls -A; stat -c %a .\n")["log"] != first + "700\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_of_a_script_stays_open_in_the_keeper(keeping: Keeping) -> None:
    def held() -> int:
        # The answer to a hello is told in a turn behind the one that tidied up.
        keeping.hello()
        return len(os.listdir(f"/proc/{keeping.pid}/fd"))

    keeping.run("#!/bin/sh\n")
    before = held()
    keeping.run("#!/no/such/thing\n")
    for script in ("exit 3", "echo x", "echo x; sleep 0.1; echo y", "exec >&- 2>&-; sleep 0.1"):
        keeping.run(f"#!/bin/sh\n{script}\n")
        assert held() == before


def test_file_arguments_lie_in_the_working_folder(keeping: Keeping) -> None:
    blob = keeping.script("the bytes", "blob")
    blobs = [
        {"index": 0, "filename": "../../etc/passwd", "path": str(blob)},
        {"index": 2, "filename": "passwd", "path": str(blob)},
    ]
    script = '#!/bin/sh\npwd; echo "$@"; cat "$1" "$3"; echo changed > "$1"\n'
    log = keeping.run(script, "", "between", "", blobs=blobs)["log"]
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
def test_what_cannot_start_says_why(
    keeping: Keeping, fields: dict[str, Any], reason: str, words: str
) -> None:
    report = keeping.run(**fields)
    assert (report["ending"], report["reason"]) == ("error", reason)
    assert words in report["message"]
    assert keeping.run("#!/bin/sh\necho fine\n")["log"] == "fine\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run scripts as others")
def test_it_runs_as_another_user(keeping: Keeping) -> None:
    _open_to_others(keeping)
    blob = keeping.script("given", "blob")
    report = keeping.run(
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


def _open_to_others(keeping: Keeping) -> None:
    """The test's own folder is closed to others; the state folder of a real agent is not."""
    for folder in Path(keeping.folder.root).parents:
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)


def test_a_signal_from_elsewhere_is_an_exit(keeping: Keeping) -> None:
    report = keeping.run("#!/bin/sh\nkill -INT $$\nsleep 1\n")
    assert (report["ending"], report["code"], report["signal"]) == ("exit", 130, "SIGINT")


def test_a_known_fence_never_runs_again(keeping: Keeping, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = f"#!/bin/sh\necho x >> {ran}\n"
    fence = keeping.order(script)
    keeping.order(script, fence=fence)
    keeping.report(fence)
    keeping.say(do="ack", fences=[fence])
    keeping.order(script, fence=fence)
    keeping.wait(lambda m: m == {"say": "gone", "fence": fence})
    keeping.run("#!/bin/sh\n")
    assert ran.read_text() == "x\n"


def test_orders_of_another_session_are_dropped(keeping: Keeping) -> None:
    fence = keeping.order("#!/bin/sh\n", session=2)
    keeping.wait(lambda m: m == {"say": "gone", "fence": fence})
    assert keeping.hello(session=2)["entries"] == []
    assert keeping.run("#!/bin/sh\n", fence=fence, session=2)["ending"] == "exit"


def test_what_an_agent_left_unread_is_never_accepted(keeping: Keeping) -> None:
    """Another agent has already been told that nothing is held."""
    os.kill(keeping.pid, signal.SIGSTOP)
    fence = keeping.order(SLEEP)
    waking = threading.Timer(0.1, os.kill, (keeping.pid, signal.SIGCONT))
    waking.start()
    state = keeping.connect()
    waking.join()
    accepted = [entry["fence"] for entry in state["entries"]]
    later = [entry["fence"] for entry in keeping.hello()["entries"]]
    assert accepted == later
    assert set(accepted) <= {fence}


def test_the_state_lists_the_running_scripts(keeping: Keeping) -> None:
    live = keeping.order(SLEEP)
    ended = keeping.order("#!/bin/sh\necho over\n")
    keeping.report(ended)
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    state = keeping.connect()
    assert state["containment"] == "subreaper"
    assert state["highest"] == ended
    by_fence = {entry["fence"]: entry for entry in state["entries"]}
    assert set(by_fence) == {live, ended}
    assert by_fence[live]["report"] is None
    assert by_fence[live]["age_ms"] >= 50
    assert by_fence[ended]["report"]["lastline"] == "over"
    keeping.say(do="ack", fences=[ended, live])
    assert [entry["fence"] for entry in keeping.hello()["entries"]] == [live]


def test_output_is_shown_while_the_script_runs(keeping: Keeping) -> None:
    fence = keeping.order("#!/bin/sh\necho early\nexec sleep 300\n")
    shown = keeping.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    assert shown["total"] == 6
    segment = Path(keeping.folder.spool) / str(fence) / "0.seg"
    assert segment.read_bytes() == bytes(8) + b"early\n"
    keeping.say(do="cancel", fence=fence)
    report = keeping.report(fence)
    assert "log" not in report
    assert (report["bytes_total"], report["lastline"]) == (6, "early")
    keeping.say(do="ack", fences=[fence])
    keeping.run("#!/bin/sh\n")
    assert not segment.exists()


def test_a_newer_attempt_of_a_job_waits_until_the_older_is_gone(
    keeping: Keeping, tmp_path: Path
) -> None:
    script = (
        f"#!/bin/sh\ntrap 'sleep 0.1; echo end >> {tmp_path}/log; exit' TERM\n"
        f'echo begin >> {tmp_path}/log\n[ "$1" ] && exit\nsleep 300 & wait\n'
    )
    older = keeping.order(script, job_id="same")
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == older)
    newer = keeping.order(script, "quick", job_id="same")
    assert keeping.report(newer)["ending"] == "exit"
    assert (tmp_path / "log").read_text() == "begin\nend\nbegin\n"
    assert [entry["fence"] for entry in keeping.connect()["entries"]] == [newer]


def test_without_a_journal_nothing_starts(keeping: Keeping, tmp_path: Path) -> None:
    keeping.run("#!/bin/sh\n")
    full = (16, resource.RLIM_INFINITY)
    resource.prlimit(keeping.pid, resource.RLIMIT_FSIZE, full)
    fence = keeping.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    report = keeping.report(fence)
    assert (report["ending"], report["reason"]) == ("error", "disk_full")
    free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(keeping.pid, resource.RLIMIT_FSIZE, free)
    assert keeping.run("#!/bin/sh\necho again\n")["log"] == "again\n"
    assert not (tmp_path / "ran").exists()
    assert [entry["fence"] for entry in keeping.hello()["entries"]] == [fence]


def test_a_second_keeper_refuses_with_one_sentence(keeping: Keeping) -> None:
    words = [sys.executable, "-m", "belvedere.agent.keeper.program", "--state", keeping.folder.root]
    second = subprocess.run(words, capture_output=True, text=True, check=False)
    assert second.returncode == 3
    assert second.stdout == f"Another keeper uses {keeping.folder.root}.\n"


def test_it_retires_when_nothing_runs(keeping: Keeping) -> None:
    fence = keeping.order("#!/bin/sh\nsleep 0.2\nexit 7\n")
    keeping.say(do="retire")
    assert keeping.process.wait(5) == 0
    keeping.start()
    entries = keeping.connect()["entries"]
    assert [(entry["fence"], entry["report"]["code"]) for entry in entries] == [(fence, 7)]


def test_another_enrolment_is_another_journal(keeping: Keeping) -> None:
    live = keeping.order(SLEEP)
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == live)
    former = keeping.state["journal_id"]
    state = keeping.hello(owner="another host")
    assert state["journal_id"] != former
    keeping.wait(lambda m: m == {"say": "gone", "fence": live})
    assert keeping.left() == []
    keeping.kill()
    keeping.start()
    assert keeping.connect(owner="another host")["journal_id"] == state["journal_id"]


def test_it_ends_by_itself_when_nobody_needs_it(keeping: Keeping) -> None:
    keeping.kill()
    keeping.start("from belvedere.agent.keeper import program\nprogram.IDLE_EXIT = 200_000_000")
    keeping.connect()
    fence = keeping.order("#!/bin/sh\n")
    keeping.report(fence)
    keeping.hang_up()
    with pytest.raises(subprocess.TimeoutExpired):
        keeping.process.wait(0.5)
    keeping.connect()
    keeping.say(do="ack", fences=[fence])
    keeping.hello()
    keeping.hang_up()
    assert keeping.process.wait(5) == 0


def test_where_there_is_no_subreaper_the_group_is_what_it_can_end(keeping: Keeping) -> None:
    keeping.kill()
    keeping.start(
        "from belvedere.agent.processes import groups\ngroups.TreeTracking = groups.GroupTracking"
    )
    assert keeping.connect()["containment"] == "group"
    report = keeping.run("#!/bin/sh\nsleep 300 &\necho said\n")
    assert (report["ending"], report["lastline"]) == ("exit", "said")
    fence = keeping.order("#!/bin/sh\ntrap '' TERM\nsleep 300; sleep 300\n", grace_ms=50)
    keeping.wait(lambda m: m["say"] == "started" and m["fence"] == fence)
    keeping.say(do="cancel", fence=fence)
    assert keeping.report(fence)["ending"] == "canceled"
    assert keeping.left() == []


def test_no_two_scripts_carry_the_same_mark() -> None:
    spawner = Spawner("cookie", (819_200, 819_200))
    marks = [spawner.mark() for _ in range(MARKS)]
    assert len(set(marks)) == MARKS
    assert spawner.mark() == 0
    spawner.release(marks[5])
    assert spawner.mark() == marks[5]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_script_begins_with_every_signal_at_its_default(keeping: Keeping) -> None:
    keeping.process.terminate()
    keeping.process.wait()
    ignored = "for one in (3, 10, 13, 15, 20, 40): signal.signal(one, signal.SIG_IGN)"
    keeping.start(f"import signal\n{ignored}")
    keeping.connect()
    assert _held_off(keeping, os_user="") == 0
    if os.geteuid() == 0:
        _open_to_others(keeping)
        assert _held_off(keeping, os_user="nobody") == 0


def _held_off(keeping: Keeping, os_user: str) -> int:
    """The signals that a script begins with ignored or blocked."""
    report = keeping.run("#!/bin/sh\nexec cat /proc/self/status\n", os_user=os_user)
    seen = dict(line.split(":\t") for line in report["log"].splitlines())
    # The C library keeps 32 and 33 to itself.
    return (int(seen["SigIgn"], 16) & ~(3 << 31)) | int(seen["SigBlk"], 16)
