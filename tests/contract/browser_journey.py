"""A browser that signs in through a provider, with its cookies."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from contract.client import Client
from contract.world import World
from providers.in_process_egress import InProcessEgress
from providers.openid import Provider, Signer

ISSUER = "https://id.example.com/realm"
SIGNER = Signer("k1")
PERSON = {"sub": "s-1", "email": "uma@acme.test", "email_verified": True, "name": "Uma"}
BODY = {
    "name": "Example ID",
    "issuer": ISSUER,
    "client_id": "belvedere",
    "client_secret": "s3cret of the client",
}


def provider_of(world: World, person: dict[str, Any] | None = None) -> Provider:
    """The provider behind the egress pool of this server."""
    provider = Provider(ISSUER, person=dict(person or PERSON), signer=SIGNER)
    provider.now = lambda: world.runtime.clock() / 1_000
    world.runtime.egress = InProcessEgress(provider=provider)
    return provider


async def add(world: World, who: str = "olga", **more: Any) -> str:
    """A provider of this person's organization; its id."""
    done = await world.client(who).post("/api/provider", {**BODY, **more})
    assert done.status == 201, done.text
    object_id: str = done.json["id"]
    return object_id


@dataclass
class BrowserJourney:
    """`at` is the provider; each step returns where it leads, as the browser sees it. `prefix` is
    what a proxy in between removes."""

    client: Client
    at: Provider
    cookies: dict[str, str] = field(default_factory=dict)
    prefix: str = ""

    async def begin(self, provider_id: str, to: str = "") -> str:
        query = f"?{urlencode({'to': to})}" if to else ""
        return await self._follow(f"{self.prefix}/-/oidc/{provider_id}/begin{query}")

    def authorize(self, url: str) -> str:
        answer = self.at.answer("GET", url, {}, "")
        assert answer.status == 302, answer.body
        return answer.location

    async def back(self, url: str, **change: str | None) -> str:
        """Where the callback leads; `change` replaces values in its query."""
        parts = urlsplit(url)
        body: dict[str, Any] = {**dict(parse_qsl(parts.query)), **change}
        query = urlencode({name: value for name, value in body.items() if value is not None})
        return await self._follow(urlunsplit(("", "", parts.path, query, "")))

    async def sign_in(self, provider_id: str, to: str = "", **change: str | None) -> str:
        there = self.authorize(await self.begin(provider_id, to))
        return await self.back(there, **change)

    @property
    def token(self) -> str:
        """The token of the session, if there is one."""
        return self.cookies.get("belvedere", "")

    async def _follow(self, address: str) -> str:
        assert address.startswith(f"{self.prefix}/"), address
        jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        # The console's page starts a sign-in; at the callback the value makes no difference.
        headers = {"sec-fetch-site": "same-origin"} | ({"cookie": jar} if jar else {})
        answer = await self.client.get(address.removeprefix(self.prefix), headers=headers)
        assert answer.status == 302, answer.text
        baked = answer.headers.get("set-cookie", "")
        if baked:
            name, _, value = baked.partition(";")[0].partition("=")
            self.cookies[name] = value
        return urljoin(address, answer.headers["location"])
