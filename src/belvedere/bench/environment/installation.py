"""The measured installation, as a client sees it: the bench creates, runs and deletes two tasks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from belvedere.base.clock import parse_iso
from belvedere.base.errors import Refused
from belvedere.client.http_client import Client

START_TIMEOUT_S = 20.0
# The script that every figure starts: it does nothing.
SCRIPT = "#!/bin/sh\nexit 0\n"
# Limits of the bench's tasks: with the default, jobs would be purged while they are counted.
HISTORY_LIMITS = {"count": 1_000_000, "days": 1}
OPEN_LIFECYCLES = ["ready", "assigned"]


@dataclass(frozen=True, slots=True)
class BenchTarget:
    """The server to measure, and the host whose agent runs the script."""

    client: Client
    host_id: str

    @contextmanager
    def task(self, name: str) -> Iterator[str]:
        """The id of a task, which is deleted with its jobs afterwards."""
        task = self.client.post(
            "/task",
            {
                "name": f"belvedere bench: {name}",
                "type": "script",
                "host_id": self.host_id,
                "script": {"filename": "bench.sh", "source": SCRIPT},
                "history": HISTORY_LIMITS,
            },
        )
        try:
            yield task["id"]
        finally:
            self.client.delete(f"/task/{task['id']}/job")
            self.client.delete(f"/task/{task['id']}")
            self.client.delete(f"/file/{task['script_id']}")

    @contextmanager
    def host_disabled(self) -> Iterator[None]:
        """No jobs are dispatched to the host in this block."""
        self.client.put(f"/host/{self.host_id}/disable")
        try:
            yield
        finally:
            self.client.put(f"/host/{self.host_id}/enable")

    def cancel_all(self, task_id: str) -> None:
        query = {
            "where[task_id]": task_id,
            "limit": 1_000,
            **_where({"lifecycle": OPEN_LIFECYCLES}),
        }
        while jobs := self.client.get("/job", query):
            for job in jobs:
                self.client.put(f"/job/{job['id']}/cancel")

    def count(self, task_id: str, **filters: object) -> int:
        query = {"where[task_id]": task_id, "limit": 1, "count": "true", **_where(filters)}
        headers = self.client.request("GET", "/job", query=query).headers
        return int({name.lower(): value for name, value in headers.items()}["x-total-count"])

    def count_open(self, task_id: str) -> int:
        return self.count(task_id, lifecycle=OPEN_LIFECYCLES)

    def span_s(self, task_id: str) -> float:
        """Seconds from the first job's creation to the last job's end."""
        first = self._first(task_id, "creation_date", 1)
        last = self._first(task_id, "ended_at", -1)
        return (parse_iso(last) - parse_iso(first)) / 1_000

    def _first(self, task_id: str, field: str, direction: int) -> str:
        query = {"where[task_id]": task_id, "limit": 1, f"sort[{field}]": direction}
        return str(self.client.get("/job", query)[0][field])


def _where(filters: dict[str, object]) -> dict[str, object]:
    return {
        f"where[{name}]" + ("[$in][]" if isinstance(value, list) else ""): value
        for name, value in filters.items()
    }


def await_host(client: Client, name: str | None = None) -> str:
    """The only host of a temporary server, or the one with this name, once its agent is online."""
    give_up_at = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < give_up_at:
        online = [host for host in client.get("/host") if host["state"] == "online"]
        online = [host for host in online if name in (None, host["hostname"])]
        if online:
            return str(online[0]["id"])
        time.sleep(0.05)
    raise Refused("The agent did not connect. See the server's log above.")


def choose_host(client: Client, name: str | None) -> str:
    """The host of an existing server: the one with this name, or the only one that is online."""
    hosts = [host for host in client.get("/host") if host["state"] == "online"]
    if name is not None:
        hosts = [host for host in hosts if name in (host["hostname"], host["id"])]
    if len(hosts) == 1:
        return str(hosts[0]["id"])
    names = ", ".join(sorted(str(host["hostname"]) for host in hosts))
    if not hosts:
        raise Refused("No matching host is online. Start an agent, or choose another with --host.")
    raise Refused(f"Several hosts are online; choose one with --host: {names}.")
