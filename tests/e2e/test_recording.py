"""The picture at the top of the README is a recording of this test: a job whose server is killed.

`make pictures` writes it.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from e2e.programs import EMAIL, PASSWORD, environment
from e2e.recording import Recording
from e2e.wait_until import until
from e2e.world import World

ROOT = Path(__file__).parents[2]
NAME = "kill.svg"
ADDRESS = "http://127.0.0.1:8420"
STEPS = 5
SCRIPT = f"""#!/bin/sh
for n in $(seq {STEPS}); do echo "$(date +%T)  step $n of {STEPS}"; sleep 1; done
"""
LABEL = (
    "Two terminals. In the first a job prints five steps, one per second. In the second the server"
    " is killed with kill -9 after step 2 and started again after the script has ended. The first"
    " reconnects and prints steps 3 to 5, which ran while there was no server, and the result."
)
# What differs from run to run.
VARIABLE = ((r"\d\d:\d\d:\d\d", "TIME"), (r"\b[0-9a-f]{24}\b", "JOB"), (r"after [\d.]+ s", "after"))


def test_a_script_does_not_notice_that_its_server_is_killed(tmp_path: Path) -> None:
    with World(tmp_path / "world", verb="up") as world:
        assert world.start("--no-demo")
        recording = _record(world, tmp_path)
        (job,) = world.api.get("/job")
        log = world.log(job["id"]).decode()
    assert (job["state"], job["attempt_count"]) == ("normal", 1)
    assert [line.split("  ")[1] for line in log.splitlines()] == [
        f"step {number} of {STEPS}" for number in range(1, STEPS + 1)
    ]
    picture = Path(os.environ.get("PICTURES") or ROOT / "docs" / "img") / NAME
    if os.environ.get("PICTURES"):
        picture.write_text(recording.svg(LABEL))
    matches = re.findall(r'xml:space="preserve"[^>]*>(.*)</text>', picture.read_text())
    assert sorted(map(_constant, matches)) == sorted(map(_constant, recording.texts())), (
        "the output has changed; run: make pictures"
    )


def _record(world: World, folder: Path) -> Recording:
    recording = Recording(("terminal 1", "terminal 2"))
    agent = world.local_agent()
    env = environment(
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        HOME=str(folder),
        COLUMNS="90",
        NO_COLOR="1",
    )
    (folder / "count.sh").write_text(SCRIPT)
    _call(folder, env, f"{PASSWORD}\n", "login", "--server", world.url, "--email", EMAIL)
    host = agent.hostname
    _call(folder, env, "", "task", "create", "count", "--host", host, "--script", "count.sh")
    started_at = time.monotonic()

    def note(terminal: int, kind: str, text: str) -> None:
        text = text.rstrip("\n").replace(world.url, ADDRESS).replace(world.server.url, ADDRESS)
        recording.add(time.monotonic() - started_at, terminal, kind, text)

    note(0, "command", "$ belvedere run count --follow")
    words = ("belvedere", "run", "count", "--follow")
    with subprocess.Popen(
        words, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as follower:
        assert follower.stdout is not None
        for line in follower.stdout:
            note(0, "note" if line.startswith("belvedere:") else "output", line)
            if "step 2 of" in line:
                note(1, "command", f"{_now()} $ kill -9 $(pgrep -of 'belvedere up')")
                world.server.kill()
            elif "Reconnecting" in line:
                until(lambda: not agent.scripts())
                note(1, "output", f"{_now()} $ # the script has ended without the server")
                note(1, "command", f"{_now()} $ belvedere up")
                assert world.start("--no-demo")
                note(1, "output", f"Belvedere is ready at {world.server.url}")
    assert follower.returncode == 0
    return recording


def _call(folder: Path, env: dict[str, str], typed: str, *words: str) -> None:
    subprocess.run(("belvedere", *words), cwd=folder, env=env, input=typed, text=True, check=True)


def _now() -> str:
    return time.strftime("%H:%M:%S")


def _constant(text: str) -> str:
    text = text.replace("&#x27;", "'").replace("&gt;", ">").replace("&amp;", "&")
    for pattern, name in VARIABLE:
        text = re.sub(pattern, name, text)
    return text
