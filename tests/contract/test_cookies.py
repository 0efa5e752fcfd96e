"""Signing in, and what the cookie of a browser allows."""

from base64 import b64encode

import pytest

from contract.client import Client
from contract.world import World
from people import PASSWORD

LOGIN = {"email": "uma@acme.test", "password": PASSWORD}


def cookie(world: World, who: str = "ada", name: str = "belvedere") -> dict[str, str]:
    return {"cookie": f"{name}={world.actors.tokens[who]}"}


async def test_a_login_sets_a_session_cookie(world: World, anonymous: Client) -> None:
    done = await anonymous.post("/api/auth/login", LOGIN)
    assert done.status == 200
    assert done.json["access_token"].startswith("bvs_")
    set_cookie = done.headers["set-cookie"]
    assert set_cookie.startswith(
        f"belvedere={done.json['access_token']}; Path=/; HttpOnly; SameSite="
    )
    client = Client(world.app, done.json["access_token"], check=world.conformity)
    profile = (await client.get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("uma@acme.test", "user")


async def test_over_https_the_cookie_is_bound_to_the_host(world: World) -> None:
    done = await world.client(scheme="https").post("/api/auth/login", LOGIN)
    assert done.headers["set-cookie"].startswith("__Host-belvedere=")
    assert done.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize(
    ("address", "told", "is_secure"),
    [
        ("10.0.0.1", "https", True),
        ("10.0.0.1", "http", False),
        ("10.0.0.1", "HTTPS", False),
        ("10.0.0.1", "https, http", False),
        ("10.0.0.1", "\xfc", False),
        ("192.0.2.50", "https", False),
    ],
)
async def test_only_a_proxy_that_we_trust_says_the_scheme(
    world: World, address: str, told: str, is_secure: bool
) -> None:
    client = world.client(address=address, headers={"x-forwarded-proto": told})
    done = await client.post("/api/auth/login", LOGIN)
    assert done.headers["set-cookie"].endswith("; Secure") is is_secure


async def test_http_basic_signs_in_too(anonymous: Client) -> None:
    pair = b64encode(f"uma:{PASSWORD}".encode()).decode()
    done = await anonymous.post("/api/auth/login", headers={"authorization": f"Basic {pair}"})
    assert done.status == 200


async def test_wrong_names_and_passwords_look_alike(anonymous: Client) -> None:
    items = []
    for body in (
        {**LOGIN, "password": "wrong"},
        {**LOGIN, "email": "nobody@acme.test"},
        {**LOGIN, "password": ""},
        {},
    ):
        refused = await anonymous.post("/api/auth/login", body)
        assert (refused.status, refused.code) == (401, "bad_login")
        items.append({**refused.json, "request_id": ""})
    assert all(item == items[0] for item in items)


async def test_a_cookie_reads(world: World, anonymous: Client) -> None:
    assert (await anonymous.get("/acme/task", headers=cookie(world))).status == 200


async def test_a_cookie_changes_only_from_our_own_pages(world: World, anonymous: Client) -> None:
    own = {"origin": "http://belvedere.test", "sec-fetch-site": "same-origin"}
    body = {"name": "by cookie"}
    assert (
        await anonymous.post("/api/token", body, headers={**cookie(world), **own})
    ).status == 200
    assert (await anonymous.post("/api/token", body, headers=cookie(world))).status == 200
    for foreign in (
        {"origin": "https://evil.test"},
        {"origin": "null"},
        {"origin": "https://console.test"},
        {"origin": "http://belvedere.test.evil.test"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://belvedere.test"},
    ):
        refused = await anonymous.post("/api/token", body, headers={**cookie(world), **foreign})
        assert (refused.status, refused.code) == (403, "cross_site"), foreign


async def test_a_header_that_is_no_token_does_not_lift_that(
    world: World, anonymous: Client
) -> None:
    foreign = {**cookie(world), "origin": "https://evil.test", "authorization": "Basic YTpi"}
    refused = await anonymous.post("/api/token", {"name": "x"}, headers=foreign)
    assert refused.status in (401, 403)
    empty = await anonymous.post("/api/token?access_token=", {"name": "x"}, headers=foreign)
    assert empty.status in (401, 403)


async def test_a_token_changes_from_anywhere(ada: Client) -> None:
    foreign = {"origin": "https://evil.test", "sec-fetch-site": "cross-site"}
    assert (await ada.post("/api/token", {"name": "x"}, headers=foreign)).status == 200


async def test_over_https_the_plain_cookie_does_not_count(world: World) -> None:
    secure = world.client(scheme="https")
    assert (await secure.get("/acme/task", headers=cookie(world))).status == 401
    bound = cookie(world, name="__Host-belvedere")
    assert (await secure.get("/acme/task", headers=bound)).status == 200


async def test_signing_out_ends_the_session(world: World, uma: Client) -> None:
    done = await uma.post("/api/session/logout")
    assert done.status == 200
    assert "Max-Age=0" in done.headers["set-cookie"]
    assert (await uma.get("/acme/task")).status == 401


async def test_signing_out_with_get_takes_no_cookie(world: World, uma: Client) -> None:
    """Another site's page can make a browser send a GET with its cookie."""
    anonymous = world.client()
    refused = await anonymous.get("/api/session/logout", headers=cookie(world, "uma"))
    assert (refused.status, refused.code) == (401, "header_required")
    by_query = f"/api/session/logout?access_token={world.actors.tokens['uma']}"
    assert (await anonymous.get(by_query)).status == 401
    assert (await uma.get("/acme/task")).status == 200
    assert (await uma.get("/api/session/logout")).status == 200
    assert (await uma.get("/acme/task")).status == 401


@pytest.mark.parametrize(
    ("address", "scheme", "proxy_says", "is_secure"),
    [
        ("192.0.2.1", "https", None, True),
        ("192.0.2.1", "http", None, False),
        ("10.0.0.1", "http", "https", True),
        ("10.0.0.1", "http", "http", False),
        ("192.0.2.1", "http", "https", False),
    ],
)
async def test_browsers_that_used_tls_keep_using_it(
    world: World, address: str, scheme: str, proxy_says: str | None, is_secure: bool
) -> None:
    client = world.client(address=address, scheme=scheme)
    headers = {} if proxy_says is None else {"x-forwarded-proto": proxy_says}
    for target in ("/-/health", "/acme/task", "/nowhere"):
        answer = await client.get(target, headers=headers)
        assert ("strict-transport-security" in answer.headers) is is_secure


async def test_a_new_token_replaces_the_old_one(world: World, uma: Client) -> None:
    renewed = await uma.put("/api/session/refresh")
    assert renewed.status == 200
    assert (await uma.get("/acme/task")).status == 401
    client = Client(world.app, renewed.json["access_token"], check=world.conformity)
    assert (await client.get("/acme/task")).status == 200
