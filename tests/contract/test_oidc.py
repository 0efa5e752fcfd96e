"""Sign-in through a provider: who may sign in, and attacks on it."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from belvedere.server.wiring import build_runtime
from belvedere.settings import Settings
from contract.browser_journey import PERSON, BrowserJourney, add, provider_of
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock
from providers.openid import Provider, Signer


@pytest.fixture
def provider(world: World) -> Provider:
    return provider_of(world)


@pytest.fixture
def journey(world: World, provider: Provider, anonymous: Client) -> BrowserJourney:
    """A person with a browser, whom the provider knows as Uma."""
    return BrowserJourney(anonymous, provider)


def signed_in(world: World, journey: BrowserJourney) -> Client:
    assert journey.token.startswith("bvs_")
    return Client(world.app, journey.token, check=world.conformity)


async def check_refused(
    journey: BrowserJourney, provider_id: str, word: str, **change: str | None
) -> None:
    """Redirected to the sign-in page with the reason, and without a session."""
    assert await journey.sign_in(provider_id, "", **change) == f"/ui/login?problem={word}"
    assert journey.token == ""


async def test_a_sign_in_redirects_to_the_provider(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    url = await journey.begin(provider_id, "/ui/acme/jobs?state=failure")
    fields = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{provider.issuer}/authorize?")
    assert fields["redirect_uri"] == f"http://belvedere.test/-/oidc/{provider_id}/callback"
    assert (fields["response_type"], fields["scope"]) == ("code", "openid email profile")
    assert fields["code_challenge_method"] == "S256"
    assert await journey.back(journey.authorize(url)) == "/ui/acme/jobs?state=failure"
    profile = (await signed_in(world, journey).get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("uma@acme.test", "user")
    assert profile["protocol"] == "oidc"
    listed = (await signed_in(world, journey).get("/api/session")).json
    assert [session["method"] for session in listed if session["current"]] == ["provider"]
    rows = (await world.client("ada").get("/api/audit")).json
    assert [row["action"] for row in rows[:2]] == ["session.begin", "member.bind"]
    assert rows[0]["after"]["method"] == "provider"


async def test_the_cookies_are_as_they_must_be(world: World, provider: Provider) -> None:
    provider_id = await add(world)
    secure = world.client(scheme="https")
    own_page = {"sec-fetch-site": "same-origin"}
    response = await secure.get(f"/-/oidc/{provider_id}/begin", headers=own_page)
    baked = response.headers["set-cookie"]
    assert baked.startswith("__Host-belvedere-oidc=")
    assert baked.endswith("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure")
    jar = {"cookie": baked.partition(";")[0]}
    back = urlsplit(BrowserJourney(secure, provider).authorize(response.headers["location"]))
    done = await secure.get(f"{back.path}?{back.query}", headers=jar)
    assert done.headers["set-cookie"].startswith("__Host-belvedere=bvs_")
    assert "SameSite=Strict" in done.headers["set-cookie"]


@pytest.mark.parametrize("to", ["/ops/ui/acme/jobs?state=failure", "/ui/acme/jobs?state=failure"])
async def test_a_proxy_may_put_something_before_our_paths(
    world: World, provider: Provider, anonymous: Client, to: str
) -> None:
    world.runtime.settings.url = "http://tools.test/ops/"
    provider_id = await add(world)
    first_journey = BrowserJourney(anonymous, provider, prefix="/ops")
    back = first_journey.authorize(await first_journey.begin(provider_id, to))
    assert back.startswith(f"http://tools.test/ops/-/oidc/{provider_id}/callback?")
    assert await first_journey.back(back) == "/ops/ui/acme/jobs?state=failure"
    assert await first_journey.back(back) == "/ops/ui/login?problem=bad_state"
    elsewhere = first_journey.authorize(
        await first_journey.begin(provider_id, "/ops//evil.test/ui/")
    )
    assert await first_journey.back(elsewhere) == "/ops/ui/"


async def test_the_sign_in_page_lists_the_providers(
    world: World, provider: Provider, anonymous: Client
) -> None:
    provider_id = await add(world)
    entry = {"id": provider_id, "name": "Example ID", "begin": f"/-/oidc/{provider_id}/begin"}
    methods = (await anonymous.get("/api/auth/methods?customer=ACME")).json
    assert methods == {"password": True, "providers": [entry]}
    # There are two organizations: without a name nothing is listed, and nothing for unknown ones.
    for query in ("", "?customer=globex", "?customer=nobody", "?customer=%00"):
        record = (await anonymous.get(f"/api/auth/methods{query}")).json
        assert record == {"password": True, "providers": []}
    await world.runtime.db.write(
        lambda tx: tx.execute("update customers set enabled = 0 where name = 'globex'")
    )
    assert (await anonymous.get("/api/auth/methods")).json["providers"] == [entry]
    await world.client("olga").patch(f"/api/provider/{provider_id}", {"enabled": False})
    assert (await anonymous.get("/api/auth/methods")).json["providers"] == []
    assert (await anonymous.get(f"/-/oidc/{provider_id}/begin")).status == 404


async def test_a_sign_in_can_complete_on_another_server(
    world: World, journey: BrowserJourney, provider: Provider, settings: Settings
) -> None:
    runtime = world.runtime
    there = world.beside(
        build_runtime(settings, runtime.db, runtime.logs, runtime.keyring, runtime.clock)
    )
    there.runtime.egress = runtime.egress
    back = journey.authorize(await journey.begin(await add(world)))
    far = BrowserJourney(there.client(), provider, journey.cookies)
    assert await far.back(back) == "/ui/"
    assert (await signed_in(world, far).get("/acme/task")).status == 200
    # And it is used up on every server.
    journey.cookies.pop("belvedere")
    assert await journey.back(back) == "/ui/login?problem=bad_state"


# Who signs in as whom.


async def test_an_invited_person_comes_in_without_the_link(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    provider.person = {**PERSON, "sub": "s-9", "email": "New@acme.test"}
    await check_refused(journey, provider_id, "not_invited")
    body = {"user": {"email": "new@acme.test"}, "credential": "manager"}
    await world.client("ada").post("/api/member", body)
    await journey.sign_in(provider_id)
    profile = (await signed_in(world, journey).get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("new@acme.test", "manager")


async def test_new_members_get_the_level_of_the_provider(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    more = {"level": "viewer", "level_claim": "realm.roles"}
    provider_id = await add(world, level_map={"ops": "admin", "dev": "user"}, **more)
    provider.person = {**PERSON, "sub": "s-9", "email": "new@acme.test", "name": "Newton"}
    await journey.sign_in(provider_id)
    profile = (await signed_in(world, journey).get("/api/session/profile")).json
    assert (profile["credential"], profile["name"]) == ("viewer", "Newton")
    provider.person |= {
        "sub": "s-8",
        "email": "op@acme.test",
        "realm": {"roles": ["dev", "ops", 7]},
    }
    await journey.sign_in(provider_id)
    profile = (await signed_in(world, journey).get("/api/session/profile")).json
    assert profile["credential"] == "admin"


async def test_the_subject_counts_not_the_email(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    """A person who is bound stays the same member, whatever the e-mail address is now."""
    provider_id = await add(world, level="viewer")
    await journey.sign_in(provider_id)
    provider.person = {**PERSON, "email": "olga@acme.test"}
    await journey.sign_in(provider_id)
    profile = (await signed_in(world, journey).get("/api/session/profile")).json
    assert profile["email"] == "uma@acme.test"


async def test_another_account_with_the_same_email_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world, level="viewer")
    await journey.sign_in(provider_id)
    journey.cookies.clear()
    provider.person = {**PERSON, "sub": "s-2"}
    await check_refused(journey, provider_id, "subject_bound")


async def test_only_a_verified_email_counts(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world, level="viewer")
    for item in (False, None, "true", 1):
        provider.claims = {"email_verified": item}
        await check_refused(journey, provider_id, "email_unverified")


async def test_a_sign_in_without_an_email_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world, level="viewer")
    provider.person = {"sub": "s-1", "email_verified": True}
    await check_refused(journey, provider_id, "email_unverified")


async def test_only_the_domains_that_are_named(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world, level="viewer", domains=["acme.test"])
    for email in ("eve@globex.test", "eve@evil.acme.test", "eve@acme.test.evil.test", "eve"):
        provider.person = {**PERSON, "sub": "s-7", "email": email}
        await check_refused(journey, provider_id, "email_not_allowed")
    provider.person = PERSON
    assert await journey.sign_in(provider_id) == "/ui/"


async def test_a_disabled_member_stays_out(world: World, journey: BrowserJourney) -> None:
    provider_id = await add(world)
    member = world.actors.uma.member_id
    await world.client("ada").patch(f"/api/member/{member}", {"disabled": True})
    await check_refused(journey, provider_id, "not_active")


async def test_a_removed_member_is_known_by_the_email_again(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    await journey.sign_in(provider_id)
    journey.cookies.clear()
    await world.client("ada").delete(f"/api/member/{world.actors.uma.member_id}")
    await check_refused(journey, provider_id, "not_invited")
    await world.client("ada").post("/api/member", {"user": {"email": "uma@acme.test"}})
    provider.person = {**PERSON, "sub": "s-new"}
    assert await journey.sign_in(provider_id) == "/ui/"


async def test_missing_claims_are_fetched_from_userinfo(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    provider.has_userinfo = True
    assert await journey.sign_in(provider_id) == "/ui/"
    assert provider.asked[-1] == "GET /userinfo"


async def test_claims_about_another_person_are_ignored(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    provider.has_userinfo, provider.claims = True, {"sub": "s-2"}
    await check_refused(journey, provider_id, "bad_id_token")


# A provider gives access to its own organization only.


async def test_a_session_through_a_provider_stays_in_its_organization(
    world: World, journey: BrowserJourney
) -> None:
    """Eve may let anyone into globex as Uma; this shows nothing of acme."""
    await _own_globex(world)
    provider_id = await add(world, "eve", level="viewer")
    await journey.sign_in(provider_id)
    client = signed_in(world, journey)
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
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    """A sign-in that started at one provider cannot end at another: code, client and token are
    those of the first."""
    await _own_globex(world)
    theirs = await add(world, "eve", level="viewer", client_id="globex-client")
    ours = await add(world)
    url = await journey.begin(ours)
    provider.client_id = "globex-client"
    other = BrowserJourney(journey.client, provider)
    back = other.authorize(await other.begin(theirs))
    assert await journey.back(back) == "/ui/login?problem=bad_state"
    state = parse_qs(urlsplit(url).query)["state"][0]
    journey.cookies.pop("belvedere", None)
    again = BrowserJourney(journey.client, provider, dict(journey.cookies))
    assert "problem=" in await again.back(back, state=state)
    assert again.token == ""


# What an attacker could try.


async def test_a_wrong_state_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    for state in ("x", "", None):
        await check_refused(journey, provider_id, "bad_state", state=state)
    assert "POST /token" not in provider.asked


async def test_another_browser_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    """Otherwise somebody could sign you in to their own account, and read what you then enter."""
    provider_id = await add(world)
    back = journey.authorize(await journey.begin(provider_id))
    victim = BrowserJourney(journey.client, provider)
    assert await victim.back(back) == "/ui/login?problem=bad_state"
    await victim.begin(provider_id)
    assert await victim.back(back) == "/ui/login?problem=bad_state"
    forged = BrowserJourney(journey.client, provider, {"belvedere-oidc": "x" * 40})
    assert await forged.back(back) == "/ui/login?problem=bad_state"


async def test_using_the_callback_twice_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    back = journey.authorize(await journey.begin(provider_id))
    assert await journey.back(back) == "/ui/"
    journey.cookies.pop("belvedere")
    assert await journey.back(back) == "/ui/login?problem=bad_state"
    # A code that was redeemed before is not valid in a new sign-in either.
    code = parse_qs(urlsplit(back).query)["code"][0]
    await check_refused(journey, provider_id, "provider_refused", code=code)


async def test_a_code_of_another_login_attempt_is_refused(
    world: World, journey: BrowserJourney, provider: Provider, anonymous: Client
) -> None:
    """PKCE: the code matches only the verifier of the browser that requested it."""
    provider_id = await add(world)
    victim = BrowserJourney(anonymous, provider)
    stolen = victim.authorize(await victim.begin(provider_id))
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    await check_refused(journey, provider_id, "provider_refused", code=code)


async def test_too_late_is_refused(
    world: World, journey: BrowserJourney, clock: ManualClock
) -> None:
    back = journey.authorize(await journey.begin(await add(world)))
    clock.move(600)
    assert await journey.back(back) == "/ui/login?problem=bad_state"


WRONG_TOKENS: tuple[dict[str, Any], ...] = (
    {"nonce": "another"},
    {"nonce": None},
    {"iss": "https://evil.example.com"},
    {"aud": "another"},
    {"exp": 1},
    {"iat": 1},
)


async def test_a_wrong_id_token_is_refused(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    for claims in WRONG_TOKENS:
        provider.claims = claims
        await check_refused(journey, provider_id, "bad_id_token")


async def test_a_key_that_was_changed_is_known_at_once(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    await journey.sign_in(provider_id)
    provider.signer = Signer("k2", "ES256")
    journey.cookies.clear()
    assert await journey.sign_in(provider_id) == "/ui/"
    assert journey.token


async def test_a_provider_that_refuses_the_sign_in(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    await check_refused(journey, provider_id, "provider_refused", error="access_denied")
    await check_refused(journey, provider_id, "provider_refused", code=None)
    await check_refused(journey, provider_id, "provider_refused", iss="https://evil.example.com")


async def test_a_provider_that_is_away(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    url = await journey.begin(provider_id)
    world.runtime.egress.fault = "The receiver did not answer in time."  # type: ignore[attr-defined]
    assert await journey.back(journey.authorize(url)) == "/ui/login?problem=provider_unreachable"


async def test_a_provider_that_is_deleted_meanwhile(world: World, journey: BrowserJourney) -> None:
    provider_id = await add(world)
    back = journey.authorize(await journey.begin(provider_id))
    await world.client("olga").delete(f"/api/provider/{provider_id}")
    assert await journey.back(back) == "/ui/login?problem=provider_not_found"


async def test_redirects_stay_on_the_own_server(world: World, journey: BrowserJourney) -> None:
    provider_id = await add(world)
    for to in (
        "https://evil.test/",
        "//evil.test/ui/",
        "/ui/\\evil.test",
        "/ui/\r\nSet-Cookie: x=y",
    ):
        assert await journey.sign_in(provider_id, to) == "/ui/"


async def test_too_many_refusals_are_limited(world: World, journey: BrowserJourney) -> None:
    provider_id = await add(world)
    for _ in range(20):
        await check_refused(journey, provider_id, "bad_state", state="x")
    await check_refused(journey, provider_id, "too_many_requests")


async def test_no_secret_is_revealed(
    world: World, journey: BrowserJourney, provider: Provider
) -> None:
    provider_id = await add(world)
    await journey.sign_in(provider_id)
    rows = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    text = await world.runtime.db.read(lambda tx: tx.rows("select box, endpoints from providers"))
    audit = (await world.client("ada").get("/api/audit?limit=1000")).text
    assert provider.client_secret not in str(rows) + str(text) + audit
