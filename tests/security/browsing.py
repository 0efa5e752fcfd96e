"""A browser for tests: it keeps cookies and says that the console's own page sends the request."""

from dataclasses import dataclass, field
from typing import Any

from contract.client import Response
from contract.world import World
from people import PASSWORD

LOGIN = "/api/auth/login"
SET_COOKIE = ("set-cookie", "Set-Cookie")


@dataclass
class TestBrowser:
    """Cookies of one address at one server."""

    __test__ = False

    world: World
    address: str = "192.0.2.50"
    agent: str = "Firefox"
    scheme: str = "http"
    cookies: dict[str, str] = field(default_factory=dict)

    async def request(self, method: str, target: str, body: Any = None) -> Response:
        headers = {"sec-fetch-site": "same-origin", "user-agent": self.agent}
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        client = self.world.client(address=self.address, scheme=self.scheme, headers=headers)
        answer = await client.request(method, target, **({} if body is None else {"body": body}))
        for line in (answer.headers[name] for name in SET_COOKIE if name in answer.headers):
            name, _, text = line.partition(";")[0].partition("=")
            self.cookies[name] = text
        return answer

    async def sign_in(self, name: str = "uma", password: str = PASSWORD) -> Response:
        return await self.request("POST", LOGIN, {"email": name, "password": password})
