"""Endpoints of providers: create, change, delete, and who may do it."""

from functools import partial
from typing import Any

import pytest

from contract.browser_journey import BODY, ISSUER, BrowserJourney, add, provider_of
from contract.client import Client
from contract.world import World
from providers.openid import Provider

PATH = "/api/provider"


@pytest.fixture
def provider(world: World) -> Provider:
    return provider_of(world)


@pytest.fixture
def olga(world: World) -> Client:
    return world.client("olga")


async def test_a_provider_is_created(
    world: World, provider: Provider, olga: Client, ada: Client
) -> None:
    response = await olga.post(PATH, {**BODY, "domains": ["@Acme.test"], "scopes": ["email"]})
    assert response.status == 201
    record = response.json
    assert (record["issuer"], record["has_client_secret"]) == (ISSUER, True)
    assert record["callback"] == f"http://belvedere.test/-/oidc/{record['id']}/callback"
    assert (record["callback_kind"], record["own_callback"]) == ("own", record["callback"])
    assert (record["domains"], record["scopes"]) == (["acme.test"], ["openid", "email"])
    assert (record["level"], record["enabled"], record["version"]) == ("", True, 1)
    assert provider.client_secret not in response.text
    assert (await ada.get(PATH)).json == [record]
    assert (await ada.get(f"{PATH}/{record['id']}")).json == record
    changed = await olga.patch(f"{PATH}/{record['id']}", {"name": "Ours", "level": "user"})
    assert (changed.json["name"], changed.json["level"]) == ("Ours", "user")
    assert (changed.json["version"], changed.json["has_client_secret"]) == (2, True)
    assert (await olga.delete(f"{PATH}/{record['id']}")).status == 200
    assert (await ada.get(PATH)).json == []
    actions = [row["action"] for row in (await ada.get("/api/audit")).json[:3]]
    assert actions == ["provider.delete", "provider.change", "provider.create"]


async def test_only_the_owner_decides_who_is_who(
    world: World, provider: Provider, ada: Client, vic: Client, eve: Client
) -> None:
    """Otherwise an admin could sign in as the owner."""
    text = f"{PATH}/{await add(world)}"
    for client in (ada, vic, world.client("token")):
        assert (await client.post(PATH, BODY)).status == 403
        assert (await client.patch(text, {"name": "x"})).status == 403
        assert (await client.delete(text)).status == 403
    assert (await vic.get(PATH)).status == 403
    assert (await eve.get(text)).status == 404
    assert (await eve.get(PATH)).json == []


BAD: tuple[dict[str, Any], ...] = (
    {"name": ""},
    {"name": None},
    {"client_id": ""},
    {"client_id": None},
    {"issuer": None},
    {"issuer": "id.example.com"},
    {"issuer": "ftp://id.example.com"},
    {"issuer": "https://user:password@id.example.com"},
    {"issuer": f"{ISSUER}?x=1"},
    {"scopes": ["two words"]},
    {"domains": ["not a domain"]},
    {"domains": ["x"] * 51},
    {"level": "owner"},
    {"level": "god"},
    {"level_map": {"ops": "owner"}},
    {"level_map": {"ops": "agent"}},
    {"client_secret": "x" * 2_000},
    {"unknown": 1},
)


async def test_bad_input(provider: Provider, olga: Client) -> None:
    for change in BAD:
        body = {name: value for name, value in {**BODY, **change}.items() if value is not None}
        refused = await olga.post(PATH, body)
        assert (refused.status, refused.code) == (400, "invalid_body"), change


async def test_an_issuer_that_cannot_be_reached(
    world: World, provider: Provider, olga: Client
) -> None:
    refused = await olga.post(PATH, {**BODY, "issuer": "https://nowhere.example.com"})
    assert (refused.status, refused.code) == (409, "provider_unreachable")
    assert "cannot be resolved" in refused.json["message"]


NONSENSE: tuple[dict[str, Any], ...] = (
    {"issuer": "https://evil.example.com"},
    {"issuer": None},
    {"token_endpoint": None},
    {"token_endpoint": "http://id.example.com/token"},
    {"authorization_endpoint": "javascript:alert(1)"},
    {"authorization_endpoint": "https:///x"},
    {"jwks_uri": 7},
)


async def test_an_issuer_with_an_invalid_response_is_reported(
    provider: Provider, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = provider.discovery()
    for item in NONSENSE:
        body = {**right, **item}
        monkeypatch.setattr(provider, "discovery", partial(dict, body))
        refused = await olga.post(PATH, BODY)
        assert (refused.status, refused.code) == (409, "bad_issuer"), item


async def test_the_second_of_two_changes_is_stale(
    world: World, provider: Provider, olga: Client
) -> None:
    text = f"{PATH}/{await add(world)}"
    first = {"if-match": "1"}
    assert (await olga.patch(text, {"name": "x"}, headers=first)).status == 200
    refused = await olga.patch(text, {"name": "y"}, headers=first)
    assert (refused.status, refused.code) == (412, "stale")


@pytest.mark.parametrize("how", ["delete", "disable", "move"])
async def test_sessions_end_with_their_provider(
    world: World, provider: Provider, olga: Client, anonymous: Client, how: str
) -> None:
    provider_id = await add(world)
    journey = BrowserJourney(anonymous, provider)
    await journey.sign_in(provider_id)
    client = Client(world.app, journey.token, check=world.conformity)
    assert (await client.get("/acme/task")).status == 200
    text = f"{PATH}/{provider_id}"
    if how == "delete":
        await olga.delete(text)
    elif how == "disable":
        await olga.patch(text, {"enabled": False})
    else:
        provider.issuer = "https://id.example.com/realm2"
        await olga.patch(text, {"issuer": provider.issuer, "client_secret": "another one"})
    assert (await client.get("/acme/task")).status == 401
    assert (await world.client("uma").get("/acme/task")).status == 200


async def test_a_client_without_a_secret_shows_the_verifier_alone(
    world: World, provider: Provider, olga: Client, anonymous: Client
) -> None:
    provider.client_secret, provider.proofs = "", ("none",)
    provider_id = await add(world, client_secret="")
    assert (await olga.get(f"{PATH}/{provider_id}")).json["has_client_secret"] is False
    assert await BrowserJourney(anonymous, provider).sign_in(provider_id) == "/ui/"


async def test_the_secret_is_sent_as_the_issuer_expects_it(
    world: World, provider: Provider, anonymous: Client
) -> None:
    provider.client_secret, provider.proofs = "a b:c/ü&", ("client_secret_post",)
    provider_id = await add(world, client_secret=provider.client_secret)
    assert await BrowserJourney(anonymous, provider).sign_in(provider_id) == "/ui/"
    provider.proofs = ("client_secret_basic",)
    await world.client("olga").patch(f"{PATH}/{provider_id}", {})
    assert await BrowserJourney(anonymous, provider).sign_in(provider_id) == "/ui/"


async def test_the_number_is_limited(
    world: World, provider: Provider, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.providers.service.MAX_ENTRIES", 1)
    await add(world)
    refused = await olga.post(PATH, BODY)
    assert (refused.status, refused.code) == (409, "too_many_providers")
