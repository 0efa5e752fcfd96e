"""Durations by a clock that cannot be set."""

from belvedere.base.clock import ObservedDurations


def test_durations_count_from_the_first_observation() -> None:
    now = [100.0]
    observed = ObservedDurations[str](lambda: now[0])
    assert observed.update(["a"]) == {"a": 0.0}
    now[0] += 7
    assert observed.update(["a", "b"]) == {"a": 7.0, "b": 0.0}


def test_a_key_that_was_missing_starts_again_at_zero() -> None:
    now = [0.0]
    observed = ObservedDurations[int](lambda: now[0])
    observed.update([1])
    now[0] += 60
    assert observed.update([]) == {}
    now[0] += 60
    assert observed.update([1]) == {1: 0.0}
