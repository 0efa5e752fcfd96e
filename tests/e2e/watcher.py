"""A reader of the event stream while processes are killed."""

import json
import threading
from collections import defaultdict
from typing import Any

from belvedere.client.errors import Problem
from belvedere.client.event_stream import StreamEvent, follow
from belvedere.client.http_client import Client

PATIENCE_S = 120.0


class _Enough(Exception):
    """The test has seen what it waited for."""


class Watcher(threading.Thread):
    """Follows `/-/events` from its start on, through every interruption, as a console would."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._is_over = False
        self.cuts = 0
        self.resyncs = 0
        self.cursors: list[tuple[int, ...]] = []
        # The events of each job, in the order in which they arrived.
        self.jobs: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            stream = follow(
                self._client, "/-/events", give_up_after_s=PATIENCE_S, on_cut=self._note_cut
            )
            for event in stream:
                self._note(event)
        except _Enough:
            pass
        except BaseException as fault:
            self.fault = fault

    def _note_cut(self, _: Problem) -> None:
        self.cuts += 1
        if self._is_over:
            raise _Enough

    def _note(self, event: StreamEvent) -> None:
        if event.kind == "resync":
            self.resyncs += 1
            return
        self.cursors.append(tuple(map(int, event.id.split("."))))
        if event.kind.startswith("job."):
            record = json.loads(event.data)
            self.jobs[record["object_id"]].append({"kind": event.kind, **record["data"]})

    def leave(self) -> None:
        self._is_over = True

    def has_heard(self, job: dict[str, Any]) -> bool:
        return len(self.jobs[job["id"]]) >= int(job["version"])

    def check(self, job: dict[str, Any]) -> None:
        """Every version of the job was sent once, and the last event agrees with the record."""
        items = sorted(self.jobs[job["id"]], key=lambda event: int(event["version"]))
        assert [item["version"] for item in items] == list(range(1, job["version"] + 1)), items
        last = items[-1]
        assert (last["lifecycle"], last["state"]) == (job["lifecycle"], job["state"]), items
