"""A job whose starts a test can count."""

from typing import Any

from belvedere.agent.journal import journal
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.world import World

# Each start writes a line; it ends when the test requests it.
SCRIPT = """#!/bin/sh
echo started >> "$1"
until test -e "$2"; do sleep 0.02; done
"""


class TracedJob:
    """A job whose script counts its own starts."""

    def __init__(self, world: World, agent: Agent, name: str, **fields: Any) -> None:
        self._world = world
        self._marker, self._go = world.folder / f"{name}.starts", world.folder / f"{name}.go"
        self._task = world.task(SCRIPT, agent, "marker", "go", **fields)
        self.job_id = ""

    def create(self) -> "TracedJob":
        self.job_id = self._world.run(self._task, str(self._marker), str(self._go))
        return self

    def begins(self) -> "TracedJob":
        until(lambda: self.starts, 20, lambda: self._world.job(self.job_id))
        return self

    def go_on(self) -> "TracedJob":
        self._go.touch()
        return self

    def ends(self) -> dict[str, Any]:
        self.go_on()
        return self._world.wait_ended(self.job_id)

    @property
    def starts(self) -> int:
        return len(self._marker.read_text().split()) if self._marker.exists() else 0

    @property
    def record(self) -> dict[str, Any]:
        return self._world.job(self.job_id)

    @property
    def stands(self) -> tuple[str, str, str | None]:
        record = self.record
        return record["lifecycle"], record["ran"], record["waiting_reason"]


def list_unconfirmed(agent: Agent) -> list[str]:
    """Jobs that the agent names in a hello: those whose end the server has not confirmed yet."""
    ledger, _ = journal.read((agent.state / "journal").read_bytes().rstrip(b"\0"), "")
    return [entry.job_id for entry in ledger.entries.values()]


def start_by_trigger(world: World, agent: Agent) -> None:
    """The consumers of the event log read what is written after the restore."""
    indicator = world.api.post("/indicator", {"title": "Queue", "type": "progress"})["id"]
    world.task("#!/bin/sh\n", agent, triggers=[f"indicator:{indicator}:failure"])
    world.api.patch(f"/indicator/{indicator}", {"state": "failure"})
    until(lambda: [job for job in world.api.get("/job") if job["origin"] == "trigger_by"], 20)
