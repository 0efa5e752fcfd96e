"""A database restored from a backup: nothing that may have run since runs again by itself."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

import engines
import pgguard
import pgserver
from e2e.programs import Agent, run
from e2e.traced_job import TracedJob, list_unconfirmed, start_by_trigger
from e2e.wait_until import until
from e2e.world import World


class Backup:
    """By `belvedere backup` while the server runs, and by `belvedere restore`."""

    is_marked = True

    def __init__(self, world: World, database: str) -> None:
        self._world, self._database = world, database
        self._file = world.folder / "belvedere.zip"
        self._run("backup")

    def restore(self) -> None:
        """In place of the database of a server that was stopped; the key stays where it is."""
        if self._database:
            engines.empty_postgres(self._database)
        for name in ("belvedere.db", "logs.db"):
            for path in self._world.server.data.glob(f"{name}*"):
                path.unlink()
        self._run("restore")

    def _run(self, command: str) -> None:
        data = str(self._world.server.data)
        result = run(command, str(self._file), "--data", data, **self._world.server.env)
        assert result.returncode == 0, result


class Copy:
    """Copies the files of SQLite while the server runs; a PostgreSQL database is copied while it is
    stopped. It is not marked as restored."""

    is_marked = False

    def __init__(self, world: World, database: str) -> None:
        self._world, self._database = world, database
        self._folder = world.folder / "backup"
        if database:
            world.server.stop()
            engines.replace_postgres(self._copy, database)
            world.start()
            return
        self._folder.mkdir()
        for name in ("belvedere.db", "logs.db"):
            with contextlib.closing(sqlite3.connect(world.server.data / name)) as source:
                source.execute("vacuum into ?", (str(self._folder / name),))

    @property
    def _copy(self) -> str:
        return engines.backup_of(self._database)

    def restore(self) -> None:
        """Into a server that was stopped."""
        if self._database:
            engines.replace_postgres(self._database, self._copy)
            engines.drop_postgres(self._copy)
            return
        for name in ("belvedere.db", "logs.db"):
            for rest in self._world.server.data.glob(f"{name}-*"):
                rest.unlink()
            shutil.copy(self._folder / name, self._world.server.data / name)
            (self._world.server.data / name).chmod(0o600)


class Dump:
    """By pg_dump while the server runs, and by pg_restore into another PostgreSQL cluster."""

    is_marked = False

    def __init__(self, world: World, database: str, cluster: str) -> None:
        self._world, self._cluster = world, cluster
        self._file = world.folder / "belvedere.dump"
        _use_transactions(database)
        _run_client("pg_dump", "--format=custom", f"--file={self._file}", database)

    def restore(self) -> None:
        """Into an empty database, with which the server starts from now on."""
        url = engines.create_postgres(self._cluster, "restored")
        # As few transactions as possible: the numbers of this cluster must be the lower ones.
        _run_client("pg_restore", "--single-transaction", f"--dbname={url}", str(self._file))
        self._world.server.env["BELVEDERE_DATABASE"] = url


def _use_transactions(database: str) -> None:
    """So that the numbers of the events are above those of a new cluster."""
    with psycopg.connect(database, autocommit=True) as connection:
        for _ in range(2_000):
            connection.execute("select pg_current_xact_id()")


def _run_client(name: str, *words: str) -> None:
    done = subprocess.run(
        [pgserver.client_program(name), *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def mark_restored(world: World) -> None:
    done = run("mark-restored", "--data", str(world.server.data), **world.server.env)
    assert done.returncode == 0, done


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    with World(tmp_path, database) as new_world:
        new_world.start()
        yield new_world


AnyBackup = Backup | Copy | Dump


def restore(world: World, backup: AnyBackup, *, with_step: bool = True) -> None:
    """The server is stopped, and returns with the state of the backup."""
    world.server.kill()
    backup.restore()
    if with_step and not backup.is_marked:
        mark_restored(world)
    world.start()


@pytest.mark.limit(120)
@pytest.mark.parametrize("with_step", [True, False], ids=["restored", "copied"])
def test_nothing_that_ran_after_the_backup_runs_again(
    world: World, database: str, with_step: bool
) -> None:
    """With the commands, or with a copy that is not marked as restored."""
    kind = Backup if with_step else Copy
    run_jobs_around_a_restore(world, lambda: kind(world, database), with_step)


@pytest.mark.heavy
@pytest.mark.limit(180)
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("with_step", [True, False], ids=["with the step", "without the step"])
def test_nothing_that_ran_after_a_dump_runs_again(
    world: World, database: str, with_step: bool
) -> None:
    with pgguard.start_guarded() as cluster:
        run_jobs_around_a_restore(world, lambda: Dump(world, database, cluster), with_step)
        assert "events were renumbered" in world.server.read_log()
        world.server.stop()


def run_jobs_around_a_restore(
    world: World, back_up: Callable[[], AnyBackup], with_step: bool
) -> None:
    """Queued at the backup and finished after it; running all the time; created after it."""
    web = world.agent("web", "--slots", "1")
    running = TracedJob(world, web, "running").create().begins()
    queued = TracedJob(world, web, "queued").create()
    waiting = TracedJob(world, web, "waiting").create()
    later = TracedJob(world, web, "later")
    backup = back_up()
    running.ends()
    queued.begins().ends()
    waiting.begins()
    until(lambda: list_unconfirmed(web) == [waiting.job_id])
    restore(world, backup, with_step=with_step)
    world.wait_connected(web)
    # The agent still runs this one; the database has it as queued.
    until(lambda: waiting.record["lifecycle"] == "assigned", 20, lambda: waiting.record)
    assert running.ends()["state"] == "lost"
    assert running.record["ran"] == "maybe"
    assert queued.stands == ("onhold", "maybe", "restored")
    assert waiting.ends()["state"] == "normal"
    assert later.create().ends()["state"] == "normal"
    assert [item.starts for item in (running, queued, waiting, later)] == [1, 1, 1, 1]
    world.doctor()
    assert "held since the database was restored" in _doctor(world)["restore"]
    world.api.put(f"/job/{queued.job_id}/cancel")
    assert queued.stands[:2] == ("canceled", "maybe")
    start_by_trigger(world, web)


@pytest.mark.limit(120)
def test_jobs_run_when_their_host_proves_that_nothing_ran(world: World, database: str) -> None:
    web = world.agent("web", "--slots", "1")
    running = TracedJob(world, web, "running").create().begins()
    queued = TracedJob(world, web, "queued").create()
    restore(world, Backup(world, database))
    world.wait_connected(web)
    assert running.ends()["state"] == "normal"
    assert queued.ends()["ran"] == "yes"
    assert (running.starts, queued.starts) == (1, 1)


@pytest.mark.limit(120)
def test_a_host_that_was_rolled_back_too_proves_nothing(world: World, database: str) -> None:
    web = world.agent("web", "--slots", "1")
    queued, later = _queued_while_disabled(world, web), TracedJob(world, web, "later")
    backup = Backup(world, database)
    snapshot = world.folder / "snapshot"
    shutil.copytree(web.state, snapshot, ignore=shutil.ignore_patterns("*.sock"))
    _enable(world, web, is_on=True)
    queued.ends()
    until(lambda: list_unconfirmed(web) == [])
    world.server.kill()
    web.end()
    shutil.rmtree(web.state)
    shutil.copytree(snapshot, web.state)
    restore(world, backup)
    web.start(world.url)
    _enable(world, web, is_on=True)
    world.wait_connected(web)
    assert later.create().ends()["state"] == "normal"
    assert queued.stands == ("onhold", "maybe", "restored")
    assert queued.starts == 1


@pytest.mark.limit(120)
def test_an_admin_releases_all_held_jobs(world: World, database: str) -> None:
    web = world.agent("web")
    queued = _queued_while_disabled(world, web)
    backup = Backup(world, database)
    _enable(world, web, is_on=True)
    queued.ends()
    until(lambda: list_unconfirmed(web) == [])
    web.stop()
    restore(world, backup)
    assert queued.stands == ("onhold", "maybe", "restored")
    released = world.api.post("/job/release", {})
    assert released == {"released": 1, "more": False}
    web.start(world.url)
    _enable(world, web, is_on=True)
    world.wait_connected(web)
    assert queued.ends()["ran"] == "yes"
    assert queued.starts == 2


@pytest.mark.limit(120)
def test_a_backup_that_is_restored_twice_runs_nothing_again(world: World, database: str) -> None:
    """The second restore begins with the same epoch as the first: the fences that the agent has
    accepted in between exist already. The agent connects late each time."""
    web = world.agent("web")
    queued = _queued_while_disabled(world, web)
    backup = Backup(world, database)
    _enable(world, web, is_on=True)
    queued.ends()
    until(lambda: list_unconfirmed(web) == [])
    for name in ("between", "afterwards"):
        web.stop()
        restore(world, backup)
        web.start(world.url)
        _enable(world, web, is_on=True)
        until(lambda: _evidence(world) == [(queued.job_id, "accepted")])
        later = TracedJob(world, web, name).create()
        assert later.ends()["state"] == "normal"
        assert (queued.stands, later.starts) == (("onhold", "maybe", "restored"), 1)
    assert queued.starts == 1


def _evidence(world: World) -> list[tuple[str, str]]:
    return [(job["id"], job["evidence"]) for job in world.api.get("/job/held")["jobs"]]


def _queued_while_disabled(world: World, agent: Agent) -> TracedJob:
    _enable(world, agent, is_on=False)
    return TracedJob(world, agent, "queued").create()


def _enable(world: World, agent: Agent, *, is_on: bool) -> None:
    host = next(host for host in world.hosts() if host["hostname"] == agent.hostname)
    world.api.put(f"/host/{host['id']}/{'enable' if is_on else 'disable'}")


def _doctor(world: World) -> dict[str, str]:
    result = run("doctor", "--data", str(world.server.data), "--json", **world.server.env).stdout
    return {finding["check"]: finding["found"] for finding in json.loads(result)}
