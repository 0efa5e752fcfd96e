"""Judging by a clock that cannot jump."""

from belvedere.base.steady import Observed


def test_it_works() -> None:
    now = [100.0]
    observed = Observed[str](lambda: now[0])
    assert observed.look(["a"]) == {"a": 0.0}
    now[0] += 7
    assert observed.look(["a", "b"]) == {"a": 7.0, "b": 0.0}


def test_what_is_missing_once_begins_anew() -> None:
    now = [0.0]
    observed = Observed[int](lambda: now[0])
    observed.look([1])
    now[0] += 60
    assert observed.look([]) == {}
    now[0] += 60
    assert observed.look([1]) == {1: 0.0}
