"""A turn of the keeper with many steps, without sockets, disk and processes."""

from collections.abc import Callable
from typing import Any

import pytest

from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import (
    EndScript,
    SendMessage,
    SendState,
    SpawnScript,
    WriteRecord,
)
from belvedere.agent.journal.state import JournalState, replay
from belvedere.agent.keeper.program import BATCH_SIZE, Keeper
from belvedere.agent.processes.script import NEVER

COUNT = 3 * BATCH_SIZE + 1


class FakeEffects:
    """Everything that the keeper acts on: it records what was done, and every script ends at
    once."""

    unsynced = False
    is_sound = True

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self._running: list[int] = []
        self._written: list[int] = []

    def append(self, record: Any, *, sync: bool) -> None:
        self._written.append(record[1])

    def commit(self, _: JournalState, before_sync: Callable[[], None]) -> None:
        self.done += [("written", fence) for fence in self._written]
        if self._written:
            before_sync()
            self.done.append(("durable", self._written[-1]))
        self._written.clear()

    def prepare(self, order: Any) -> None:
        self.done.append(("prepared", order["fence"]))

    def discard_prepared(self) -> None:
        self.done.append(("discarded", 0))

    def start(self, order: Any) -> Any:
        self.done.append(("begun", order["fence"]))
        self._running.append(order["fence"])
        return []

    def end(self, fence: int, _: str) -> Any:
        self.done.append(("to end", fence))
        return self.reap()

    def reap(self) -> Any:
        over, self._running = self._running, []
        steps: list[Any] = []
        for fence in over:
            report = {"say": "ended", "fence": fence}
            steps += [WriteRecord(["ended", fence], sync=False), SendMessage(report)]
        return steps

    def send(self, message: Any) -> None:
        self.done.append(("told", message["fence"]))

    def flush(self) -> None:
        self.done.append(("flushed", 0))

    def tidy(self) -> None:
        self.done.append(("tidied", 0))


class BadDisk(FakeEffects):
    def commit(self, _: JournalState, before_sync: Callable[[], None]) -> None:
        if self._written:
            self._written.clear()
            before_sync()
            raise OSError("no room")


class ConnectedEffects(FakeEffects):
    """An agent that receives messages, and a keeper whose state is which scripts have ended."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def send(self, message: Any) -> None:
        super().send(message)
        self.heard.append(message)

    def state(self) -> Any:
        ended = [fence for text, fence in self.done if text == "written"]
        return {"say": "state", "fence": 0, "ended": ended}


def run_effects(*steps: Any, on: FakeEffects | None = None) -> list[tuple[str, int]]:
    stage = on or FakeEffects()
    keeper = keeper_on(stage)
    keeper._todo = list(steps)
    keeper._settle()
    return list(stage.done)


def keeper_on(stage: FakeEffects) -> Any:
    keeper: Any = Keeper.__new__(Keeper)
    keeper._journal = keeper._scripts = keeper._socket = stage
    keeper._journal_state = JournalState("j")
    keeper._todo, keeper._write_at = [], NEVER
    if isinstance(stage, ConnectedEffects):
        keeper._state_message = stage.state
    return keeper


def spawn(fence: int) -> SpawnScript:
    return SpawnScript({"fence": fence})


def test_a_batch_of_scripts_starts_at_once() -> None:
    assert run_effects(spawn(1)) == [("begun", 1)]
    assert run_effects(*map(spawn, range(BATCH_SIZE))) == [("begun", n) for n in range(BATCH_SIZE)]


def test_a_script_is_prepared_while_its_order_is_written() -> None:
    stage = FakeEffects()
    stage.append(["accepted", 1], sync=True)
    done = run_effects(spawn(1), spawn(2), on=stage)
    assert done == [
        ("written", 1),
        ("prepared", 1),
        ("durable", 1),
        ("begun", 1),
        ("begun", 2),
    ]


def test_a_prepared_script_whose_order_is_refused_is_discarded() -> None:
    stage = BadDisk()
    keeper = keeper_on(stage)
    replay(keeper._journal_state, ["accepted", 1, "j"])
    keeper._take([WriteRecord(["accepted", 1, "j"], sync=True), spawn(1)])
    keeper._settle()
    assert stage.done == [("prepared", 1), ("discarded", 0), ("told", 1)]


def test_an_order_that_waits_for_a_refused_one_is_refused_too() -> None:
    """Its record was in the same failed write."""
    stage = BadDisk()
    keeper = keeper_on(stage)
    keeper._journal_state.session = 1
    for fence in (1, 2):
        order = {"session": 1, "fence": fence, "job_id": "j"}
        keeper._take(rules.order(keeper._journal_state, order))
    keeper._settle()
    assert [fence for text, fence in stage.done if text == "told"] == [1, 2]
    assert "begun" not in [text for text, _ in stage.done]


def test_ends_are_written_and_reported_before_more_scripts_start() -> None:
    done = run_effects(*map(spawn, range(COUNT)))
    assert [fence for text, fence in done if text == "begun"] == list(range(COUNT))
    last = COUNT - 1
    assert [fence for any_text, fence in done if any_text == "told"] == list(range(last))
    for fence in range(last):
        begun, written, number = (done.index((w, fence)) for w in ("begun", "written", "told"))
        assert begun < written < number < done.index(("flushed", 0), number)
        follower = ("begun", (fence // BATCH_SIZE + 1) * BATCH_SIZE)
        assert done.index(("flushed", 0), number) < done.index(follower)


def test_effects_after_a_start_keep_their_order() -> None:
    done = run_effects(*map(spawn, range(COUNT)), EndScript(COUNT - 1, "canceled"))
    assert done.index(("to end", COUNT - 1)) > done.index(("begun", COUNT - 1))


def test_a_failing_disk_stops_no_accepted_job() -> None:
    done = run_effects(*map(spawn, range(COUNT)), on=BadDisk())
    assert [fence for text, fence in done if text == "begun"] == list(range(COUNT))


def test_the_state_includes_reports_sent_before_it() -> None:
    """An agent that has sent its hello ignores all messages before the state."""
    agent = ConnectedEffects()
    run_effects(*map(spawn, range(1, COUNT)), SendState(), on=agent)
    [at] = [n for n, message in enumerate(agent.heard) if message["say"] == "state"]
    before = [message["fence"] for message in agent.heard[:at]]
    assert before
    assert set(before) <= set(agent.heard[at]["ended"])


def test_an_ended_script_is_cleaned_up_after_its_report() -> None:
    done = run_effects(*map(spawn, range(COUNT)))
    assert [text for text, _ in done if text in ("flushed", "tidied")] == ["flushed", "tidied"] * 3
    for at in [at for at, (any_text, _) in enumerate(done) if any_text == "flushed"]:
        assert done[at + 1] == ("tidied", 0)


@pytest.mark.parametrize(
    ("unsynced", "is_sound", "stays"),
    [(False, True, False), (True, True, True), (False, False, True), (True, False, True)],
)
def test_a_sync_stays_scheduled_only_if_needed(unsynced: bool, is_sound: bool, stays: bool) -> None:
    stage: Any = FakeEffects()
    stage.unsynced, stage.is_sound = unsynced, is_sound
    keeper = keeper_on(stage)
    keeper._write_at = 5
    keeper._settle()
    assert keeper._write_at == (5 if stays else NEVER)
