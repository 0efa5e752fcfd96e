"""Schemathesis continues from earlier responses: it creates records, changes them, and requests
deleted ones."""

import asyncio
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import Case, Response

import engines
from belvedere.access import Keyring, PasswordChecker
from belvedere.db.migrate import open_database
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build_runtime
from belvedere.settings import Settings
from contract import valid_requests
from contract.fixtures_all_kinds import settle
from contract.matrix import PRINCIPALS
from contract.schemathesis_runner import SchemathesisRun, letter_of, mend
from contract.serving import LogRecorder, at_once
from contract.world import World
from egress.fake_pool import FakeEgressPool
from manual_clock import ManualClock

FILES = ("belvedere.db", "logs.db")
# A principal with more permissions is drawn more often.
WEIGHTS = {"admin": 20, "owner": 4, "manager": 3, "integration token": 3, "agent": 3}
PEOPLE = [principal for principal in PRINCIPALS for _ in range(WEIGHTS.get(principal.name, 1))]


@dataclass(frozen=True)
class StoryRunner:
    """The server on which stories run; each begins with the same data."""

    swarm: SchemathesisRun
    world: World
    # Files of the main database and the log store.
    copies: Callable[[], AbstractContextManager[list[str]]]
    settings: Settings
    keys: Keyring

    @contextmanager
    def runtime(self) -> Iterator[ServerRuntime]:
        with self.copies() as urls:
            db, logs = [open_database(url) for url in urls]
            hands = ManualClock()
            db.clock = hands
            runtime = build_runtime(self.settings, db, logs, self.keys, hands)
            runtime.passwords = PasswordChecker(runtime.limits, at_once)
            runtime.egress = FakeEgressPool()
            yield runtime
            engines.close(db)
            engines.close(logs)

    def begin(self, story: Any) -> None:
        story.steps, story.runtime = 0, self.runtime()
        self.swarm.world = self.world.beside(story.runtime.__enter__())

    def end(self, story: Any) -> None:
        story.runtime.__exit__(None, None, None)

    def call(self, story: Any, case: Case[Any], **_: Any) -> Response:
        """Somebody sends it. Who follows from the story so far: if it is repeated, it is the same
        principal."""
        story.steps += 1
        mark = f"{story.steps} {case.operation.label} {len(str(case.body))}"
        number = zlib.crc32(mark.encode())
        principal = PEOPLE[number % len(PEOPLE)]
        here, _there = valid_requests.home(self.swarm.fixtures, principal)
        for named in (case.query, case.path_parameters):
            if "customer" in named:
                named["customer"] = here.name
        if number % 3:
            good = valid_requests.bodies(self.swarm.fixtures, here)
            mend(case, good.get(case.operation.label.replace("/{customer}", "")), number)
        return self.swarm.send(case, letter_of(case), principal, None)


@contextmanager
def files(folder: Path) -> Iterator[list[str]]:
    copies = [folder / f"story-{name}" for name in FILES]
    for name, copy in zip(FILES, copies, strict=True):
        shutil.copyfile(folder / f"settled-{name}", copy)
    yield [str(copy) for copy in copies]
    for leftover in folder.glob("story-*"):
        leftover.unlink()


def keep_files(folder: Path) -> None:
    for name in FILES:
        with (
            closing(sqlite3.connect(folder / name)) as open_one,
            closing(sqlite3.connect(folder / f"settled-{name}")) as connection,
        ):
            open_one.backup(connection)


@contextmanager
def databases(settled: str) -> Iterator[list[str]]:
    """On PostgreSQL both are one."""
    with engines.postgres_copy(settled) as copy:
        yield [copy, copy]


@pytest.fixture
def story_runner(
    world: World,
    watch: LogRecorder,
    quick_passwords: None,
    tmp_path: Path,
    settings: Settings,
    keys: Keyring,
    engine: str,
    database_url: str,
) -> Iterator[StoryRunner]:
    runtime = world.runtime
    fixtures = runtime.db.write_blocking(settle, runtime, world.actors, world.things)
    if engine == "sqlite":
        keep_files(tmp_path)
        copies = partial(files, tmp_path)
    else:
        # No connection may use a database that is copied.
        engines.close(runtime.db)
        engines.close(runtime.logs)
        copies = partial(databases, database_url)
    with asyncio.Runner() as runner:
        yield StoryRunner(
            SchemathesisRun(world, fixtures, watch, runner), world, copies, settings, keys
        )


def run_stories(stage: StoryRunner, stories: int, *, v1: bool) -> None:
    # Both styles at once would make four times as many links between the same handlers.
    style = {"path_regex": r"^/\{customer\}"}
    actual_schema = stage.swarm.schema
    schema = actual_schema.include(**style) if v1 else actual_schema.exclude(**style)
    how = {
        "setup": stage.begin,
        "call": stage.call,
        "teardown": stage.end,
        # The runner has checked the response already.
        "validate_response": lambda *_, **__: None,
    }
    story: Any = type("Story", (schema.as_state_machine(),), _methods(how))
    rules = hypothesis.settings(
        max_examples=stories,
        stateful_step_count=20,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    # A story that takes another course when it is repeated ends; the responses until then have been
    # checked.
    with suppress(FlakyStrategyDefinition):
        story.run(settings=rules)
    assert not stage.swarm.faults, "\n".join(stage.swarm.faults.values())
    # Otherwise nothing happened in them; a few stories may consist of refusals.
    statuses = stage.swarm.statuses
    assert statuses[200] + statuses[201] > statuses.total() / 50, statuses


def _methods(how: dict[str, Any]) -> dict[str, Any]:
    """Functions as methods: only those get the story as their first argument."""

    def bind(step: Any) -> Any:
        return lambda story, *a, **k: step(story, *a, **k)

    return {name: bind(step) for name, step in how.items()}


@pytest.mark.limit(300)
def test_generated_stories_follow_the_schema(story_runner: StoryRunner, engine: str) -> None:
    """Each engine with the URL style that the other does not use; files are copied faster."""
    if engine == "sqlite":
        run_stories(story_runner, 25, v1=False)
    else:
        run_stories(story_runner, 5, v1=True)


@pytest.mark.prove
@pytest.mark.limit(900)
@pytest.mark.parametrize("v1", [False, True])
def test_many_stories_find_nothing(story_runner: StoryRunner, engine: str, v1: bool) -> None:
    run_stories(story_runner, 250 if engine == "sqlite" else 40, v1=v1)
