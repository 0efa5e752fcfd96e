"""The doorbell: who is called, and that they may leave while it rings."""

import pytest

from belvedere.db.signals import SignalBus


def test_it_works() -> None:
    hub, of_all, of_one = SignalBus(), list[str](), list[str]()
    hub.subscribe("job", of_all.append)
    hub.subscribe("job:1", of_one.append)
    hub.emit(["job:1", "job:2", "events", "jobs:1"])
    assert (of_all, of_one) == (["job:1", "job:2"], ["job:1"])


def test_a_bare_word_rings_once() -> None:
    hub, heard = SignalBus(), list[str]()
    hub.subscribe("events", heard.append)
    hub.emit(["events"])
    assert heard == ["events"]


def test_who_has_left_is_not_called() -> None:
    hub, heard = SignalBus(), list[str]()
    undo = hub.subscribe("job:1", heard.append)
    undo()
    undo()
    hub.emit(["job:1"])
    assert heard == []


@pytest.mark.parametrize(("mine", "other"), [("job", "job:1"), ("job:1", "job")])
def test_the_last_may_leave_while_it_rings(mine: str, other: str) -> None:
    """Of the word and the whole topic either may be called first, and end the other."""
    hub, heard = SignalBus(), list[str]()
    undo = hub.subscribe(other, heard.append)
    hub.subscribe(mine, lambda _: undo())
    hub.emit(["job:1", "job:1"])
    assert heard in ([], ["job:1"])
