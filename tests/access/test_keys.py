"""The server's secret: where it comes from, and what it seals and hashes."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.access import Keyring, load_secret
from belvedere.access.crypto.keyring import SECRET_FILE, make_token
from belvedere.base.errors import Unavailable
from belvedere.db import Database

MINE, OTHER = Keyring(b"1" * 32), Keyring(b"2" * 32)


def test_a_sealed_text_is_unsealed() -> None:
    box = MINE.seal("a secret", "task/1")
    assert "secret" not in box
    assert MINE.unseal(box, "task/1") == "a secret"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(codec="utf-8")))
def test_sealed_text_is_unsealed(text: str, about: str) -> None:
    assert MINE.unseal(MINE.seal(text, about), about) == text


def test_the_same_text_is_sealed_differently_each_time() -> None:
    assert MINE.seal("x", "y") != MINE.seal("x", "y")


@pytest.mark.parametrize(
    ("keys", "about", "spoil"),
    [(OTHER, "a", 0), (MINE, "b", 0), (MINE, "a", 1)],
    ids=["another key", "another record", "altered"],
)
def test_a_sealed_text_opens_only_as_it_was_sealed(keys: Keyring, about: str, spoil: int) -> None:
    box = MINE.seal("x", "a")
    box = ("A" if box[0] != "A" else "B") + box[1:] if spoil else box
    with pytest.raises(Unavailable):
        keys.unseal(box, about)


def test_garbage_is_not_opened() -> None:
    with pytest.raises(Unavailable):
        MINE.unseal("no base64!", "a")


def test_a_digest_depends_on_text_and_key() -> None:
    assert MINE.digest("a") == MINE.digest("a")
    assert len({MINE.digest("a"), MINE.digest("b"), OTHER.digest("a")}) == 3
    assert re.fullmatch("[0-9a-f]{64}", MINE.digest("a"))


def test_a_token_has_256_bits_behind_its_prefix() -> None:
    tokens = {make_token("bvt_") for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(r"bvt_[A-Za-z0-9_-]{43}", token) for token in tokens)


def test_the_first_start_creates_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    secret = load_secret(tmp_path)
    assert len(secret) == 32
    assert (tmp_path / SECRET_FILE).stat().st_mode & 0o777 == 0o600
    assert load_secret(tmp_path) == secret
    assert os.listdir(tmp_path) == [SECRET_FILE]


def test_two_folders_have_two_secrets(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert load_secret(tmp_path / "a") != load_secret(tmp_path / "b")


def test_a_key_in_the_settings_has_precedence_and_creates_no_file(tmp_path: Path) -> None:
    assert load_secret(tmp_path, "ab" * 32) == b"\xab" * 32
    assert os.listdir(tmp_path) == []


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    load_secret(tmp_path)
    (tmp_path / SECRET_FILE).chmod(0o640)
    with pytest.raises(Unavailable, match="chmod 600"):
        load_secret(tmp_path)


@pytest.mark.parametrize("text", ["short", "zz" * 32, "ab" * 33])
def test_a_key_of_the_wrong_format_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unavailable) as caught:
        load_secret(tmp_path, text)
    assert text not in caught.value.message


def test_a_database_is_bound_to_the_key_that_saw_it_first(db: Database) -> None:
    db.write_blocking(MINE.verify_database)
    db.write_blocking(MINE.verify_database)
    with pytest.raises(Unavailable) as caught:
        db.write_blocking(OTHER.verify_database)
    assert caught.value.code == "wrong_secret_key"
    db.write_blocking(MINE.verify_database)
