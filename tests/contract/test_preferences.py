"""A person's own settings, and the profile that contains them."""

from typing import Any

import pytest

from contract.client import Client
from contract.world import World

DARK = {"settings": {"theme": "dark", "last": {"0" * 24: ["a", 1, None]}}}


async def test_preferences_are_stored_per_person(uma: Client, vic: Client) -> None:
    assert (await uma.get("/api/session/preferences")).json == {"settings": {}}
    assert (await uma.put("/api/session/preferences", DARK)).json == DARK
    assert (await uma.get("/api/session/preferences")).json == DARK
    assert (await vic.get("/api/session/preferences")).json == {"settings": {}}
    await uma.put("/api/session/preferences", {"settings": {"theme": "light"}})
    assert (await uma.get("/api/session/preferences")).json["settings"] == {"theme": "light"}


async def test_the_profile_contains_everything_that_a_console_needs(uma: Client) -> None:
    await uma.put("/api/session/preferences", DARK)
    profile = (await uma.get("/api/session/profile")).json
    assert profile["settings"] == DARK["settings"]
    assert profile["level"] == profile["credential"] == "user"
    assert profile["expires"] > "2026"
    assert [customer["name"] for customer in profile["customers"]] == ["acme"]


async def test_a_token_has_no_personal_settings(world: World) -> None:
    token = world.client("token")
    assert (await token.put("/api/session/preferences", DARK)).code == "person_only"
    profile = (await token.get("/api/session/profile")).json
    assert (profile["settings"], profile["expires"]) == ({}, None)


@pytest.mark.parametrize(
    "body", [{}, {"settings": []}, {"settings": {"x": "y" * 33_000}}, {"settings": {}, "more": 1}]
)
async def test_invalid_preferences_are_refused(uma: Client, body: Any) -> None:
    assert (await uma.put("/api/session/preferences", body)).code == "invalid_body"
