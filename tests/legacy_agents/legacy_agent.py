"""A TheEye agent, as agent-protocol.md describes it: one request after another.

It runs nothing. It sends what the real one was observed to send.
"""

import base64
from dataclasses import dataclass, field
from typing import Any, Protocol

from contract.client import NOTHING, Response

INFO: dict[str, Any] = {
    "platform": "linux",
    "hostname": "vm",
    "type": "Linux",
    "release": "6.1.0",
    "arch": "x64",
    "totalmem": 25_275_125_760,
    "cpu": [{"model": "a processor", "speed": 0}],
    "net": [
        {"name": "lo", "address": "127.0.0.1", "mac": "00:00:00:00:00:00"},
        {"name": "eth0", "address": "10.1.2.3", "mac": "02:42:ac:11:00:02"},
    ],
    "cwd": "/opt/agent",
    "agent_version": "2.1.1",
    "agent_username": "root",
    "extras": {"user": {"uid": 0}, "agent_pid": 24_101},
}
HEADERS = {
    "user-agent": "theeye-agent/2.1.1",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "connection": "keep-alive",
}


class Wire(Protocol):
    """Sends a request: directly to the application, or over a socket."""

    async def request(
        self, method: str, target: str, body: Any = NOTHING, *, headers: Any = None
    ) -> Response: ...


@dataclass
class LegacyAgent:
    wire: Wire
    client_id: str
    secret: str
    hostname: str = "old-1"
    customer: str = "acme"
    info: dict[str, Any] = field(default_factory=lambda: dict(INFO))
    token: str = ""
    resource_id: str = ""

    async def send(self, method: str, target: str, body: Any = NOTHING) -> Response:
        headers = {**HEADERS, "authorization": f"Bearer {self.token}"}
        return await self.wire.request(method, target, body, headers=headers)

    async def sign_in(self) -> Response:
        pair = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        headers = {**HEADERS, "authorization": f"Basic {pair}", "content-length": "0"}
        answer = await self.wire.request("POST", "/token", headers=headers)
        if answer.status == 200:
            self.token = answer.json
        return answer

    async def register(self) -> Response:
        body = {"hostname": self.hostname, "version": "2.1.1", "info": self.info}
        answer = await self.send("POST", f"/host?customer={self.customer}", body)
        if answer.status == 200:
            self.resource_id = answer.json["resource_id"]
        return answer

    async def start(self) -> list[dict[str, Any]]:
        """Its complete start; the monitors that it has to check."""
        assert (await self.sign_in()).status == 200
        assert (await self.register()).status == 200
        return await self.config()

    async def config(self) -> list[dict[str, Any]]:
        answer = await self.send("GET", f"/{self.customer}/agent/{self.hostname}/config")
        # After any other response, the real one stops here forever.
        assert answer.status == 200 and isinstance(answer.json["workers"], list), answer.body
        workers: list[dict[str, Any]] = answer.json["workers"]
        return workers

    async def keep_alive(self) -> Response:
        return await self.send("PUT", f"/{self.customer}/agent/{self.hostname}")

    async def poll(self) -> list[dict[str, Any]]:
        answer = await self.send("GET", f"/{self.customer}/job?hostname={self.hostname}")
        assert answer.status == 200, answer.body
        jobs: list[dict[str, Any]] = answer.json["jobs"]
        return jobs

    async def fetch(self, job: dict[str, Any]) -> bytes:
        answer = await self.send("GET", f"/{self.customer}/script/{job['script']['id']}/download")
        assert answer.status == 200, answer.body
        return answer.body

    async def finish(self, job: dict[str, Any], state: Any = "success", **data: Any) -> Response:
        """As it sends an end: the state that it read from the last line, and the data."""
        body = {
            "code": 0,
            "log": "hello\n",
            "lastline": "hello",
            "signal": None,
            "killed": False,
            "times": {"seconds": 1, "nanoseconds": 61_619_313},
            **data,
        }
        return await self.report_result(job["id"], {"state": state, "data": body})

    async def report_result(self, job_id: str, result: dict[str, Any]) -> Response:
        return await self.send("PUT", f"/{self.customer}/job/{job_id}", {"result": result})

    async def update_config(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """If it is told to read its configuration again, it does so and reports it."""
        workers = await self.config()
        done = {"state": "success", "data": {"message": "agent monitors updated"}}
        assert (await self.report_result(job["id"], done)).status in (200, 204)
        return workers

    async def report(self, resource_id: str, state: Any, event: str = "", **data: Any) -> Response:
        body = {"state": state, "event": event, "data": data}
        return await self.send("PATCH", f"/{self.customer}/resource/{resource_id}/state", body)
