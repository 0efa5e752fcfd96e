"""Signing in at a provider: who gets in, and everything that somebody could try."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from belvedere.server.wiring import build_runtime
from belvedere.settings import Settings
from contract.browser_journey import PERSON, Traveller, add, provider_of
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock
from providers.openid import Provider, Signer


@pytest.fixture
def at(world: World) -> Provider:
    return provider_of(world)


@pytest.fixture
def one(world: World, at: Provider, stranger: Client) -> Traveller:
    """Somebody with a browser; whom the provider knows as Uma."""
    return Traveller(stranger, at)


def signed_in(world: World, one: Traveller) -> Client:
    assert one.token.startswith("bvs_")
    return Client(world.app, one.token, check=world.conformity)


async def refused(one: Traveller, provider_id: str, word: str, **change: str | None) -> None:
    """Led back to the sign-in page with the reason, and without a session."""
    assert await one.sign_in(provider_id, "", **change) == f"/ui/login?problem={word}"
    assert one.token == ""


async def test_it_works(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    url = await one.begin(provider_id, "/ui/acme/jobs?state=failure")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{at.issuer}/authorize?")
    assert asked["redirect_uri"] == f"http://belvedere.test/-/oidc/{provider_id}/callback"
    assert (asked["response_type"], asked["scope"]) == ("code", "openid email profile")
    assert asked["code_challenge_method"] == "S256"
    assert await one.back(one.authorize(url)) == "/ui/acme/jobs?state=failure"
    profile = (await signed_in(world, one).get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("uma@acme.test", "user")
    assert profile["protocol"] == "oidc"
    listed = (await signed_in(world, one).get("/api/session")).json
    assert [session["method"] for session in listed if session["current"]] == ["provider"]
    rows = (await world.client("ada").get("/api/audit")).json
    assert [row["action"] for row in rows[:2]] == ["session.begin", "member.bind"]
    assert rows[0]["after"]["method"] == "provider"


async def test_the_cookies_are_as_they_must_be(world: World, at: Provider) -> None:
    provider_id = await add(world)
    secure = world.client(scheme="https")
    own_page = {"sec-fetch-site": "same-origin"}
    response = await secure.get(f"/-/oidc/{provider_id}/begin", headers=own_page)
    baked = response.headers["set-cookie"]
    assert baked.startswith("__Host-belvedere-oidc=")
    assert baked.endswith("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure")
    jar = {"cookie": baked.partition(";")[0]}
    back = urlsplit(Traveller(secure, at).authorize(response.headers["location"]))
    done = await secure.get(f"{back.path}?{back.query}", headers=jar)
    assert done.headers["set-cookie"].startswith("__Host-belvedere=bvs_")
    assert "SameSite=Strict" in done.headers["set-cookie"]


@pytest.mark.parametrize("to", ["/ops/ui/acme/jobs?state=failure", "/ui/acme/jobs?state=failure"])
async def test_a_proxy_may_put_something_before_our_paths(
    world: World, at: Provider, stranger: Client, to: str
) -> None:
    world.runtime.settings.url = "http://tools.test/ops/"
    provider_id = await add(world)
    one = Traveller(stranger, at, prefix="/ops")
    back = one.authorize(await one.begin(provider_id, to))
    assert back.startswith(f"http://tools.test/ops/-/oidc/{provider_id}/callback?")
    assert await one.back(back) == "/ops/ui/acme/jobs?state=failure"
    assert await one.back(back) == "/ops/ui/login?problem=bad_state"
    elsewhere = one.authorize(await one.begin(provider_id, "/ops//evil.test/ui/"))
    assert await one.back(elsewhere) == "/ops/ui/"


async def test_the_sign_in_page_learns_what_there_is(
    world: World, at: Provider, stranger: Client
) -> None:
    provider_id = await add(world)
    door = {"id": provider_id, "name": "Example ID", "begin": f"/-/oidc/{provider_id}/begin"}
    methods = (await stranger.get("/api/auth/methods?customer=ACME")).json
    assert methods == {"password": True, "providers": [door]}
    # There are two organizations: without a name nothing is told, and nothing of unknown ones.
    for query in ("", "?customer=globex", "?customer=nobody", "?customer=%00"):
        record = (await stranger.get(f"/api/auth/methods{query}")).json
        assert record == {"password": True, "providers": []}
    await world.runtime.db.write(
        lambda tx: tx.execute("update customers set enabled = 0 where name = 'globex'")
    )
    assert (await stranger.get("/api/auth/methods")).json["providers"] == [door]
    await world.client("olga").patch(f"/api/provider/{provider_id}", {"enabled": False})
    assert (await stranger.get("/api/auth/methods")).json["providers"] == []
    assert (await stranger.get(f"/-/oidc/{provider_id}/begin")).status == 404


async def test_a_sign_in_can_complete_on_another_server(
    world: World, one: Traveller, at: Provider, settings: Settings
) -> None:
    runtime = world.runtime
    there = world.beside(
        build_runtime(settings, runtime.db, runtime.logs, runtime.keyring, runtime.clock)
    )
    there.runtime.egress = runtime.egress
    back = one.authorize(await one.begin(await add(world)))
    far = Traveller(there.client(), at, one.cookies)
    assert await far.back(back) == "/ui/"
    assert (await signed_in(world, far).get("/acme/task")).status == 200
    # And it is used up everywhere.
    one.cookies.pop("belvedere")
    assert await one.back(back) == "/ui/login?problem=bad_state"


# Who is who.


async def test_an_invited_person_comes_in_without_the_link(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world)
    at.person = {**PERSON, "sub": "s-9", "email": "New@acme.test"}
    await refused(one, provider_id, "not_invited")
    body = {"user": {"email": "new@acme.test"}, "credential": "manager"}
    await world.client("ada").post("/api/member", body)
    await one.sign_in(provider_id)
    profile = (await signed_in(world, one).get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("new@acme.test", "manager")


async def test_newcomers_get_the_providers_level(
    world: World, one: Traveller, at: Provider
) -> None:
    more = {"level": "viewer", "level_claim": "realm.roles"}
    provider_id = await add(world, level_map={"ops": "admin", "dev": "user"}, **more)
    at.person = {**PERSON, "sub": "s-9", "email": "new@acme.test", "name": "Newton"}
    await one.sign_in(provider_id)
    profile = (await signed_in(world, one).get("/api/session/profile")).json
    assert (profile["credential"], profile["name"]) == ("viewer", "Newton")
    at.person |= {"sub": "s-8", "email": "op@acme.test", "realm": {"roles": ["dev", "ops", 7]}}
    await one.sign_in(provider_id)
    profile = (await signed_in(world, one).get("/api/session/profile")).json
    assert profile["credential"] == "admin"


async def test_the_subject_counts_not_the_email(world: World, one: Traveller, at: Provider) -> None:
    """Whoever is known keeps to be that, whatever the e-mail says now."""
    provider_id = await add(world, level="viewer")
    await one.sign_in(provider_id)
    at.person = {**PERSON, "email": "olga@acme.test"}
    await one.sign_in(provider_id)
    profile = (await signed_in(world, one).get("/api/session/profile")).json
    assert profile["email"] == "uma@acme.test"


async def test_another_account_with_the_same_email_is_refused(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world, level="viewer")
    await one.sign_in(provider_id)
    one.cookies.clear()
    at.person = {**PERSON, "sub": "s-2"}
    await refused(one, provider_id, "subject_bound")


async def test_only_a_verified_email_counts(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world, level="viewer")
    for item in (False, None, "true", 1):
        at.claims = {"email_verified": item}
        await refused(one, provider_id, "email_unverified")


async def test_without_an_email_nobody_is_known(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world, level="viewer")
    at.person = {"sub": "s-1", "email_verified": True}
    await refused(one, provider_id, "email_unverified")


async def test_only_the_domains_that_are_named(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world, level="viewer", domains=["acme.test"])
    for email in ("eve@globex.test", "eve@evil.acme.test", "eve@acme.test.evil.test", "eve"):
        at.person = {**PERSON, "sub": "s-7", "email": email}
        await refused(one, provider_id, "email_not_allowed")
    at.person = PERSON
    assert await one.sign_in(provider_id) == "/ui/"


async def test_a_disabled_member_stays_out(world: World, one: Traveller) -> None:
    provider_id = await add(world)
    member = world.actors.uma.member_id
    await world.client("ada").patch(f"/api/member/{member}", {"disabled": True})
    await refused(one, provider_id, "not_active")


async def test_a_removed_member_is_known_by_the_email_again(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world)
    await one.sign_in(provider_id)
    one.cookies.clear()
    await world.client("ada").delete(f"/api/member/{world.actors.uma.member_id}")
    await refused(one, provider_id, "not_invited")
    await world.client("ada").post("/api/member", {"user": {"email": "uma@acme.test"}})
    at.person = {**PERSON, "sub": "s-new"}
    assert await one.sign_in(provider_id) == "/ui/"


async def test_missing_claims_are_fetched_from_userinfo(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world)
    at.has_userinfo = True
    assert await one.sign_in(provider_id) == "/ui/"
    assert at.asked[-1] == "GET /userinfo"


async def test_claims_about_another_person_are_ignored(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world)
    at.has_userinfo, at.claims = True, {"sub": "s-2"}
    await refused(one, provider_id, "bad_id_token")


# The provider's word opens its own organization.


async def test_a_session_through_a_provider_stays_in_its_organization(
    world: World, one: Traveller
) -> None:
    """Eve may let whomever she likes into globex as Uma; of acme she sees nothing."""
    await _own_globex(world)
    provider_id = await add(world, "eve", level="viewer")
    await one.sign_in(provider_id)
    client = signed_in(world, one)
    profile = (await client.get("/api/session/profile")).json
    assert [place["name"] for place in profile["customers"]] == ["globex"]
    there = await client.put(f"/api/session/customer/{world.actors.acme.id}")
    assert (there.status, there.code) == (403, "other_organization")
    assert {s["customer_id"] for s in (await client.get("/api/session")).json} == {
        world.actors.globex.id
    }
    hers = world.actors.uma.credential_id
    assert (await client.delete(f"/api/session/{hers}")).status == 404
    assert (await world.client("uma").get("/acme/task")).status == 200
    assert (await client.get("/task?customer=acme")).status == 403


async def _own_globex(world: World) -> None:
    await world.runtime.db.write(
        lambda tx: tx.execute(
            "update members set level = 'owner' where id = ?", world.actors.eve.member_id
        )
    )
    world.runtime.credentials.clear()


async def test_another_organizations_provider_is_no_way_in(
    world: World, one: Traveller, at: Provider
) -> None:
    """A trip to one provider cannot end at another: code, client and token are of the first."""
    await _own_globex(world)
    theirs = await add(world, "eve", level="viewer", client_id="globex-client")
    ours = await add(world)
    url = await one.begin(ours)
    at.client_id = "globex-client"
    other = Traveller(one.client, at)
    back = other.authorize(await other.begin(theirs))
    assert await one.back(back) == "/ui/login?problem=bad_state"
    state = parse_qs(urlsplit(url).query)["state"][0]
    one.cookies.pop("belvedere", None)
    again = Traveller(one.client, at, dict(one.cookies))
    assert "problem=" in await again.back(back, state=state)
    assert again.token == ""


# What somebody could try.


async def test_a_wrong_state_is_refused(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    for state in ("x", "", None):
        await refused(one, provider_id, "bad_state", state=state)
    assert "POST /token" not in at.asked


async def test_another_browser_is_refused(world: World, one: Traveller, at: Provider) -> None:
    """Else somebody could sign you in as themselves, and read what you then enter."""
    provider_id = await add(world)
    back = one.authorize(await one.begin(provider_id))
    victim = Traveller(one.client, at)
    assert await victim.back(back) == "/ui/login?problem=bad_state"
    await victim.begin(provider_id)
    assert await victim.back(back) == "/ui/login?problem=bad_state"
    forged = Traveller(one.client, at, {"belvedere-oidc": "x" * 40})
    assert await forged.back(back) == "/ui/login?problem=bad_state"


async def test_coming_back_twice_is_refused(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    back = one.authorize(await one.begin(provider_id))
    assert await one.back(back) == "/ui/"
    one.cookies.pop("belvedere")
    assert await one.back(back) == "/ui/login?problem=bad_state"
    # A code that was redeemed before is no good with a new trip, either.
    code = parse_qs(urlsplit(back).query)["code"][0]
    await refused(one, provider_id, "provider_refused", code=code)


async def test_a_code_of_another_trip_is_refused(
    world: World, one: Traveller, at: Provider, stranger: Client
) -> None:
    """PKCE: the code fits only the verifier of the browser that asked for it."""
    provider_id = await add(world)
    victim = Traveller(stranger, at)
    stolen = victim.authorize(await victim.begin(provider_id))
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    await refused(one, provider_id, "provider_refused", code=code)


async def test_too_late_is_refused(world: World, one: Traveller, clock: ManualClock) -> None:
    back = one.authorize(await one.begin(await add(world)))
    clock.move(600)
    assert await one.back(back) == "/ui/login?problem=bad_state"


WRONG_TOKENS: tuple[dict[str, Any], ...] = (
    {"nonce": "another"},
    {"nonce": None},
    {"iss": "https://evil.example.com"},
    {"aud": "another"},
    {"exp": 1},
    {"iat": 1},
)


async def test_a_wrong_id_token_is_refused(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    for claims in WRONG_TOKENS:
        at.claims = claims
        await refused(one, provider_id, "bad_id_token")


async def test_a_key_that_was_changed_is_known_at_once(
    world: World, one: Traveller, at: Provider
) -> None:
    provider_id = await add(world)
    await one.sign_in(provider_id)
    at.signer = Signer("k2", "ES256")
    one.cookies.clear()
    assert await one.sign_in(provider_id) == "/ui/"
    assert one.token


async def test_a_provider_that_says_no(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    await refused(one, provider_id, "provider_refused", error="access_denied")
    await refused(one, provider_id, "provider_refused", code=None)
    await refused(one, provider_id, "provider_refused", iss="https://evil.example.com")


async def test_a_provider_that_is_away(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    url = await one.begin(provider_id)
    world.runtime.egress.fault = "The receiver did not answer in time."  # type: ignore[attr-defined]
    assert await one.back(one.authorize(url)) == "/ui/login?problem=provider_unreachable"


async def test_a_provider_that_is_deleted_meanwhile(world: World, one: Traveller) -> None:
    provider_id = await add(world)
    back = one.authorize(await one.begin(provider_id))
    await world.client("olga").delete(f"/api/provider/{provider_id}")
    assert await one.back(back) == "/ui/login?problem=provider_not_found"


async def test_nobody_is_sent_elsewhere(world: World, one: Traveller) -> None:
    provider_id = await add(world)
    for to in (
        "https://evil.test/",
        "//evil.test/ui/",
        "/ui/\\evil.test",
        "/ui/\r\nSet-Cookie: x=y",
    ):
        assert await one.sign_in(provider_id, to) == "/ui/"


async def test_too_many_refusals_are_limited(world: World, one: Traveller) -> None:
    provider_id = await add(world)
    for _ in range(20):
        await refused(one, provider_id, "bad_state", state="x")
    await refused(one, provider_id, "too_many_requests")


async def test_no_secret_is_revealed(world: World, one: Traveller, at: Provider) -> None:
    provider_id = await add(world)
    await one.sign_in(provider_id)
    rows = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    text = await world.runtime.db.read(lambda tx: tx.rows("select box, endpoints from providers"))
    audit = (await world.client("ada").get("/api/audit?limit=1000")).text
    assert at.client_secret not in str(rows) + str(text) + audit
