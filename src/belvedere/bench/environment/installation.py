"""The installation that is measured, as its clients see it: two tasks made, run, and removed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from belvedere.base.clock import parse_iso
from belvedere.base.errors import Refused
from belvedere.bench.measure.bare import SCRIPT
from belvedere.client.http_client import Client

START_S = 20.0
# The history of the bench's own tasks; the product's default would purge it while we count.
KEEP = {"count": 1_000_000, "days": 1}
OPEN = ["ready", "assigned"]


@dataclass(frozen=True, slots=True)
class Site:
    """A server to measure, and the host whose agent runs the script."""

    client: Client
    host_id: str

    @contextmanager
    def task(self, name: str) -> Iterator[str]:
        """The id of a task that is gone with its jobs afterwards."""
        made = self.client.post(
            "/task",
            {
                "name": f"belvedere bench: {name}",
                "type": "script",
                "host_id": self.host_id,
                "script": {"filename": "bench.sh", "source": SCRIPT},
                "history": KEEP,
            },
        )
        try:
            yield made["id"]
        finally:
            self.client.delete(f"/task/{made['id']}/job")
            self.client.delete(f"/task/{made['id']}")
            self.client.delete(f"/file/{made['script_id']}")

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Its host takes no work meanwhile."""
        self.client.put(f"/host/{self.host_id}/disable")
        try:
            yield
        finally:
            self.client.put(f"/host/{self.host_id}/enable")

    def cancel_all(self, task_id: str) -> None:
        query = {"where[task_id]": task_id, "limit": 1_000, **_where({"lifecycle": OPEN})}
        while jobs := self.client.get("/job", query):
            for job in jobs:
                self.client.put(f"/job/{job['id']}/cancel")

    def count(self, task_id: str, **only: Any) -> int:
        query = {"where[task_id]": task_id, "limit": 1, "count": "true", **_where(only)}
        headers = self.client.request("GET", "/job", query=query).headers
        return int({name.lower(): value for name, value in headers.items()}["x-total-count"])

    def count_open(self, task_id: str) -> int:
        return self.count(task_id, lifecycle=OPEN)

    def span_s(self, task_id: str) -> float:
        """From the first job's creation to the last one's end."""
        first = self._first(task_id, "creation_date", 1)
        last = self._first(task_id, "ended_at", -1)
        return (parse_iso(last) - parse_iso(first)) / 1_000

    def _first(self, task_id: str, field: str, direction: int) -> str:
        query = {"where[task_id]": task_id, "limit": 1, f"sort[{field}]": direction}
        return str(self.client.get("/job", query)[0][field])


def _where(only: dict[str, Any]) -> dict[str, Any]:
    return {
        f"where[{name}]" + ("[$in][]" if isinstance(value, list) else ""): value
        for name, value in only.items()
    }


def await_host(client: Client, name: str | None = None) -> str:
    """A host of a private server, the only one or that of this name, once its agent is there."""
    give_up_at = time.monotonic() + START_S
    while time.monotonic() < give_up_at:
        online = [host for host in client.get("/host") if host["state"] == "online"]
        online = [host for host in online if name in (None, host["hostname"])]
        if online:
            return str(online[0]["id"])
        time.sleep(0.05)
    raise Refused("The agent did not connect; the server's log above may say why.")


def choose_host(client: Client, name: str | None) -> str:
    """The host of an existing server: as named, or the only one that is there."""
    hosts = [host for host in client.get("/host") if host["state"] == "online"]
    if name is not None:
        hosts = [host for host in hosts if name in (host["hostname"], host["id"])]
    if len(hosts) == 1:
        return str(hosts[0]["id"])
    names = ", ".join(sorted(str(host["hostname"]) for host in hosts))
    if not hosts:
        raise Refused("No such host is online; start an agent, or name another with --host.")
    raise Refused(f"Several hosts are online; choose one with --host: {names}.")
