"""The password checker: passwords are checked off the event loop, in turn, and guessing is
delayed."""

import asyncio
import threading

import pytest

from belvedere.access import LoginLimits, PasswordChecker
from belvedere.access.crypto import password_hash
from belvedere.access.limits.rate_limits import WRONG_PER_MINUTE
from belvedere.access.signin.password_checker import MAX_PARALLEL, MAX_WAITING
from belvedere.base.errors import Invalid, TooMany
from manual_clock import ManualClock

HERE = "192.0.2.1"
GOOD = "larch-otter-violin"


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def checker(slept: list[float]) -> PasswordChecker:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return PasswordChecker(LoginLimits(ManualClock()), sleep)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Checks without their cost: the password is right when it is the hash."""
    texts: list[str] = []

    def matches(text: str | None, password: str) -> bool:
        texts.append(password)
        return text == password

    monkeypatch.setattr(password_hash, "matches", matches)
    return texts


async def test_a_password_is_verified(checker: PasswordChecker) -> None:
    digest = await checker.digest(HERE, GOOD)
    assert await checker.verify(HERE, "ada", digest, GOOD)
    assert not await checker.verify(HERE, "ada", digest, "wrong")
    assert not await checker.verify(HERE, "nobody", None, GOOD)


async def test_a_bad_new_password_is_refused(checker: PasswordChecker) -> None:
    with pytest.raises(Invalid):
        await checker.digest(HERE, "short")


async def test_the_loop_does_not_wait(
    checker: PasswordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    monkeypatch.setattr(password_hash, "matches", lambda *_: threads.append(threading.get_ident()))
    await checker.verify(HERE, "ada", None, GOOD)
    assert threads
    assert threads[0] != threading.get_ident()


async def test_few_are_checked_at_once(
    checker: PasswordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most, lock = 0, 0, threading.Lock()
    full = threading.Barrier(MAX_PARALLEL)

    def matches(*_: object) -> bool:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        # Each pair waits for its partner, so two are certainly running at the same time.
        full.wait(10)
        with lock:
            inside -= 1
        return True

    monkeypatch.setattr(password_hash, "matches", matches)
    await asyncio.gather(*(checker.verify(HERE, "ada", "x", "x") for _ in range(MAX_PARALLEL * 4)))
    assert most == MAX_PARALLEL


async def test_twenty_of_a_hundred_concurrent_guesses_are_checked(
    checker: PasswordChecker, checks: list[str]
) -> None:
    tries = (checker.verify(HERE, "ada", "right", f"guess {n}") for n in range(100))
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert (
        sum(isinstance(item, TooMany) for item in results) >= 100 - WRONG_PER_MINUTE - MAX_PARALLEL
    )
    assert len(checks) <= WRONG_PER_MINUTE + MAX_PARALLEL


async def test_a_right_password_from_a_blocked_address_waits_as_well(
    checker: PasswordChecker, checks: list[str]
) -> None:
    for n in range(WRONG_PER_MINUTE):
        await checker.verify(HERE, f"account {n}", "right", "wrong")
    with pytest.raises(TooMany):
        await checker.verify(HERE, "ada", "right", "right")


async def test_unknown_browsers_wait_for_a_guessed_account_and_get_in(
    checker: PasswordChecker, checks: list[str], slept: list[float]
) -> None:
    for n in range(30):
        await checker.verify(f"10.0.0.{n}", "ada", "right", "wrong")
    slept.clear()
    assert await checker.verify(HERE, "ada", "right", "right")
    assert slept == [8.0]
    assert await checker.find_match(HERE, "ada", ["right"], "right", browser="of ada")
    assert slept == [8.0]


async def test_the_queue_has_an_end(
    checker: PasswordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(password_hash, "matches", lambda *_: go.wait(10))
    waiting = [
        asyncio.create_task(checker.verify(HERE, "ada", "x", "x")) for _ in range(MAX_WAITING)
    ]
    await asyncio.sleep(0)
    with pytest.raises(TooMany):
        await checker.verify(HERE, "ada", "x", "x")
    go.set()
    assert all(await asyncio.gather(*waiting))
    assert await checker.verify(HERE, "ada", "x", "x")


async def test_the_checks_of_one_address_do_not_keep_another_out(
    checker: PasswordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    started: list[str] = []

    def slow(text: str, _: str) -> bool:
        started.append(text)
        return go.wait(10)

    monkeypatch.setattr(password_hash, "matches", slow)
    many = [
        asyncio.create_task(checker.verify(HERE, "eve", "many", "x")) for _ in range(MAX_WAITING)
    ]
    await asyncio.sleep(0)
    other = asyncio.create_task(checker.verify("10.0.0.9", "ada", "other", "x"))
    await asyncio.sleep(0)
    go.set()
    assert await other
    # Those that ran already, and at most one more turn of the address with many attempts.
    assert started.index("other") <= 2 * MAX_PARALLEL
    assert all(await asyncio.gather(*many))


async def test_a_hash_with_older_parameters_is_renewed(
    checker: PasswordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = await checker.digest(HERE, GOOD)
    assert await checker.rehash(HERE, digest, GOOD) is None
    assert await checker.rehash(HERE, None, GOOD) is None
    monkeypatch.setattr(password_hash, "needs_rehash", lambda _: True)
    renewed = await checker.rehash(HERE, digest, GOOD)
    assert renewed is not None
    assert password_hash.matches(renewed, GOOD)
