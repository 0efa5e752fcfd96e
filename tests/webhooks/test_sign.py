"""Signatures, compared with values that were calculated elsewhere."""

from collections.abc import Mapping, Sequence

import pytest

from belvedere.webhooks.deliveries import signatures
from belvedere.webhooks.deliveries.signatures import SignatureCheck
from belvedere.webhooks.model import Signature

NOW = 1_700_000_000_000
# From GitHub's own documentation of the header.
SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
MAC = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def is_signed(
    kind: str, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: int
) -> bool:
    return signatures.verify(kind, headers, body, secrets, now) is SignatureCheck.VALID


def test_a_github_signature_is_checked() -> None:
    headers = {"x-hub-signature-256": f"sha256={MAC}"}
    assert is_signed("github", headers, BODY, [SECRET], NOW)
    assert is_signed("github", headers, BODY, ["other", SECRET], NOW)
    assert not is_signed("github", headers, BODY + b"!", [SECRET], NOW)
    assert not is_signed("github", headers, BODY, ["other"], NOW)
    assert not is_signed("github", headers, BODY, [], NOW)


def test_gitlab_sends_the_secret_itself() -> None:
    headers = {"x-gitlab-token": SECRET}
    assert is_signed("gitlab", headers, BODY, ["other", SECRET], NOW)
    for wrong in ("", SECRET[:-1], f"{SECRET} ", "é", "other"):
        assert not is_signed("gitlab", {"x-gitlab-token": wrong}, BODY, [SECRET], NOW)
    assert not is_signed("gitlab", {"x-hub-signature-256": SECRET}, BODY, [SECRET], NOW)


def test_ours_is_the_same_under_another_name() -> None:
    headers = {"x-belvedere-signature": f"sha256={MAC}"}
    assert is_signed("hmac-sha256", headers, BODY, [SECRET], NOW)
    assert not is_signed("github", headers, BODY, [SECRET], NOW)


@pytest.mark.parametrize("late_s, good", [(0, True), (300, True), (301, False), (-301, False)])
def test_a_timestamp_is_accepted_within_a_tolerance(late_s: int, good: bool) -> None:
    seconds = NOW // 1_000 - late_s
    mac = signatures.sign(SECRET, f"{seconds}.".encode() + BODY)
    headers = {"x-belvedere-signature": f"t={seconds}, sha256={mac}"}
    assert is_signed("hmac-sha256", headers, BODY, [SECRET], NOW) is good


@pytest.mark.parametrize("kind", list(Signature))
def test_a_missing_signature_is_refused(kind: Signature) -> None:
    assert not is_signed(kind, {}, BODY, [SECRET], NOW)
    # What an empty signature would be compared with must not be empty either.
    assert not is_signed(kind, {}, BODY, [""], NOW)
