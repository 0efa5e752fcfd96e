"""The doorbell: who is called, and that they may leave while it rings."""

import pytest

from belvedere.db.signals import Hub


def test_it_works() -> None:
    hub, of_all, of_one = Hub(), list[str](), list[str]()
    hub.listen("job", of_all.append)
    hub.listen("job:1", of_one.append)
    hub.ring(["job:1", "job:2", "events", "jobs:1"])
    assert (of_all, of_one) == (["job:1", "job:2"], ["job:1"])


def test_a_bare_word_rings_once() -> None:
    hub, heard = Hub(), list[str]()
    hub.listen("events", heard.append)
    hub.ring(["events"])
    assert heard == ["events"]


def test_who_has_left_is_not_called() -> None:
    hub, heard = Hub(), list[str]()
    undo = hub.listen("job:1", heard.append)
    undo()
    undo()
    hub.ring(["job:1"])
    assert heard == []


@pytest.mark.parametrize(("mine", "other"), [("job", "job:1"), ("job:1", "job")])
def test_the_last_may_leave_while_it_rings(mine: str, other: str) -> None:
    """Of the word and the whole topic either may be called first, and end the other."""
    hub, heard = Hub(), list[str]()
    undo = hub.listen(other, heard.append)
    hub.listen(mine, lambda _: undo())
    hub.ring(["job:1", "job:1"])
    assert heard in ([], ["job:1"])
