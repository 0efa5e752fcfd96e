"""Hostile scripts: whatever they do, no process is left and the report is right."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from agent.keeper_process import KeeperHarness
from agent.processes import is_alive
from e2e.wait_until import until

FORKS = """#!/usr/bin/env python3
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("forking", flush=True)
while True:
    if os.fork() == 0:
        os.setsid()
    time.sleep(0.004)
    if len(os.listdir("/proc")) > 600:
        time.sleep(300)
"""
# Another session, another folder, no environment, no output: only the mark remains.
HIDES = (
    '(setsid env -i sh -c "cd /; exec sleep 300" </dev/null >/dev/null 2>&1 &)\n'
    "(setsid setsid env -i sh -c 'cd /; sleep 300 & sleep 300 & wait' <&- >&- 2>&- &)\n"
)


def start_script(keeper: KeeperHarness, source: str, **fields: object) -> int:
    """Ordered, and certainly running."""
    fence = keeper.order(source, **fields)
    keeper.wait(lambda m: m["say"] == "started" and m["fence"] == fence)
    return fence


def test_a_canceled_script_ends_with_sigterm(keeper: KeeperHarness) -> None:
    fence = start_script(keeper, "#!/bin/sh\nexec sleep 300\n")
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert (report["ending"], report["code"], report["signal"]) == ("canceled", 143, "SIGTERM")
    assert keeper.leftover_pids() == []


def test_a_script_that_ignores_term_is_killed_after_the_grace(keeper: KeeperHarness) -> None:
    fence = keeper.order_ready(
        "#!/bin/sh\ntrap '' TERM\nready\nwhile :; do sleep 1; done\n", grace_ms=200
    )
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert (report["ending"], report["signal"]) == ("canceled", "SIGKILL")
    assert keeper.leftover_pids() == []


def test_the_timeout_ends_the_process_tree(keeper: KeeperHarness) -> None:
    script = "#!/bin/bash\n(trap '' TERM; sleep 300) & (sleep 300 & sleep 300) & wait\n"
    report = keeper.run(script, timeout_ms=100, grace_ms=100)
    assert report["ending"] == "timeout"
    assert report["elapsed_ns"] >= 100_000_000
    assert keeper.leftover_pids() == []


def test_a_script_that_cleans_up_on_term_keeps_its_exit_code(keeper: KeeperHarness) -> None:
    fence = keeper.order_ready("#!/bin/sh\ntrap 'echo bye; exit 5' TERM\nready\nsleep 300 & wait\n")
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert (report["ending"], report["code"], report["lastline"]) == ("canceled", 5, "bye")


def test_a_shell_gets_sigterm_before_its_children_end(keeper: KeeperHarness) -> None:
    fence = keeper.order_ready(
        "#!/bin/sh\ntrap 'echo bye; exit 5' TERM\nready\n"
        "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 300 & sleep 300 & sleep 300 & done\n"
        "sleep 300\necho went on\n",
    )
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert (report["ending"], report["code"], report["lastline"]) == ("canceled", 5, "bye")
    assert keeper.leftover_pids() == []


def test_processes_outside_the_group_get_sigterm_too(keeper: KeeperHarness) -> None:
    """With a grace period that nobody waits for."""
    fence = start_script(keeper, "#!/bin/sh\nsetsid sleep 300 &\nwait\n", grace_ms=3_600_000)
    keeper.send_messages(do="cancel", fence=fence)
    assert keeper.report(fence)["ending"] == "canceled"
    assert keeper.leftover_pids() == []


def test_a_script_that_ended_before_the_cancel_has_exited(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\nexit 4\n")
    report = keeper.report(fence)
    keeper.send_messages(do="cancel", fence=fence)
    assert (report["ending"], report["code"]) == ("exit", 4)


def test_a_stopped_script_still_gets_sigterm(keeper: KeeperHarness) -> None:
    fence = keeper.order_ready("#!/bin/sh\ntrap 'exit 9' TERM\nready\nkill -STOP $$\nsleep 300\n")
    keeper.send_messages(do="cancel", fence=fence)
    assert keeper.report(fence)["code"] == 9


def test_background_children_end_with_their_script(keeper: KeeperHarness) -> None:
    report = keeper.run("#!/bin/sh\nsleep 300 &\n(sleep 300 &)\necho done\n")
    assert (report["ending"], report["code"], report["log"]) == ("exit", 0, "done\n")
    assert keeper.leftover_pids() == []


def test_a_child_that_holds_the_output_open_delays_nothing(keeper: KeeperHarness) -> None:
    began = time.monotonic()
    report = keeper.run("#!/bin/sh\nsetsid sh -c 'trap \"\" TERM; sleep 300' &\necho said\n")
    assert time.monotonic() - began < 30
    assert report["log"] == "said\n"
    assert report["elapsed_ns"] < 30_000_000_000
    assert keeper.leftover_pids() == []


@pytest.mark.parametrize("beside", [True, False])
def test_daemons_that_hide_are_found(keeper: KeeperHarness, beside: bool) -> None:
    if beside:
        other = start_script(keeper, "#!/bin/sh\nexec sleep 300\n")
    report = keeper.run(f"#!/bin/sh\n{HIDES}sleep 0.2\necho done\n")
    assert report["lastline"] == "done"
    assert len(keeper.leftover_pids()) == (1 if beside else 0)
    if beside:
        keeper.send_messages(do="cancel", fence=other)
        keeper.report(other)
    assert keeper.leftover_pids() == []


def test_two_hundred_children_are_gone_at_once(keeper: KeeperHarness) -> None:
    script = "#!/bin/bash\nfor i in {1..200}; do sleep 300 & done\necho forked\nwait\n"
    fence = keeper.order(script)
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    # A process has no command line while it replaces bash by sleep.
    until(lambda: len(keeper.leftover_pids()) == 201, 30, lambda: str(keeper.leftover_pids()))
    keeper.send_messages(do="cancel", fence=fence)
    assert keeper.report(fence)["ending"] == "canceled"
    assert keeper.leftover_pids() == []


def test_a_script_that_forks_all_the_time_does_not_get_away(keeper: KeeperHarness) -> None:
    fence = keeper.order(FORKS, grace_ms=100)
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert report["ending"] == "canceled"
    assert "survivors" not in report
    assert keeper.leftover_pids() == []


def test_daemonize_lets_background_children_live_and_write(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    script = (
        "#!/bin/bash\n"
        "(while :; do echo alive || exit; [ -e $1/go ] && touch $1/went; sleep 0.05; done) &\n"
        "echo $! > $1/pid\n"
    )
    report = keeper.run(script, str(tmp_path), daemonize=True)
    assert report["ending"] == "exit"
    pid = int((tmp_path / "pid").read_text())
    keeper.run(f"#!/bin/sh\n{HIDES}")
    keeper.run("#!/bin/sh\nsleep 300 &\n")
    (tmp_path / "go").touch()
    keeper.run("#!/bin/sh\nuntil [ -e $1/went ]; do sleep 0.01; done\n", str(tmp_path))
    assert is_alive(pid)
    os.kill(pid, 9)


def test_a_script_may_remove_its_own_folder(keeper: KeeperHarness) -> None:
    script = '#!/bin/sh\nsleep 300 &\nrmdir "$PWD"\n'
    assert keeper.run(script, daemonize=True)["ending"] == "exit"
    assert keeper.run(script)["ending"] == "exit"
    assert keeper.run("#!/bin/sh\necho fine\n")["log"] == "fine\n"


def test_daemonize_spares_nothing_on_cancel(keeper: KeeperHarness) -> None:
    fence = start_script(keeper, "#!/bin/sh\nsetsid sleep 300 & sleep 300\n", daemonize=True)
    keeper.send_messages(do="cancel", fence=fence)
    keeper.report(fence)
    assert keeper.leftover_pids() == []


def test_stop_ends_it_without_a_report(keeper: KeeperHarness) -> None:
    fence = start_script(keeper, "#!/bin/sh\nexec sleep 300\n")
    keeper.send_messages(do="stop", fence=fence)
    keeper.wait(lambda m: m == {"say": "gone", "fence": fence})
    assert keeper.leftover_pids() == []
    assert keeper.hello()["entries"] == []


def test_a_flood_leaves_memory_flat_and_the_count_correct(keeper: KeeperHarness) -> None:
    keeper.run("#!/bin/sh\nhead -c 3M /dev/zero\n")
    before = keeper.resident_kib()
    peak = 0
    fence = keeper.order("#!/bin/sh\nhead -c 300M /dev/zero | tr '\\0' x\necho\necho over\n")
    while not any(m["say"] == "ended" and m["fence"] == fence for m in keeper.heard):
        keeper.hear_once()
        peak = max(peak, keeper.resident_kib())
    report = keeper.report(fence)
    digest = hashlib.sha256()
    for _ in range(300):
        digest.update(b"x" * 1024 * 1024)
    digest.update(b"\nover\n")
    assert report["sha256"] == digest.hexdigest()
    assert report["bytes_total"] == 300 * 1024 * 1024 + 6
    assert (report["lines_total"], report["lastline"]) == (2, "over")
    assert peak - before < 8 * 1024
    folder = Path(keeper.folder.spool) / str(fence)
    spooled = sum(path.stat().st_size for path in folder.iterdir())
    assert spooled <= 100 * 1024 * 1024 + 4096
    assert (folder / "0.seg").exists()


def test_a_flood_does_not_hold_up_other_scripts(keeper: KeeperHarness) -> None:
    flood = start_script(keeper, "#!/bin/sh\nexec cat /dev/zero\n")
    for _ in range(20):
        report = keeper.run("#!/bin/sh\necho quick\n")
        assert report["log"] == "quick\n"
        assert report["elapsed_ns"] < 30_000_000_000
    keeper.send_messages(do="cancel", fence=flood)
    assert keeper.report(flood)["ending"] == "canceled"


def test_one_huge_line_is_cut_to_the_limit_of_a_report(keeper: KeeperHarness) -> None:
    report = keeper.run("#!/bin/sh\nhead -c 50M /dev/zero | tr '\\0' x\n")
    assert report["lastline"] == "x" * 256 * 1024
    assert (report["bytes_total"], report["lines_total"]) == (50 * 1024 * 1024, 1)


def test_bytes_that_are_no_text_are_replaced(keeper: KeeperHarness) -> None:
    report = keeper.run("#!/bin/sh\nprintf 'a\\000b\\377c\\n'\n")
    assert report["lastline"] == "a\ufffdb\ufffdc"
    assert report["sha256"] == hashlib.sha256(b"a\0b\xffc\n").hexdigest()


def test_characters_that_arrive_byte_by_byte_are_decoded(keeper: KeeperHarness) -> None:
    script = '#!/bin/sh\nfor b in 342 202 254 303 251; do printf "\\\\$b"; sleep 0.03; done\necho\n'
    fence = keeper.order(script)
    report = keeper.report(fence)
    assert report["lastline"] == "€é"
    segment = Path(keeper.folder.spool) / str(fence) / "0.seg"
    assert segment.read_bytes()[8:].decode() == "€é\n"


def test_a_script_may_close_its_output_and_run_on(keeper: KeeperHarness) -> None:
    fence = start_script(keeper, "#!/bin/sh\necho first\nexec >&- 2>&-\nsleep 0.2\nexit 6\n")
    report = keeper.report(fence)
    assert (report["code"], report["lastline"]) == (6, "first")
