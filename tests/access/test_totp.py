"""Codes of an app: the examples of the standard, and when a code is valid."""

import base64

import pytest

from belvedere.access.crypto import totp
from belvedere.base.clock import SECOND

# RFC 6238, appendix B, SHA-1; the last six of its eight digits.
SECRET = base64.b32encode(b"12345678901234567890").decode()
EXAMPLES = {
    59: "287082",
    1_111_111_109: "081804",
    1_111_111_111: "050471",
    1_234_567_890: "005924",
    2_000_000_000: "279037",
    20_000_000_000: "353130",
}
NOW = 1_111_111_111 * SECOND
STEP = NOW // totp.STEP


def test_codes_equal_the_examples_of_the_rfc() -> None:
    for at_s, code in EXAMPLES.items():
        assert totp.code_at(SECRET, at_s * SECOND // totp.STEP) == code


@pytest.mark.parametrize("distance", [-1, 0, 1])
def test_a_clock_may_be_one_step_off(distance: int) -> None:
    code = totp.code_at(SECRET, STEP + distance)
    assert totp.matching_step(SECRET, code, NOW, 0) == STEP + distance


@pytest.mark.parametrize("distance", [-2, 2, 100])
def test_a_code_outside_the_tolerance_is_refused(distance: int) -> None:
    assert totp.matching_step(SECRET, totp.code_at(SECRET, STEP + distance), NOW, 0) is None


@pytest.mark.parametrize("code", ["", "0", "000000", "0504711", "50471"])
def test_codes_of_other_times_are_refused(code: str) -> None:
    assert totp.matching_step(SECRET, code, NOW, 0) is None


@pytest.mark.parametrize("after", [0, 1])
def test_no_step_counts_that_is_not_later_than_the_last(after: int) -> None:
    code = totp.code_at(SECRET, STEP)
    assert totp.matching_step(SECRET, code, NOW, STEP + after) is None


def test_secrets_are_new_each_time() -> None:
    secrets = {totp.new_secret() for _ in range(50)}
    assert len(secrets) == 50
    assert {len(base64.b32decode(secret)) for secret in secrets} == {20}


def test_an_app_can_read_the_address() -> None:
    assert totp.uri("ABC", "ada+x@acme.test") == (
        "otpauth://totp/Belvedere:ada%2Bx%40acme.test"
        "?secret=ABC&issuer=Belvedere&algorithm=SHA1&digits=6&period=30"
    )


def test_the_picture_is_nothing_but_paths() -> None:
    drawn = totp.qr_svg(totp.uri(SECRET, "ada@acme.test"))
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg" viewBox=')
    assert drawn.count("<") == drawn.count("<path ") + 2 == 4
    assert SECRET not in drawn
