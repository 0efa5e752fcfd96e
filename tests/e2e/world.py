"""A whole installation made of real processes, in a folder of the test, and gone without a trace.

with World(tmp_path) as world:
    world.start()
    web = world.agent("web")
    task = world.task("#!/bin/sh\necho hello\n", web)
    job = world.ended(world.run(task))
"""

import itertools
import json
from pathlib import Path
from socket import gethostname
from types import TracebackType
from typing import Any, Self

from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.http_client import Client
from e2e import process_leaks
from e2e.programs import CUSTOMER, EMAIL, PASSWORD, TOKEN, Agent, Server, run
from e2e.proxy import Proxy
from e2e.wait_until import until

FINAL = ("finished", "canceled", "terminated", "expired")
# Jobs of a proof are compared at its end: none may be purged before.
HISTORY = {"count": 1_000_000, "days": 90}


class World:
    """One server, any number of agents; both are reached through a proxy whose address stays."""

    def __init__(self, folder: Path, database: str = "", verb: str = "server", **env: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.proxy = Proxy()
        self.url = self.proxy.url
        self.ca_file: str | None = None
        self.server = Server(folder / "data", database, verb, **env)
        self.agents: dict[str, Agent] = {}
        self.api = self.client()
        self._names = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(gently=fault is None)

    def start(self, *words: str, **env: str) -> bool:
        """Start the server, or start it again; false if it ended before it was ready."""
        is_there = self.server.start(*words, **env)
        if is_there:
            self.proxy.lead_to(self.server.url)
        return is_there

    def client(self, token: str = TOKEN, timeout_s: float = 20.0) -> Client:
        return Client(self.url, token, CUSTOMER, ca_file=self.ca_file, timeout_s=timeout_s)

    def beside(self) -> Client:
        """A client that does not pass through the proxy."""
        return Client(self.server.url, TOKEN, CUSTOMER)

    def trust(self, ca_file: Path) -> None:
        """The server uses TLS: our own calls go through the same proxy, encrypted."""
        self.url = self.url.replace("http:", "https:")
        self.ca_file = str(ca_file)
        self.api = self.client()

    def person(self) -> Client:
        """A signed-in person; an integration token may not do everything."""
        person = self.client(token="")
        body = {"email": EMAIL, "password": PASSWORD}
        person.token = person.post("/api/auth/login", body)["access_token"]
        return person

    def enrolment(self, uses: int = 1) -> str:
        """An enrolment token."""
        with self.person() as person:
            response: str = person.post("/api/enrolment", {"name": "test", "uses": uses})["token"]
        return response

    def agent(self, name: str, *words: str, **env: str) -> Agent:
        """A new agent, enrolled and connected."""
        agent = self.agents[name] = Agent(self.folder / name, name)
        agent.start(self.url, *words, BELVEDERE_ENROLMENT_TOKEN=self.enrolment(), **env)
        self.wait_connected(agent)
        return agent

    def local_agent(self) -> Agent:
        """The local agent of `belvedere up`."""
        agent = self.agents["local"] = Agent(self.server.data / "agent", gethostname())
        self.wait_connected(agent)
        return agent

    def wait_connected(self, agent: Agent, within_s: float = 30.0) -> dict[str, Any]:
        """The host of this agent, once it is online."""
        return until(lambda: self._online(agent), within_s, agent.read_log)

    def _online(self, agent: Agent) -> dict[str, Any]:
        hosts = [host for host in self.hosts() if host["hostname"] == agent.hostname]
        return hosts[0] if hosts and hosts[0]["state"] == "online" else {}

    def hosts(self) -> list[dict[str, Any]]:
        responses: list[dict[str, Any]] = self.api.get("/host")
        return responses

    def task(self, source: str, agent: Agent, *arguments: str, **fields: Any) -> str:
        """A script task on the host of this agent; its id."""
        name = f"task {next(self._names)}"
        body = {
            "name": name,
            "type": "script",
            "hostname": agent.hostname,
            "script": {"filename": "script.sh", "source": source},
            "task_arguments": [{"type": "input", "label": word} for word in arguments],
            "history": HISTORY,
            **fields,
        }
        response: str = self.api.post("/task", body)["id"]
        return response

    def run(self, task_id: str, *arguments: str) -> str:
        """A new job; its id."""
        body = {"task": task_id, "task_arguments": list(arguments)}
        response: str = self.api.post("/job", body)["id"]
        return response

    def job(self, job_id: str) -> dict[str, Any]:
        response: dict[str, Any] = self.api.get(f"/job/{job_id}", {"include[attempts]": "1"})
        return response

    def wait_ended(self, job_id: str, within_s: float = 30.0) -> dict[str, Any]:
        """The job when it has ended."""
        last: dict[str, Any] = {}

        def look() -> dict[str, Any]:
            nonlocal last
            last = self._job_or_nothing(job_id) or last
            return last if last.get("lifecycle") in FINAL else {}

        return until(look, within_s, lambda: last)

    def _job_or_nothing(self, job_id: str) -> dict[str, Any]:
        """Many tests stop the server for a moment."""
        try:
            return self.job(job_id)
        except ServerUnreachable:
            return {}
        except Problem as refusal:
            if refusal.status < 500:
                raise
            return {}

    def wait_running(self, job_id: str, within_s: float = 20.0) -> dict[str, Any]:
        """The job when its agent has reported that the process runs."""
        return until(lambda: _if_started(self.job(job_id)), within_s, lambda: self.job(job_id))

    def log(self, job_id: str) -> bytes:
        """Its whole output, as bytes."""
        with self.api.open(f"/job/{job_id}/log") as response:
            return response.read()

    def doctor(self) -> None:
        """`belvedere doctor` finds no problem in its data."""
        data = str(self.server.data)
        findings = json.loads(run("doctor", "--data", data, "--json", **self.server.env).stdout)
        assert {"jobs", "attempts", "logs"} <= {finding["check"] for finding in findings}, findings
        problems = {finding["check"] for finding in findings if finding["verdict"] == "problem"}
        # The tests' own PostgreSQL works without fsync.
        assert problems <= {"durability"}, findings

    def close(self, *, gently: bool = True) -> None:
        """End everything; fails if a process remains, also one that a script left somewhere."""
        self.api.close()
        try:
            if gently:
                self._leave()
                process_leaks.check_gone(self.folder)
        finally:
            for agent in self.agents.values():
                agent.end()
            self.server.kill()
            self.proxy.close()
            process_leaks.check_gone(self.folder)

    def _leave(self) -> None:
        # The server first: an agent that still runs would replace a keeper that exits.
        if self.server.is_running:
            self.server.stop()
        for agent in self.agents.values():
            agent.retire()


def _if_started(job: dict[str, Any]) -> dict[str, Any]:
    return job if job["started_at"] else {}
