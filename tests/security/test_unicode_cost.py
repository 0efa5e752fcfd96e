"""Attacks with marks: normalizing a letter with a million marks takes a quarter of an hour.

`unicodedata.normalize` takes time with the square of the marks in a row and no other thread runs
meanwhile. What it is given is counted here, not timed.
"""

import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest

from belvedere.access.crypto import password_hash
from belvedere.access.people import naming
from belvedere.base.errors import Invalid
from belvedere.egress import http_calls
from belvedere.monitors.config import kinds
from belvedere.monitors.config.kinds import ScraperConfig
from belvedere.providers import model as providers
from belvedere.rest import text_fields
from belvedere.rest.bodies.multipart import clean_name
from belvedere.rest.text_fields import MAX_MARKS, TooManyMarks, normalize
from belvedere.tasks.definition import validation
from contract.client import Client

MARKS = "\u0323\u0301" * 250_000
# The cost of four kilobytes of marks, the longest address.
MOST = 4_096**2


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Steps that the calls of `normalize` take; none is really executed for a long text."""
    steps = 0
    real = unicodedata.normalize

    def normalize(form: str, text: str) -> str:
        nonlocal steps
        marks = groupby(text, key=lambda letter: unicodedata.combining(letter) > 0)
        steps += sum(len(list(run)) ** 2 for is_mark, run in marks if is_mark)
        return real(form, text) if len(text) < 10_000 else text  # type: ignore[arg-type]

    monkeypatch.setattr(unicodedata, "normalize", normalize)
    return lambda: steps


CALLS: list[Callable[[str], Any]] = [
    lambda text: text_fields.line("name", text),
    lambda text: text_fields.line("url", text, most=4_096),
    lambda text: text_fields.tags("tags", [text] * text_fields.MAX_TAGS),
    clean_name,
    lambda text: clean_name(f"/home/{text}/a.txt"),
    naming.person,
    lambda text: naming.email(f"a{text}@acme.test"),
    lambda text: password_hash.check(f"a long password{text}"),
    lambda text: password_hash.matches(None, text),
    lambda text: validation._is_address(f"http://a{text}/"),
    lambda text: list(kinds._scraper(ScraperConfig(url=f"http://a{text}/"))),
    lambda text: http_calls.check(f"http://a{text}/"),
    lambda text: providers.check_issuer(f"http://a{text}/"),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_text_of_combining_marks_is_refused_before_normalization(
    call: Callable[[str], Any], cost: Callable[[], int]
) -> None:
    for text in (MARKS, MARKS[:2_000], MARKS[:400]):
        try:
            call(text)
        except Invalid as refusal:
            assert len(refusal.message) < 1_000
    assert cost() <= MOST


async def test_sign_ins_do_not_block_the_server(anonymous: Client, cost: Callable[[], int]) -> None:
    for field in ("email", "username", "identifier", "password"):
        body = {"email": "uma@acme.test", "password": "wrong", field: f"a{MARKS[:100_000]}"}
        assert (await anonymous.post("/api/auth/login", body)).status in (400, 401, 413)
    assert cost() <= MOST


def test_text_of_every_language_is_normalized() -> None:
    for text in ("", "abc", "Muñoz", "Muñoz", "Tiếng Việt", "한글", "a" + "\u0301" * MAX_MARKS):
        assert normalize("NFC", text) == unicodedata.normalize("NFC", text)
    with pytest.raises(TooManyMarks):
        normalize("NFC", "a" + "\u0301" * (MAX_MARKS + 1))


def test_a_long_password_of_composed_letters_still_fits() -> None:
    """128 letters that were typed as a letter and a mark each."""
    password_hash.check("".join(f"{letter}\u0301" for letter in "aeiouyc" * 18))
    with pytest.raises(Invalid, match="at most 128"):
        password_hash.check("x" * 513)
