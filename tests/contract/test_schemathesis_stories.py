"""Schemathesis goes on from what it was answered: it makes things, changes them, and asks for what
is gone."""

import asyncio
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import Case, Response

import engines
from belvedere.access import Keys, Turnstile
from belvedere.db.migrate import open_database
from belvedere.server.build import furnish
from belvedere.server.house import House
from belvedere.server.settings import Settings
from contract import doors
from contract.estate import settle
from contract.matrix import PRINCIPALS
from contract.serving import Watch, at_once
from contract.swarm import Swarm, letter_of, mend
from contract.world import World
from handclock import HandClock
from notifications.fakecouriers import FakeCouriers

FILES = ("belvedere.db", "logs.db")
# Who can do more is heard more often.
WEIGHTS = {"admin": 20, "owner": 4, "manager": 3, "integration token": 3, "agent": 3}
PEOPLE = [one for one in PRINCIPALS for _ in range(WEIGHTS.get(one.name, 1))]


@dataclass(frozen=True)
class Stage:
    """Where stories are told; each begins in the same house."""

    swarm: Swarm
    world: World
    folder: Path
    settings: Settings
    keys: Keys

    @contextmanager
    def house(self) -> Iterator[House]:
        copies = [
            shutil.copyfile(self.folder / f"settled-{name}", self.folder / f"story-{name}")
            for name in FILES
        ]
        db, logs = [open_database(str(copy)) for copy in copies]
        hands = HandClock()
        db.clock = hands
        house = furnish(self.settings, db, logs, self.keys, hands)
        house.turnstile = Turnstile(house.limits, at_once)
        house.couriers = FakeCouriers()
        yield house
        engines.closed(db)
        engines.closed(logs)
        for leftover in self.folder.glob("story-*"):
            leftover.unlink()

    def begin(self, story: Any) -> None:
        story.steps, story.house = 0, self.house()
        self.swarm.world = self.world.beside(story.house.__enter__())

    def end(self, story: Any) -> None:
        story.house.__exit__(None, None, None)

    def call(self, story: Any, case: Case[Any], **_: Any) -> Response:
        """Somebody does it. Who, follows from the story so far: told again, it goes the same."""
        story.steps += 1
        mark = f"{story.steps} {case.operation.label} {len(str(case.body))}"
        number = zlib.crc32(mark.encode())
        principal = PEOPLE[number % len(PEOPLE)]
        here, _there = doors.home(self.swarm.estate, principal)
        if "customer" in case.query:
            case.query["customer"] = here.name
        if number % 3:
            good = doors.bodies(self.swarm.estate, here)
            mend(case, good.get(case.operation.label), number)
        return self.swarm.send(case, letter_of(case), principal, None)


@pytest.fixture
def stage(
    world: World,
    watch: Watch,
    quick_passwords: None,
    tmp_path: Path,
    settings: Settings,
    keys: Keys,
) -> Iterator[Stage]:
    estate = world.house.db.write_now(settle, world.house, world.cast, world.things)
    for name in FILES:
        with (
            closing(sqlite3.connect(tmp_path / name)) as open_one,
            closing(sqlite3.connect(tmp_path / f"settled-{name}")) as kept,
        ):
            open_one.backup(kept)
    with asyncio.Runner() as runner:
        yield Stage(Swarm(world, estate, watch, runner), world, tmp_path, settings, keys)


def tell(stage: Stage, stories: int) -> None:
    # The other style leads to the same handlers, and would make four times as many links.
    schema = stage.swarm.schema.exclude(path_regex=r"^/\{customer\}")
    how = {
        "setup": stage.begin,
        "call": stage.call,
        "teardown": stage.end,
        # The swarm has judged the answer already.
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
    # A story that goes another way when it is told again ends the telling; what was answered
    # until then has been judged.
    with suppress(FlakyStrategyDefinition):
        story.run(settings=rules)
    assert not stage.swarm.faults, "\n".join(stage.swarm.faults.values())
    assert stage.swarm.statuses[200] > stage.swarm.statuses.total() / 10, stage.swarm.statuses


def _methods(how: dict[str, Any]) -> dict[str, Any]:
    """Functions as methods: only those get the story as their first argument."""

    def bound(step: Any) -> Any:
        return lambda story, *a, **k: step(story, *a, **k)

    return {name: bound(step) for name, step in how.items()}


@pytest.mark.limit(300)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_it_works(stage: Stage) -> None:
    """On SQLite: each story gets a copy of a file."""
    tell(stage, 25)


@pytest.mark.prove
@pytest.mark.limit(900)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_many_stories_find_nothing(stage: Stage) -> None:
    tell(stage, 500)
