"""A server with one agent, and what a test does with them most of the time."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from belvedere.client.event_stream import follow
from e2e import process_leaks
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.world import World


@dataclass(frozen=True)
class Site:
    world: World
    agent: Agent

    def start(self, source: str, *arguments: str, **fields: Any) -> str:
        """Run this script once; the job's id."""
        labels = [f"argument {number}" for number, _ in enumerate(arguments)]
        return self.world.run(self.world.task(source, self.agent, *labels, **fields), *arguments)

    def run(self, source: str, *arguments: str, **fields: Any) -> dict[str, Any]:
        """The same, up to its end."""
        return self.world.wait_ended(self.start(source, *arguments, **fields))

    def says(self, job_id: str, word: bytes, within_s: float = 20.0) -> None:
        """Wait until the script has printed this."""
        until(lambda: word in self.world.log(job_id), within_s, lambda: self.world.job(job_id))

    def cancel(self, job_id: str) -> dict[str, Any]:
        self.world.api.put(f"/job/{job_id}/cancel")
        return self.world.wait_ended(job_id)

    def is_empty(self, within_s: float = 3.0) -> None:
        """No process of any script remains: neither below the keeper nor anywhere with its
        cookie."""
        keeper = self.agent.keeper()
        until(
            lambda: not process_leaks.descendants(keeper),
            within_s,
            lambda: process_leaks.descendants(keeper),
        )
        until(lambda: not self.agent.scripts(), within_s, self.agent.scripts)

    def listen(self, job_id: str, offset: int = 0) -> Iterator[tuple[str, Any]]:
        """Kind and content of the live log's events, through every interruption, up to its end."""
        client = self.world.client()
        query = {"follow": "true", "offset": offset}
        with contextlib.closing(client):
            for event in follow(client, f"/job/{job_id}/log", query, sleep=lambda _: None):
                yield event.kind, json.loads(event.data)
                if event.kind == "end":
                    return
