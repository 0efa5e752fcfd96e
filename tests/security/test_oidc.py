"""Sign-in through providers, one of which is malicious: the lists of RFC 9207 and RFC 9700.

Acme's provider is honest. Eve owns globex and runs the provider of globex, which answers whatever
she likes. She wants to be Olga, the owner of acme."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from belvedere.egress.messages import EgressRequest, EgressResult
from contract.browser_journey import BODY, SIGNER, BrowserJourney
from contract.client import Client
from contract.world import World
from egress.fake_pool import FakeEgressPool
from providers.openid import Provider, Signer, b64

HONEST, EVIL = "https://id.example.com/realm", "https://evil.example.com"
OLGA = {"sub": "s-olga", "email": "olga@acme.test", "email_verified": True, "name": "Olga"}
EVES = Signer("e1")


@dataclass(slots=True)
class Network(FakeEgressPool):
    """Every provider by its issuer; `seen` contains the requests to each."""

    providers: dict[str, Provider] = field(default_factory=dict)
    seen: list[EgressRequest] = field(default_factory=list)

    async def send(self, request: EgressRequest) -> EgressResult:
        self.seen.append(request)
        for issuer, provider in self.providers.items():
            if request.url.startswith(issuer):
                headers = {name.lower(): value for name, value in request.headers.items()}
                provider_response = provider.answer(
                    request.method or "GET", request.url, headers, request.payload
                )
                return EgressResult(
                    status=provider_response.status, text=json.dumps(provider_response.body)
                )
        return EgressResult("The name of the receiver cannot be resolved.")


@dataclass
class TwoProviders:
    world: World
    honest: Provider
    evil: Provider
    network: Network
    # Ids of the providers at our server.
    ours: str = ""
    theirs: str = ""

    def going(self) -> BrowserJourney:
        return BrowserJourney(self.world.client(), self.honest)

    async def make_older(self, *which: str) -> None:
        """As providers are that were added before each had its own callback."""
        sql = "update providers set callback = 'shared' where id = ?"
        rows = [(item,) for item in which]
        await self.world.runtime.db.write(lambda tx: tx.execute_many(sql, rows))

    def requests_to_evil(self) -> str:
        return "\n".join(
            f"{item.url} {item.headers} {item.payload}"
            for item in self.network.seen
            if item.url.startswith(EVIL)
        )

    async def owner_of(self, token: str) -> str:
        profile = await Client(self.world.app, token).get("/api/session/profile")
        return str(profile.json["email"])


async def create_providers(world: World) -> TwoProviders:
    now = lambda: world.runtime.clock() / 1_000  # noqa: E731
    honest = Provider(HONEST, person=dict(OLGA), signer=SIGNER, now=now)
    evil = Provider(EVIL, client_id="eve", signer=EVES, now=now, person=dict(OLGA))
    network = Network(providers={HONEST: honest, EVIL: evil})
    world.runtime.egress = network
    two_providers = TwoProviders(world, honest, evil, network)
    sql = "update members set level = 'owner' where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.eve.member_id))
    world.runtime.credentials.clear()
    two_providers.ours = await _add_provider(world, "olga", BODY)
    two_providers.theirs = await _add_provider(
        world, "eve", {**BODY, "issuer": EVIL, "client_id": "eve"}
    )
    return two_providers


async def _add_provider(world: World, who: str, body: dict[str, Any]) -> str:
    done = await world.client(who).post("/api/provider", body)
    assert done.status == 201, done.text
    return str(done.json["id"])


async def test_the_owner_signs_in(world: World) -> None:
    here = await create_providers(world)
    journey = here.going()
    assert await journey.sign_in(here.ours) == "/ui/"
    assert await here.owner_of(journey.token) == "olga@acme.test"


# RFC 9207 and RFC 9700, 4.4: mix-up.


async def mixed_up(here: TwoProviders) -> tuple[str, BrowserJourney]:
    """Olga begins at Eve's provider, which redirects her browser to the honest one with its own
    state and challenge; she is signed in there and returns with a code of the honest one."""
    journey = here.going()
    url = await journey.begin(here.theirs)
    record = dict(parse_qsl(urlsplit(url).query))
    honest = f"{HONEST}/authorize?" + urlencode({**record, "client_id": "belvedere"})
    answer = here.honest.answer("GET", honest, {}, "")
    if answer.status != 302:
        return "refused by the provider", journey
    return await journey.back(answer.location), journey


@pytest.mark.parametrize("sends_iss", [True, False])
async def test_a_code_never_reaches_another_provider(world: World, sends_iss: bool) -> None:
    """Each has its own callback, and only that is registered at the provider."""
    here = await create_providers(world)
    here.honest.sends_iss = sends_iss
    here.honest.registered = (f"http://belvedere.test/-/oidc/{here.ours}/callback",)
    end, journey = await mixed_up(here)
    assert end == "refused by the provider"
    assert journey.token == "" and "code=" not in here.requests_to_evil()


async def test_a_callback_accepts_only_its_own_login_attempts(world: World) -> None:
    """Eve's provider names acme's callback instead of its own."""
    here = await create_providers(world)
    here.honest.sends_iss = False
    journey = here.going()
    record = dict(parse_qsl(urlsplit(await journey.begin(here.theirs)).query))
    record |= {"client_id": "belvedere"}
    record["redirect_uri"] = f"http://belvedere.test/-/oidc/{here.ours}/callback"
    back = journey.authorize(f"{HONEST}/authorize?{urlencode(record)}")
    assert await journey.back(back) == "/ui/login?problem=bad_state"
    assert "code=" not in here.requests_to_evil() and "POST /token" not in here.honest.asked


@pytest.mark.parametrize(
    ("older", "sends_iss", "problem"),
    [
        (("ours", "theirs"), True, "provider_refused"),
        (("ours", "theirs"), False, "callback_shared"),
        # Acme has switched, but the old address may still be registered at its provider.
        (("switched", "theirs"), True, "provider_refused"),
        (("switched", "theirs"), False, "callback_shared"),
    ],
)
async def test_older_providers_do_not_get_each_others_codes(
    world: World, older: tuple[str, str], sends_iss: bool, problem: str
) -> None:
    here = await create_providers(world)
    here.honest.sends_iss = sends_iss
    here.honest.registered = ("http://belvedere.test/-/oidc/callback",)
    await here.make_older(here.ours, here.theirs)
    if "switched" in older:
        path = f"/api/provider/{here.ours}"
        assert (await world.client("olga").patch(path, {"callback": "own"})).status == 200
    end, journey = await mixed_up(here)
    assert end == f"/ui/login?problem={problem}"
    assert journey.token == "" and "code=" not in here.requests_to_evil()


async def test_an_older_provider_keeps_the_shared_callback(world: World) -> None:
    here = await create_providers(world)
    await here.make_older(here.ours)
    record = (await world.client("olga").get(f"/api/provider/{here.ours}")).json
    assert record["callback"] == "http://belvedere.test/-/oidc/callback"
    assert record["callback_kind"] == "shared"
    here.honest.registered = (record["callback"],)
    for sends_iss in (True, False):
        here.honest.sends_iss = sends_iss
        journey = here.going()
        assert await journey.sign_in(here.ours) == "/ui/"
        assert journey.token


async def test_an_older_provider_is_switched_to_its_own_callback(world: World) -> None:
    here = await create_providers(world)
    await here.make_older(here.ours)
    olga, path = world.client("olga"), f"/api/provider/{here.ours}"
    expected = (await olga.get(path)).json["own_callback"]
    changed = (await olga.patch(path, {"callback": "own"})).json
    assert (changed["callback"], changed["callback_kind"]) == (expected, "own")
    here.honest.registered = (expected,)
    assert await here.going().sign_in(here.ours) == "/ui/"
    back = await olga.patch(path, {"callback": "shared"})
    assert (back.status, back.code) == (400, "invalid_body")
    fresh = await olga.post("/api/provider", {**BODY, "callback": "shared"})
    assert fresh.status == 400


async def test_a_switch_on_the_way_ends_the_sign_in(world: World) -> None:
    here = await create_providers(world)
    await here.make_older(here.ours)
    journey = here.going()
    back = journey.authorize(await journey.begin(here.ours))
    await world.client("olga").patch(f"/api/provider/{here.ours}", {"callback": "own"})
    assert await journey.back(back) == "/ui/login?problem=bad_state"


@pytest.mark.parametrize("is_older", [True, False])
async def test_an_issuer_that_names_itself_must_do_so(world: World, is_older: bool) -> None:
    here = await create_providers(world)
    here.honest.advertises_iss = True
    if is_older:
        # Saved before the server asked for it: it is looked up when the name is missing.
        sql = "update providers set endpoints = replace(endpoints, ?, ?) where id = ?"
        change = (',"names_itself":false', "", here.ours)
        await world.runtime.db.write(lambda tx: tx.execute(sql, *change))
    else:
        await world.client("olga").patch(f"/api/provider/{here.ours}", {})
    journey = here.going()
    assert await journey.sign_in(here.ours, iss=None) == "/ui/login?problem=provider_refused"
    assert "POST /token" not in here.honest.asked
    assert await here.going().sign_in(here.ours) == "/ui/"


@pytest.mark.parametrize(
    "iss", [EVIL, HONEST + "/", HONEST.upper(), "", " " + HONEST, HONEST + "\0", HONEST[:-1]]
)
async def test_the_issuer_is_compared_exactly(world: World, iss: str) -> None:
    here = await create_providers(world)
    journey = here.going()
    assert await journey.sign_in(here.ours, iss=iss) == "/ui/login?problem=provider_refused"
    assert journey.token == "" and "POST /token" not in here.honest.asked


# RFC 9700, 2.1 and 4.7: state belongs to one browser, one provider and one sign-in.


@pytest.mark.parametrize("name", ["state", "code", "iss", "error"])
async def test_a_parameter_that_comes_twice_is_refused(world: World, name: str) -> None:
    here = await create_providers(world)
    journey = here.going()
    back = urlsplit(journey.authorize(await journey.begin(here.ours)))
    for extra in (f"{back.query}&{name}=x", f"{name}=x&{back.query}"):
        address = f"{back.path}?{extra}" + ("&error=x" if name == "error" else "")
        assert await journey._follow(address) == "/ui/login?problem=bad_state"
    assert journey.token == ""


async def test_a_login_started_by_another_person_opens_no_session(world: World) -> None:
    """Login CSRF: Olga follows Eve's callback address with her own browser."""
    here = await create_providers(world)
    eve, olga = here.going(), here.going()
    back = eve.authorize(await eve.begin(here.ours))
    assert await olga.back(back) == "/ui/login?problem=bad_state"
    await olga.begin(here.ours)
    assert await olga.back(back) == "/ui/login?problem=bad_state"
    assert olga.token == ""


async def test_a_state_of_one_provider_is_none_of_another(world: World) -> None:
    here = await create_providers(world)
    journey = here.going()
    theirs = dict(parse_qsl(urlsplit(await journey.begin(here.theirs)).query))
    back = journey.authorize(await journey.begin(here.ours))
    end = await journey.back(back, state=theirs["state"])
    assert end == "/ui/login?problem=bad_state"


# RFC 9700, 2.1.1 and 4.5: authorization codes.


async def test_every_sign_in_has_its_own_challenge_and_nonce(world: World) -> None:
    here = await create_providers(world)
    items = [parse_qs(urlsplit(await here.going().begin(here.ours)).query) for _ in range(3)]
    for name in ("state", "nonce", "code_challenge"):
        assert len({item[name][0] for item in items}) == 3
    assert all(item["code_challenge_method"] == ["S256"] for item in items)
    assert all("code_verifier" not in item for item in items)


async def test_a_stolen_code_is_of_no_use(world: World) -> None:
    """Eve uses a code that was issued for Olga in a sign-in of her own: the verifier is hers."""
    here = await create_providers(world)
    olga, eve = here.going(), here.going()
    code = parse_qs(urlsplit(olga.authorize(await olga.begin(here.ours))).query)["code"][0]
    end = await eve.sign_in(here.ours, code=code)
    assert (end, eve.token) == ("/ui/login?problem=provider_refused", "")


async def test_the_secret_of_a_client_goes_to_its_own_provider_only(world: World) -> None:
    here = await create_providers(world)
    await here.going().sign_in(here.ours)
    with pytest.raises(AssertionError):
        # Eve's provider does not know the honest client, so its own page refuses.
        await here.going().sign_in(here.theirs)
    assert here.honest.client_secret not in here.requests_to_evil()


async def test_a_wrong_client_secret_opens_no_session(world: World) -> None:
    here = await create_providers(world)
    here.honest.client_secret = "another one"
    journey = here.going()
    end = await journey.sign_in(here.ours)
    assert (end, journey.token) == ("/ui/login?problem=provider_unreachable", "")


# ID tokens (OpenID Connect Core 3.1.3.7; RFC 8725).


def sign_none(claims: dict[str, Any], **header: Any) -> str:
    return ".".join(
        [b64(json.dumps({"alg": "none"}).encode()), b64(json.dumps(claims).encode()), ""]
    )


def keyed_by_the_public_key(claims: dict[str, Any], **header: Any) -> str:
    head = {"alg": "HS256", "kid": SIGNER.kid}
    parts = ".".join(b64(json.dumps(item).encode()) for item in (head, claims))
    mac = hmac.digest(json.dumps(SIGNER.public()).encode(), parts.encode(), hashlib.sha256)
    return f"{parts}.{b64(mac)}"


def with_its_own_key(claims: dict[str, Any], **header: Any) -> str:
    return EVES.token(claims, jwk=EVES.public())


def by_another_address(claims: dict[str, Any], **header: Any) -> str:
    return EVES.token(claims, jku=f"{EVIL}/keys", kid=EVES.kid)


@pytest.mark.parametrize(
    "forge", [sign_none, keyed_by_the_public_key, with_its_own_key, by_another_address]
)
async def test_a_forged_id_token_opens_no_session(
    world: World, monkeypatch: pytest.MonkeyPatch, forge: Any
) -> None:
    here = await create_providers(world)
    here.honest.signer = Signer(SIGNER.kid)
    monkeypatch.setattr(here.honest.signer, "token", forge)
    monkeypatch.setattr(here.honest.signer, "public", SIGNER.public)
    journey = here.going()
    end = await journey.sign_in(here.ours)
    assert (end, journey.token) == ("/ui/login?problem=bad_id_token", "")
    assert not any(request.url == f"{EVIL}/keys" for request in here.network.seen)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": HONEST},
        {"iss": HONEST, "aud": "belvedere"},
        {"iss": [EVIL, HONEST]},
        {"aud": ["eve", "belvedere"]},
        {"azp": "belvedere"},
        {"nonce": "another"},
        {"nonce": ["another"]},
    ],
    ids=str,
)
async def test_a_malicious_provider_cannot_impersonate_another(
    world: World, claims: dict[str, Any]
) -> None:
    here = await create_providers(world)
    here.evil.claims = claims
    journey = BrowserJourney(world.client(), here.evil)
    end = await journey.sign_in(here.theirs)
    assert (end, journey.token) == ("/ui/login?problem=bad_id_token", "")


async def test_eves_provider_signs_people_into_globex_only(world: World) -> None:
    """It may call any person Olga: that Olga is not the owner of acme."""
    here = await create_providers(world)
    await world.client("eve").patch(f"/api/provider/{here.theirs}", {"level": "admin"})
    journey = BrowserJourney(world.client(), here.evil)
    assert await journey.sign_in(here.theirs) == "/ui/"
    client = Client(world.app, journey.token)
    profile = (await client.get("/api/session/profile")).json
    assert [place["name"] for place in profile["customers"]] == ["globex"]
    assert profile["id"] != world.actors.olga.user_id
    there = await client.put(f"/api/session/customer/{world.actors.acme.id}")
    assert there.status == 403
    assert (await client.get("/acme/task")).status == 403


# RFC 9700, 4.2 and 4.11: what the browser keeps and where it is sent.


async def test_the_way_back_leaves_no_trace(world: World) -> None:
    here = await create_providers(world)
    journey = here.going()
    back = urlsplit(journey.authorize(await journey.begin(here.ours)))
    jar = "; ".join(f"{name}={value}" for name, value in journey.cookies.items())
    done = await journey.client.get(f"{back.path}?{back.query}", headers={"cookie": jar})
    assert done.status == 302
    assert done.headers["cache-control"] == "no-store"
    assert done.headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert "code" not in done.headers["location"] and "state" not in done.headers["location"]


# Login CSRF: only our own pages start a sign-in without confirmation.

FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_a_page_of_another_site_cannot_start_a_sign_in(
    world: World, headers: dict[str, str]
) -> None:
    here = await create_providers(world)
    reply = await world.client().get(f"/-/oidc/{here.theirs}/begin", headers=headers)
    assert reply.status == 200
    assert "location" not in reply.headers and "set-cookie" not in reply.headers
    assert "<form method='post'>" in reply.text and "Sign in to globex" in reply.text
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        *FOREIGN,
        {"origin": "https://evil.example.com"},
        {"origin": "null"},
        {"origin": "http://belvedere.test", "sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
async def test_a_form_of_another_site_cannot_start_a_sign_in(
    world: World, headers: dict[str, str]
) -> None:
    here = await create_providers(world)
    reply = await world.client().post(f"/-/oidc/{here.theirs}/begin", headers=headers)
    assert (reply.status, reply.json["code"]) == (403, "cross_site")
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "same-origin"}, {"origin": "http://belvedere.test"}], ids=str
)
async def test_the_button_of_the_page_starts_the_sign_in(
    world: World, headers: dict[str, str]
) -> None:
    """A bookmark works: the page keeps the query, and its button leads to the provider."""
    here = await create_providers(world)
    address = f"/-/oidc/{here.ours}/begin?to=%2Fui%2Facme%2Fjobs"
    reply = await world.client().post(address, headers=headers)
    assert reply.status == 303
    journey = here.going()
    name, _, value = reply.headers["set-cookie"].partition(";")[0].partition("=")
    journey.cookies[name] = value
    assert await journey.back(journey.authorize(reply.headers["location"])) == "/ui/acme/jobs"
    assert journey.token


async def test_names_on_the_page_are_escaped(world: World) -> None:
    here = await create_providers(world)
    await world.client("olga").patch(f"/api/provider/{here.ours}", {"name": "<b>ID</b>"})
    reply = await world.client().get(f"/-/oidc/{here.ours}/begin")
    assert "&lt;b&gt;ID&lt;/b&gt;" in reply.text and "<b>" not in reply.text
