"""Limits on failed attempts."""

import pytest

from belvedere.access import LoginLimits
from belvedere.access.limits.rate_limits import (
    FREE_TRIES,
    MAX_DELAY_S,
    WRONG_PER_MINUTE,
    WRONG_SECRETS_PER_MINUTE,
    AttemptKind,
    RateWindow,
)
from belvedere.base.errors import TooMany
from belvedere.base.networks import client_network
from manual_clock import ManualClock

HERE, THERE = "192.0.2.1", "192.0.2.2"


def limits(clock: ManualClock, room: int = 1_000) -> LoginLimits:
    return LoginLimits(clock, max_keys=room)


def test_wrong_logins_are_limited_per_address() -> None:
    clock = ManualClock()
    login_limits = limits(clock)
    for _ in range(WRONG_PER_MINUTE):
        login_limits.check(HERE)
        login_limits.record_failure(HERE)
    with pytest.raises(TooMany) as caught:
        login_limits.check(HERE)
    assert caught.value.retry_after_s == 60
    login_limits.check(THERE)


def test_the_window_slides() -> None:
    clock = ManualClock()
    login_limits = limits(clock)
    for _ in range(WRONG_PER_MINUTE):
        login_limits.record_failure(HERE)
        clock.move(1)
    with pytest.raises(TooMany) as caught:
        login_limits.check(HERE)
    assert caught.value.retry_after_s == 60 - WRONG_PER_MINUTE
    clock.move(caught.value.retry_after_s)
    login_limits.check(HERE)
    login_limits.record_failure(HERE)
    with pytest.raises(TooMany) as caught:
        login_limits.check(HERE)
    assert caught.value.retry_after_s == 1


def test_successful_attempts_are_not_counted() -> None:
    login_limits = limits(ManualClock())
    for _ in range(100):
        login_limits.record_success("digest")
        login_limits.check(HERE, AttemptKind.SECRET, proof="digest")


def test_wrong_logins_slow_a_name_down_and_never_lock_it() -> None:
    login_limits = limits(ManualClock())
    waits = []
    for n in range(40):
        waits.append(login_limits.delay_s("ada"))
        login_limits.record_failure(f"10.0.0.{n}", "ada")
    assert waits[:FREE_TRIES] == [0.0] * FREE_TRIES
    assert waits[FREE_TRIES] > 0
    assert waits == sorted(waits)
    assert max(waits) == MAX_DELAY_S


def test_kinds_are_counted_apart() -> None:
    login_limits = limits(ManualClock())
    for _ in range(WRONG_PER_MINUTE):
        login_limits.record_failure(HERE, kind=AttemptKind.SECRET, target="a task")
    with pytest.raises(TooMany):
        login_limits.check(HERE, AttemptKind.SECRET, "a task")
    login_limits.check(HERE, AttemptKind.SECRET, "another task")
    for kind in set(AttemptKind) - {AttemptKind.SECRET}:
        login_limits.check(HERE, kind)


def test_wrong_secrets_for_many_targets_end_as_well() -> None:
    login_limits = limits(ManualClock())
    for n in range(WRONG_SECRETS_PER_MINUTE):
        login_limits.check(HERE, AttemptKind.SECRET, f"task {n}")
        login_limits.record_failure(HERE, kind=AttemptKind.SECRET, target=f"task {n}")
    with pytest.raises(TooMany):
        login_limits.check(HERE, AttemptKind.SECRET, "one more task")


def test_a_recently_valid_secret_passes_whatever_others_try() -> None:
    clock = ManualClock()
    login_limits = limits(clock)
    login_limits.record_success("digest")
    for _ in range(WRONG_PER_MINUTE):
        login_limits.record_failure(
            HERE, kind=AttemptKind.SECRET, target="a task", proof="other digest"
        )
    login_limits.check(HERE, AttemptKind.SECRET, "a task", proof="digest")
    with pytest.raises(TooMany):
        login_limits.check(HERE, AttemptKind.SECRET, "a task", proof="other digest")
    login_limits.record_failure(HERE, kind=AttemptKind.SECRET, target="a task", proof="digest")
    with pytest.raises(TooMany):
        login_limits.check(HERE, AttemptKind.SECRET, "a task", proof="digest")


def test_a_browser_of_the_owner_has_a_count_of_its_own() -> None:
    login_limits = limits(ManualClock())
    for _ in range(WRONG_PER_MINUTE):
        login_limits.record_failure(HERE, "ada")
    login_limits.check(HERE, browser="of ada")
    for _ in range(WRONG_PER_MINUTE):
        login_limits.record_failure(HERE, "ada", browser="of ada")
    with pytest.raises(TooMany):
        login_limits.check(HERE, browser="of ada")
    login_limits.check(HERE, browser="of max")


def test_a_name_recovers_after_a_while() -> None:
    clock = ManualClock()
    login_limits = limits(clock)
    for _ in range(40):
        login_limits.record_failure(HERE, "ada")
    clock.move(15 * 60)
    assert login_limits.delay_s("ada") == 0.0


def test_a_forgotten_password_is_reported_at_intervals() -> None:
    clock = ManualClock()
    login_limits = limits(clock)
    assert login_limits.may_report("ada")
    assert not login_limits.may_report("ada")
    assert login_limits.may_report("max")
    clock.move(15 * 60)
    assert login_limits.may_report("ada")


def test_memory_is_bounded_and_the_longest_idle_go_first() -> None:
    clock = ManualClock()
    window = RateWindow(3, 60_000, clock, max_keys=10)
    for n in range(100):
        window.add(n)
        window.add("busy")
    assert len(window) == 10
    assert window.count("busy") == 3
    assert window.count(5) == 0
    assert window.count(99) == 1


def test_expired_keys_are_removed_without_being_used() -> None:
    clock = ManualClock()
    window = RateWindow(3, 60_000, clock)
    for n in range(5):
        window.add(n)
    clock.move(60)
    for n in range(10, 15):
        window.add(n)
    assert len(window) == 5


def test_expired_entries_use_no_memory() -> None:
    clock = ManualClock()
    window = RateWindow(3, 60_000, clock)
    window.add("a")
    clock.move(60)
    assert window.count("a") == 0
    assert len(window) == 0


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::2%eth1"),
    ],
)
def test_addresses_of_one_holder_count_together(address: str, same: str) -> None:
    assert client_network(address) == client_network(same)


@pytest.mark.parametrize(
    ("address", "other"),
    [("2001:db8::1", "2001:db8:0:1::1"), ("192.0.2.1", "192.0.2.2"), ("local", "")],
)
def test_addresses_of_two_holders_count_apart(address: str, other: str) -> None:
    assert client_network(address) != client_network(other)
