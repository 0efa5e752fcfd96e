"""The worst requests that documented limits allow, for the table in cost_table.py."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from belvedere.access.anonymous_requests import SMALL_BODY
from belvedere.rest import fields
from belvedere.rest.request import MAX_ON_LOOP
from belvedere.rest.route import Route
from belvedere.server.transport import http_protocol as protocol
from contract.client import Client
from contract.flowing import create_workflow as new_workflow
from contract.flowing import secret_of as secret_of_workflow
from contract.test_indicators import create_indicator as new_indicator
from contract.test_webhooks import secret_of
from contract.world import World
from security.serving import request

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

SHAPES: dict[str, Callable[[int], bytes]] = {
    "numbers": lambda size: b"[" + b"1," * (size // 2 - 2) + b"1]",
    "empty lists": lambda size: b"[" + b"[]," * (size // 3 - 2) + b"[]]",
    "depth": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "escapes": lambda size: b'["' + b'\\"' * (size // 2 - 2) + b'"]',
    "an open string": lambda size: b'["' + b'\\",' * (size // 3 - 1),
    "quotes": lambda size: b'"' * size,
    "a number": lambda size: b"1" * size,
    "keys": lambda size: b"{" + b'"a":1,' * (size // 6 - 2) + b'"b":1}',
    "other keys": lambda size: b"{%s}" % b",".join(b'"%x":1' % n for n in range(size // 11)),
    "a text": lambda size: b'{"task_arguments":["%s"]}' % (b"\\u00e9" * (size // 6 - 5)),
}


@dataclass
class CostInputs:
    """A server with the objects that the worst request to one route needs; created when a row needs
    it."""

    world: World
    ada: Client

    async def task(self) -> tuple[str, str]:
        arguments = [{"type": "input", "label": "a"}]
        task_id = await self.world.task(task_arguments=arguments)
        return task_id, await self._secret("task", task_id)

    async def webhook(self, signature: str) -> tuple[str, str]:
        hook = (await self.ada.post("/acme/webhook", {"name": "in", "signature": signature})).json
        return hook["id"], await secret_of(self.ada, hook["id"])

    async def workflow(self) -> tuple[str, str]:
        workflow = await new_workflow(self.world, self.ada)
        return workflow["id"], await secret_of_workflow(self.ada, workflow)

    async def monitor(self) -> tuple[str, str]:
        body = {"name": "alive", "type": "push", "looptime": 60_000}
        monitor = (await self.ada.post("/acme/monitor", body)).json
        return monitor["id"], await self._secret("monitor", monitor["id"])

    async def badge(self) -> str:
        indicator = await new_indicator(self.ada, "x" * 100, "text", value="y" * 1_000)
        link = await self.ada.post(f"/acme/indicator/{indicator['id']}/public")
        token: str = link.json["token"]
        return token

    async def _secret(self, noun: str, object_id: str) -> str:
        secret: str = (await self.ada.get(f"/acme/{noun}/{object_id}/credentials")).json["secret"]
        return secret


Worst = Callable[[CostInputs, Route], Awaitable[bytes]]


def target(route: Route) -> str:
    """An address of the route that names nothing that exists."""
    path = route.path.replace("{secret}", "0" * 64).replace("{rest...}", "jobs")
    for part in path.split("/"):
        if part.startswith("{"):
            path = path.replace(part, "0" * 24 if part.endswith("id}") else "x")
    return f"{path}?customer=acme" if route.style == "both" else path


def _many_fields(to: str) -> str:
    pairs = "&".join(f"a{n}=%41%42{'b' * 40}" for n in range(fields.MAX_FIELDS - 10))
    return f"{to}{'&' if '?' in to else '?'}{pairs}"


async def head(scene: CostInputs, route: Route) -> bytes:
    """Each limit of a head at once: fields of the query, number, size and parts of headers."""
    headers = {f"x{n}": "a" for n in range(protocol.MAX_HEADERS - 10)}
    headers |= {
        "content-type": "application/json" + ";a=b" * 3_000,
        "cookie": ";".join(f"a{n}=b" for n in range(1_500)),
        "if-none-match": '"a",' * 3_000,
        "range": "bytes=" + "0-1," * 1_000,
    }
    return request(route.method, _many_fields(target(route)), headers, b"{}")


def upgrade(token: str = "", frame: bytes = b"", headers: dict[str, str] | None = None) -> Worst:
    """The request of an agent that opens its WebSocket, with the data that it sends before the
    reply."""

    async def worst(scene: CostInputs, route: Route) -> bytes:
        head_fields = {
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-version": "13",
            "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            **({"authorization": f"Bearer {token}"} if token else {}),
            **(headers or {}),
        }
        return request("GET", "/-/agent", head_fields) + frame

    return worst


def path(segment: str, most: int = protocol.MAX_PATH) -> Worst:
    """The longest path, which belongs to no route because of its segments."""

    async def worst(scene: CostInputs, route: Route) -> bytes:
        to = target(route).partition("?")[0]
        to += f"/{segment}" * ((most - len(to)) // (len(segment) + 1))
        return request(route.method, to, JSON, b"{}")

    return worst


async def long_name(scene: CostInputs, route: Route) -> bytes:
    """The name in the path as long as a path may be, each byte escaped."""
    parts = route.path.split("/")
    name = next(part for part in reversed(parts) if part.startswith("{"))
    to = target(route).replace("0" * 64 if name == "{secret}" else "/x", "/" + "%41" * 2_700, 1)
    return request(route.method, to.replace("//", "/"), JSON, b"{}")


def query(name: str) -> Worst:
    async def worst(scene: CostInputs, route: Route) -> bytes:
        to = f"{target(route)}?{name}="
        return request(route.method, to + "%41" * ((protocol.MAX_URL - len(to)) // 3))

    return worst


def body(shape: str, size: int = SMALL_BODY) -> Worst:
    """A body of this shape from a client without a credential."""

    async def worst(scene: CostInputs, route: Route) -> bytes:
        return request(route.method, target(route), JSON, SHAPES[shape](size))

    return worst


def fields_of(text: str, *names: str) -> Worst:
    """An object that the route accepts, its fields as long as the body may be."""

    async def worst(scene: CostInputs, route: Route) -> bytes:
        length = (SMALL_BODY - 100) // len(names) // len(text.encode())
        pairs = ",".join(f'"{name}":"{text * length}"' for name in names)
        return request(route.method, target(route), JSON, f"{{{pairs}}}".encode())

    return worst


def with_secret(content: bytes, headers: dict[str, str] = JSON) -> Worst:
    """A body from a client with the right secret, or a right signature."""

    async def worst(scene: CostInputs, route: Route) -> bytes:
        to, more = await _open_upload(scene, route, content)
        return request(route.method, to, {**headers, **more}, content)

    return worst


async def _open_upload(
    scene: CostInputs, route: Route, content: bytes
) -> tuple[str, dict[str, str]]:
    noun = route.path.split("/")[1]
    if route.path.endswith("/signed"):
        hook_id, secret = await scene.webhook("hmac-sha256")
        mac = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
        to = f"/acme/webhook/{hook_id}/trigger/signed"
        return to, {"x-belvedere-signature": f"sha256={mac}"}
    if noun == "webhook":
        object_id, secret = await scene.webhook("none")
    elif noun == "workflows":
        object_id, secret = await scene.workflow()
    elif noun == "monitor":
        object_id, secret = await scene.monitor()
    else:
        object_id, secret = await scene.task()
    to = route.path.replace("{id}", object_id).replace("{secret}", secret)
    return f"{to}?customer=acme" + (f"&task={object_id}" if noun == "job" else ""), {}


async def picture(scene: CostInputs, route: Route) -> bytes:
    return request("GET", f"/-/badge/{await scene.badge()}.svg")


def form(size: int) -> bytes:
    """As many escaped bytes as fit, in as many fields as are read."""
    piece = size // (fields.MAX_FIELDS - 1) - len("task_arguments[]=&")
    return "&".join(
        f"task_arguments[]={'%41' * (piece // 3)}" for _ in range(fields.MAX_FIELDS - 1)
    ).encode()


def one_field(size: int) -> bytes:
    return b"task_arguments[]=" + b"%41" * (size // 3 - 6)


ON_LOOP = MAX_ON_LOOP
