"""The fields of a provider, and where a person is redirected afterwards."""

import pytest

from belvedere.access import Level
from belvedere.base.errors import Invalid
from belvedere.providers import model
from belvedere.providers.model import ProviderRow


@pytest.mark.parametrize(
    "to",
    ["/ui/", "/ui/acme/jobs", "/ui/acme/jobs?state=failure&q=a%20b", "/ui/acme/task/0f?x=a//b"],
)
def test_targets_on_the_own_server_are_accepted(to: str) -> None:
    assert model.safe_target(to) == to


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ui/",
        "/",
        "/ui",
        "https://evil.test/",
        "https://evil.test/ui/",
        "//evil.test/ui/",
        "///evil.test/ui/",
        "/\\evil.test",
        "/ui/\\evil.test",
        "/ui//evil.test",
        "/ui/../api/session/logout",
        "/ui/..",
        "/api/session/logout",
        "javascript:alert(1)",
        "/ui/\r\nSet-Cookie: x=y",
        "/ui/x\n",
        "/ui/ x",
        "/ui/#x",
        "/ui/é",
        "/ui/\0",
        "/ui/" + "x" * 1_000,
    ],
)
def test_redirects_stay_on_the_own_server(to: str) -> None:
    assert model.safe_target(to) == "/ui/"


def row(level: str, claim: str, given: str) -> ProviderRow:
    return ProviderRow(*("", "", "", "", "", "", "[]", "[]", level, claim, given, 1, "", 1, 0, 0))


@pytest.mark.parametrize(
    ("claims", "wanted"),
    [
        ({}, Level.VIEWER),
        ({"groups": "ops"}, Level.ADMIN),
        ({"groups": ["dev", "ops"]}, Level.ADMIN),
        ({"groups": ["dev", 7, None, ["ops"]]}, Level.USER),
        ({"groups": {"ops": True}}, Level.VIEWER),
        ({"groups": "OPS"}, Level.VIEWER),
    ],
)
def test_the_highest_level_of_a_claim_counts(claims: dict[str, object], wanted: Level) -> None:
    provider = row("viewer", "groups", '{"ops": "admin", "dev": "user"}')
    assert model.level_of(provider, claims) == wanted


def test_a_provider_without_a_level_creates_no_members() -> None:
    assert model.level_of(row("", "", "{}"), {"": "x", "groups": "ops"}) is None
    assert model.level_of(row("", "a.b", '{"x": "user"}'), {"a": {"b": "x"}}) == Level.USER
    assert model.level_of(row("", "a.b", '{"x": "user"}'), {"a": "x", "a.b": "x"}) is None


@pytest.mark.parametrize("text", ["owner", "agent", "anonymous", "", "Admin"])
def test_a_level_that_cannot_be_assigned_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        model.check_level("level", text)
