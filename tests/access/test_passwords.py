"""Passwords: which are accepted and how they are stored."""

import gzip
import tracemalloc
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from belvedere.access.crypto import password_hash
from belvedere.base.errors import Invalid

GOOD = "larch-otter-violin"


def test_a_password_matches_its_own_hash_only() -> None:
    digest = password_hash.digest(GOOD)
    assert digest.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert password_hash.matches(digest, GOOD)
    assert not password_hash.matches(digest, GOOD + "x")
    assert not password_hash.needs_rehash(digest)


@pytest.mark.parametrize("password", [GOOD, "x7" * 6 + "q", "ünïcödé-wörds", "y" * 60 + "z" * 68])
def test_good_passwords_are_accepted(password: str) -> None:
    password_hash.check(password)


@pytest.mark.parametrize(
    "password",
    [
        "",
        "elevenchars",
        "z" + "y" * 128,
        "password1234",
        "PassWord2024!!",
        "123456789012",
        "aaaaaaaaaaaa",
        "abcabcabcabc",
        "qwertyuiopas",
        "1q2w3e4r5t6y",
        "!!letmein!!123",
        "correcthorsebatterystaple",
        "administrator",
        "1qaz2wsx3edc",
        "1QAZ2wsx3edc",
        "1qaz2wsx3edc2024!",
        "Manchester1999!",
        "dragondragon",
        "DragonDragon99!",
        "zaq12wsxcde3",
    ],
)
def test_bad_passwords_are_refused(password: str) -> None:
    with pytest.raises(Invalid) as caught:
        password_hash.check(password)
    assert caught.value.code == "bad_password"
    assert not password or password not in caught.value.message


def test_two_spellings_of_the_same_letters_are_one_password() -> None:
    composed, decomposed = "caf\u00e9-larch-otter", "cafe\u0301-larch-otter"
    assert composed != decomposed
    assert password_hash.matches(password_hash.digest(composed), decomposed)


def test_no_account_has_the_dummy_password() -> None:
    assert not password_hash.matches(None, GOOD)
    assert not password_hash.matches(None, "")


def test_an_endless_password_is_wrong_and_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def verify(self: PasswordHasher, text: str, password: str) -> bool:
        texts.append(password)
        return True

    monkeypatch.setattr(PasswordHasher, "verify", verify)
    assert not password_hash.matches("$argon2id$…", "x" * 1_000_000)
    assert [len(password) for password in texts] == [password_hash.MAX_LENGTH]


def test_a_broken_hash_matches_nothing() -> None:
    assert not password_hash.matches("not a hash", GOOD)


def test_an_unpaired_surrogate_is_a_wrong_password() -> None:
    assert not password_hash.matches(None, "\ud800" + GOOD)


def test_a_hash_with_older_parameters_is_outdated() -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8_192, parallelism=1).hash(GOOD)
    assert password_hash.needs_rehash(old)
    assert password_hash.matches(old, GOOD)


ABOUT = ("Margaret.Hamilton@apollo.example", "mhamilton", "Margaret Hamilton", "lunar-module")


@pytest.mark.parametrize(
    "password",
    [
        "margaret.hamilton@apollo.example",
        "MargaretHamilton",
        "Margaret-Hamilton-1969",
        "mhamilton1969!",
        "lunar-module!",
        "Lunar_Module_2024",
        "apollo.example",
        "mhamiltonmhamilton",
    ],
)
def test_own_names_are_refused(password: str) -> None:
    with pytest.raises(Invalid) as caught:
        password_hash.check(password, ABOUT)
    assert caught.value.code == "bad_password"
    password_hash.check("larch-otter-violin", ABOUT)


def test_a_password_that_only_contains_a_name_is_good() -> None:
    password_hash.check("hamilton-larch-otter-violin", ABOUT)


def test_the_list_has_ten_thousand_and_names_its_source() -> None:
    folder = Path(password_hash.__file__).parents[1]
    words = gzip.decompress((folder / "common_passwords.txt.gz").read_bytes()).split()
    assert len(words) == len(set(words)) >= 10_000
    assert all(word == word.lower() for word in words)
    notice = (folder / "common_passwords.NOTICE").read_text()
    assert "zxcvbn" in notice and "MIT License" in notice


def test_the_list_does_not_stay_in_memory() -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    assert password_hash.is_listed(["1qaz2wsx3edc"])
    assert not password_hash.is_listed(["larch-otter-violin", ""])
    assert tracemalloc.get_traced_memory()[0] - before < 100_000
    tracemalloc.stop()
