"""The sample tasks: they can be created, and their scripts do what they say."""

import json
import subprocess
from pathlib import Path

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service
from belvedere.db import Database
from belvedere.hosts.model import HostRow
from belvedere.server.demo import sample_tasks
from belvedere.tasks.store import runnable
from people import Actors


def test_the_sample_tasks_are_created(
    db: Database, keys: Keyring, actors: Actors, host: HostRow
) -> None:
    operator = service.operator(actors.acme)
    new_tasks = db.write_blocking(sample_tasks.create_tasks, keys, operator, host.id)
    tasks = {
        name: db.write_blocking(runnable, actors.acme.id, new_tasks[name]) for name in new_tasks
    }
    assert [task.type for task in tasks.values() if task] == ["script"] * 5 + ["approval"]
    approval = tasks["Ask for approval"]
    assert approval is not None and approval.spec.approvers == [actors.olga.user_id]


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.sh"
    script.write_text(source)
    script.chmod(0o755)
    return subprocess.run([str(script), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("language, word", [("en", "Hello"), ("es", "Hola"), ("de", "Hallo")])
def test_the_greeting_script_greets(tmp_path: Path, language: str, word: str) -> None:
    done = run(tmp_path, sample_tasks.GREET, "Ada Lovelace", language)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"{word}, Ada Lovelace!")


def test_the_disk_script_prints_a_state_and_values(tmp_path: Path) -> None:
    last = json.loads(run(tmp_path, sample_tasks.DISK).stdout.splitlines()[-1])
    assert last["state"] in ("success", "failure")
    assert last["output"][0].isdigit() and last["output"][1]


def test_the_failing_script_fails(tmp_path: Path) -> None:
    done = run(tmp_path, sample_tasks.FAIL)
    assert (done.returncode, "There is none" in done.stderr) == (3, True)


def test_the_report_script_prints_its_arguments(tmp_path: Path) -> None:
    done = run(tmp_path, sample_tasks.REPORT, "42", "10G")
    assert done.stdout == "The root disk is 42% full, and 10G are free.\n"


def test_the_counting_script_prints_every_step(tmp_path: Path) -> None:
    quick = sample_tasks.COUNT.replace("sleep 1", ":")
    assert run(tmp_path, quick).stdout.splitlines()[-1] == "step 10 of 10"
