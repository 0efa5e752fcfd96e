"""A host of acme, tasks on it, and short methods for what happens to their jobs."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.events import Event
from belvedere.hosts import presence
from belvedere.hosts import store as host_store
from belvedere.jobs import store
from belvedere.jobs.attempts import Attempt, attempts_for_job
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import claim as queue
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, create
from belvedere.jobs.lifecycle.finish import ReceivedReport, ReportOutcome, finish
from belvedere.jobs.model import JobRow
from belvedere.jobs.recovery import resync
from belvedere.jobs.recovery.resync import ResyncResult
from belvedere.jobs.store import JobDetails
from belvedere.protocol import Hello, JournaledAttempt, Report
from belvedere.tasks import service as task_service
from belvedere.tasks.bodies import TaskBody
from event_rows import for_object
from manual_clock import ManualClock
from people import Actors

MISSING = "0" * 24
JOURNAL = "journal-1"


class JobSteps:
    """Every method is one transaction."""

    def __init__(self, db: Database, keys: Keyring, actors: Actors, clock: ManualClock) -> None:
        self.db = db
        self.keys = keys
        self.actors = actors
        self.clock = clock
        self.host_id = self.host("web-1")
        self.session = 0

    # Objects

    def host(self, name: str, customer_id: str = "") -> str:
        customer = customer_id or self.actors.acme.id
        return self.db.write_blocking(host_store.insert, customer, name, name, "192.0.2.7").id

    def task(self, **fields: Any) -> str:
        """A script task of acme, visible to everyone that it names; other kinds bring their own
        fields."""
        if fields.get("type", "script") in ("script", "scraper"):
            fields.setdefault("host_id", self.host_id)
        if fields.setdefault("type", "script") == "script":
            fields.setdefault("script", {"filename": "a.sh", "source": "#!/bin/sh\n"})
        fields.setdefault("name", "greet")
        body = msgspec.convert(fields, TaskBody, strict=False)
        view, _ = self.db.write_blocking(task_service.create, self.keys, self.actors.ada, body)
        return view.id

    # Events

    def create_job(self, expected: JobRequest) -> CreatedJob:
        [answer] = self.db.write_blocking(create, [expected])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def create(
        self,
        task_id: str = "",
        given: list[Any] | None = None,
        actor: Actor | None = None,
        key: str | None = None,
        **rest: Any,
    ) -> JobRow:
        once = None if key is None else IdempotencyKey("POST /job", key, repr(given))
        who = actor or self.actors.ada
        return self.create_job(
            JobRequest(who, task_id or self.task(), given, idempotency_key=once, **rest)
        ).job

    def connect(
        self,
        entries: dict[int, str] | None = None,
        *,
        journal: str = JOURNAL,
        slots: int = 16,
        host_id: str = "",
    ) -> ResyncResult:
        """The agent sends its hello; its session counts from now on."""
        host = host_id or self.host_id
        items: Any = [JournaledAttempt(fence, state) for fence, state in (entries or {}).items()]  # type: ignore[arg-type]
        name = "web-1" if host == self.host_id else "web-2"
        hello = Hello(name, "1", name, journal, "boot-1", slots, items)
        session = self.db.write_blocking(presence.connect, host, hello, "")
        if host == self.host_id:
            self.session = session
        return self.db.write_blocking(resync.resync_host, host, journal, items)

    def claim(self) -> list[Claimed]:
        return self.db.write_blocking(queue.claim, self.host_id, self.session)

    def assign(self, task_id: str = "", **rest: Any) -> JobRow:
        """A job that its agent has."""
        job = self.create(task_id, **rest)
        if not self.session:
            self.connect()
        [claimed] = self.claim()
        assert claimed.job.id == job.id
        return claimed.job

    def report_started(self, fence: int, ago_ms: int = 0) -> None:
        self.db.write_blocking(resync.record_started, [(self.host_id, fence, ago_ms)])

    def end(self, fence: int, ending: Any = "exit", **report: Any) -> ReportOutcome:
        item = ReceivedReport(self.host_id, fence, Report(ending, **report))
        [outcome] = self.db.write_blocking(finish, [item])
        assert isinstance(outcome, ReportOutcome)
        return outcome

    def lose(self, task_id: str = "", **rest: Any) -> JobRow:
        """A lost job: its outcome is unknown."""
        job = self.assign(task_id, **rest)
        self.end(job.fence, "unknown", reason="keeper_lost")
        return self.job(job.id)

    # Results

    def job(self, job_id: str) -> JobRow:
        return self.db.write_blocking(store.find, self.actors.acme.id, job_id)

    def heavy(self, job_id: str) -> JobDetails:
        return self.db.write_blocking(store.read_details, job_id)

    def attempts(self, job_id: str) -> list[Attempt]:
        return self.db.write_blocking(attempts_for_job, job_id)

    def events(self, job_id: str) -> list[Event]:
        return self.db.write_blocking(for_object, job_id)

    def kinds(self, job_id: str) -> list[str]:
        return [event.kind.removeprefix("job.") for event in self.events(job_id)]

    def status(self, job_id: str) -> str:
        """Lifecycle and state as one text."""
        job = self.job(job_id)
        return f"{job.lifecycle}/{job.state}"
