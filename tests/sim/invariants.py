"""What really happened, compared with the promises."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belvedere.db import columns
from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.jobs.history import consistency
from belvedere.jobs.model import FINAL, JobRow
from belvedere.jobs.output import log_store
from belvedere.jobs.output.log_stream import LogSource
from sim import current_actor
from sim.scripts import SimProcess, true_state
from sim.shown_logs import is_shown_as_complete, mark_gaps, read_shown_text
from sim.world import EPOCH_MS, MS, SECOND, Micros, World

if TYPE_CHECKING:
    from sim.host import Host
    from sim.initial_state import InitialState

# An agent must get a cancel within this time, even if signals are lost, and end the script.
STOP_WITHIN: Micros = 150 * SECOND
# How long a job of the task "brief" may wait, in milliseconds.
EXPIRY = 45_000
# Times are compared to the second, and a server treats a jump of less than two as drift.
OBSERVATION_ERROR: Micros = 15 * SECOND
# Why an attempt's end can be unknown permanently, and which fault its host must have had then.
CAUSES = {
    # A damaged journal contains neither its boot nor that there was another one.
    "keeper_lost": {"keeper_killed", "journal_lost"},
    "host_rebooted": {"rebooted"},
    # A hello whose number could not be written counts as one of an older journal after a reboot.
    # Nor can a late hello of an agent of an earlier version be told from that of an older journal.
    "journal_lost": {"journal_lost", "rolled_back", "disk_full", "server_restored", "late_hello"},
    # The result that replaced the loss may have been committed after the backup.
    "agent_unreachable": {"keeper_killed", "rebooted", "journal_lost", "server_restored"},
}


@dataclass
class Request:
    """A requested job."""

    token: str
    temper: str
    key: str | None
    sent: int = 0
    job_ids: set[str] = field(default_factory=set)


class Invariants:
    def __init__(self, world: World, setting: "InitialState") -> None:
        self.world = world
        self.hosts: list[Host] = []
        self.requests: list[Request] = []
        self.cancelled: set[str] = set()
        self.resolved: set[str] = set()
        # Canceled by a client that got a response, and when.
        self.stopped: dict[str, Micros] = {}
        self.healed_at: Micros = 0
        # From each backup to its restore: the database does not contain what happened then.
        self.gaps: list[tuple[Micros, Micros]] = []
        # Those of restores without `belvedere mark-restored`.
        self.unannounced: list[tuple[Micros, Micros]] = []
        # Jobs that a restored backup does not have.
        self.forgotten: set[str] = set()
        # A server's clock showed wrong times.
        self.clock_jumped = False
        # A server was running at all times: it noticed each jump, and no deadline may follow one.
        self.is_clock_followed = False
        # When jobs were first seen, and seen as expired, to the second by the real time.
        self.seen_at: dict[str, Micros] = {}
        self.expired_at: dict[str, Micros] = {}
        self._tempers = {task_id: temper for (_, temper), task_id in setting.tasks.items()}
        self._retries = {"patient": 2, "stubborn": 2}
        # After a restore without `mark-restored`, two hosts may get the same fence.
        self._by_fence: dict[tuple[str, int], SimProcess] = {}
        self._by_job: dict[str, list[SimProcess]] = {}
        # How the script of each job behaves, according to its task; filled when the job is first
        # seen.
        self.temper_of: dict[str, str] = {}

    # At every start

    def check_start(self, running: SimProcess) -> None:
        earlier = self._by_job.setdefault(running.job_id, [])
        key = (running.host.id, running.fence)
        if key in self._by_fence:
            self.world.accuse(f"fence {running.fence} was started twice")
        if any(item.is_alive and not _is_forgotten(item) for item in earlier):
            self.world.accuse(f"two processes of job {running.job_id} live at once")
        earlier.append(running)
        self._by_fence[key] = running

    def has_run(self, job_id: str) -> bool:
        return bool(self._by_job.get(job_id))

    # During the story

    def observe(self, rows: Iterable[tuple[str, str]]) -> None:
        """(job, lifecycle) of all jobs."""
        for job_id, lifecycle in rows:
            self.seen_at.setdefault(job_id, self.world.now)
            if lifecycle == "expired":
                self.expired_at.setdefault(job_id, self.world.now)

    # At the end

    def judge(self, tx: SqliteTx, logs: SqliteTx) -> None:
        """Everything that must be true when all faults have ended and everything has recovered."""
        jobs = tx.all(JobRow, f"select {columns(JobRow)} from jobs order by id")
        for sentence in consistency.check(tx, "", 10_000):
            self.world.accuse(sentence)
        self._judge_requests(tx, jobs)
        for job in jobs:
            self._judge_job(tx, job)
            self._judge_log(tx, logs, job)
        for job_id in self.stopped.keys() - self.forgotten:
            self._judge_stop(job_id)
        self._judge_hosts({job.id: job for job in jobs})

    def _judge_requests(self, tx: SqliteTx, jobs: list[JobRow]) -> None:
        there = {job.id for job in jobs}
        fields: dict[str, int] = {}
        for (text,) in tx.rows("select arguments from jobs where restarted_from is null"):
            token = json.loads(text)[0]
            fields[token] = fields.get(token, 0) + 1
        for request in self.requests:
            for job_id in request.job_ids - there - self.forgotten:
                self.world.accuse(f"job {job_id} was answered but is not there")
            count = fields.get(request.token, 0)
            if count > (1 if request.key else request.sent):
                self.world.accuse(f"request {request.token} made {count} jobs")

    def _judge_job(self, tx: SqliteTx, job: JobRow) -> None:
        runs = self._by_job.get(job.id, [])
        temper = self._tempers[job.task_id or ""]
        most = 1 + self._retries.get(temper, 0)
        # A restored database does not contain how often a job was retried after the backup.
        if temper in self._retries:
            most += sum(made_at < run.started_at < at for run in runs for made_at, at in self.gaps)
        if len(runs) > most:
            self.world.accuse(f"job {job.id} was started {len(runs)} times")
        if job.lifecycle not in FINAL:
            self.world.accuse(f"job {job.id} is stuck: {job.lifecycle}")
            return
        if job.ran == "no" and any(not self._is_unknowable(run) for run in runs):
            self.world.accuse(f"job {job.id} ({job.lifecycle}) ran, its record says it did not")
        if job.ran == "yes" and not runs:
            self.world.accuse(f"job {job.id} ({job.state}) never ran, its record says it did")
        self._judge_verdict(tx, job)

    def _is_unknowable(self, run: SimProcess) -> bool:
        """Only its host knew of it, and its job ended before that host connected."""
        return any(made_at < run.started_at < at for made_at, at in self.unannounced)

    def _judge_stop(self, job_id: str) -> None:
        """A canceled script ends soon after the response, or after all faults have ended."""
        asked_at = max(self.stopped[job_id], self.healed_at)
        for run in self._by_job.get(job_id, []):
            if run.ended_at is None or run.ended_at > asked_at + STOP_WITHIN:
                self.world.accuse(f"job {job_id} was cancelled and ran on")

    def _judge_verdict(self, tx: SqliteTx, job: JobRow) -> None:
        run = self._by_fence.get((job.host_id or "", job.fence))
        text = f"{job.lifecycle}/{job.state}"
        if job.resolved_by is not None:
            if job.id not in self.resolved:
                self.world.accuse(f"nobody resolved job {job.id}")
            return
        match job.state:
            case "lost":
                self._judge_loss(job)
            case "error":
                if run is not None:
                    self.world.accuse(f"job {job.id} ran but is said not to have started")
                if job.reason == "disk_full" and not job.reconciled:
                    self.world.accuse(f"job {job.id} failed because a disk was full")
            case "timeout":
                if run is None or run.asked != "timeout":
                    self.world.accuse(f"job {job.id} is {text}, but nobody stopped it for that")
            case "canceled":
                self._judge_canceled(job, run)
            case _:
                self._judge_exit(tx, job, run)

    def _judge_canceled(self, job: JobRow, run: SimProcess | None) -> None:
        if job.lifecycle == "expired":
            if self._is_early(job):
                self.world.accuse(f"job {job.id} expired before its time")
            return
        if job.id not in self.cancelled:
            self.world.accuse(f"nobody cancelled job {job.id}")
        if run is not None and job.lifecycle != "canceled" and run.asked != "canceled":
            self.world.accuse(f"job {job.id} is canceled, but it was not stopped for that")

    def _is_early(self, job: JobRow) -> bool:
        if not self.clock_jumped:
            return job.created_at + EXPIRY > (job.ended_at or 0)
        if not self.is_clock_followed or job.id not in self.expired_at:
            return False
        waited = self.expired_at[job.id] - self.seen_at[job.id]
        return waited < EXPIRY * MS - OBSERVATION_ERROR

    def _judge_exit(self, tx: SqliteTx, job: JobRow, run: SimProcess | None) -> None:
        if run is None:
            self.world.accuse(f"job {job.id} is {job.state} but never ran")
            return
        if run.asked or run.is_alive:
            self.world.accuse(f"job {job.id} is {job.state}, but it was stopped: {run.asked}")
            return
        result = json.loads(tx.value("select result from jobs where id = ?", job.id))
        if (result["code"], job.state) != (run.behaviour.code, true_state(run)):
            self.world.accuse(
                f"job {job.id} is {job.state} with code {result['code']}, in truth"
                f" {true_state(run)} with code {run.behaviour.code}"
            )

    def _judge_loss(self, job: JobRow) -> None:
        """Permanently lost only if its host has lost the result; otherwise it must be
        reconciled."""
        run = self._by_fence.get((job.host_id or "", job.fence))
        # An attempt that only the agent knew of is recorded when its host reconnects.
        claimed_at = run.started_at // MS if run else (job.assigned_at or 0) - EPOCH_MS
        # Except if it was sent over a connection that was already dead, and its host then returned
        # with another journal, which cannot say what the old one contained.
        is_excused = self.clock_jumped or job.reason == "journal_lost"
        if claimed_at * MS > self.healed_at and not is_excused:
            self.world.accuse(f"job {job.id} was lost after everything had healed")
        if job.reason == "agent_unreachable" and run is None:
            # The order never arrived, but its agent could not say so in time.
            return
        # A server may still assign to a host whose journal is lost and that has not reported it
        # yet.
        since = 0 if run is None or job.reason == "journal_lost" else run.started_at
        befell = self._mishaps(job, since)
        if not befell & CAUSES.get(job.reason or "", set()):
            self.world.accuse(
                f"job {job.id} is lost ({job.reason}) without a cause; its host met {befell}"
            )

    def _mishaps(self, job: JobRow, since: Micros) -> set[str]:
        host = next(host for host in self.hosts if host.id == job.host_id)
        late = {"late_hello"} if host.id in current_actor.doubted_hosts else set()
        return late | {name for at, name in host.mishaps if at >= since}

    def _judge_log(self, tx: SqliteTx, logs: SqliteTx, job: JobRow) -> None:
        run = self._by_fence.get((job.host_id or "", job.fence))
        if run is None or job.resolved_by is not None or job.state in ("lost", "error"):
            return
        row = tx.row("select result, log from jobs where id = ?", job.id)
        assert row is not None
        value = row[1].encode() if row[1] is not None else _stored_output(logs, job.fence)
        if job.lifecycle == "canceled" or value == run.output_so_far():
            return
        # The agent has deleted what the server acknowledged, its output is gone with its old
        # journal, or its disk was full: then the log must be shown as incomplete.
        is_excused = bool({"server_restored", "rolled_back"} & self._mishaps(job, run.started_at))
        dropped = run.host.disk.dropped.get(run.fence)
        source = LogSource(job, job.fence, 1, row[1] and row[1].encode(), json.loads(row[0]))
        if not (is_excused or dropped) or row[1] is not None:
            self.world.accuse(
                f"the log of job {job.id} has {len(value)} bytes of {len(run.output_so_far())}"
            )
        elif log_store.find(logs, job.fence) is None or is_shown_as_complete(logs, source):
            self.world.accuse(f"the log of job {job.id} is shown as complete, but it is not")
        elif dropped and not is_excused:
            self._judge_marks(job, run, read_shown_text(logs, source), dropped)

    def _judge_marks(
        self, job: JobRow, run: SimProcess, text: bytes, dropped: list[tuple[int, int]]
    ) -> None:
        if text != mark_gaps(run.output_so_far(), dropped):
            self.world.accuse(f"the log of job {job.id} does not mark what was dropped: {text!r}")

    def _judge_hosts(self, jobs: dict[str, JobRow]) -> None:
        for host in self.hosts:
            for run in host.alive():
                if not run.behaviour.cannot_die:
                    self.world.accuse(f"a process of job {run.job_id} was left behind")
            if host.keeper is not None and host.keeper.is_alive and host.keeper.open_entries:
                self.world.accuse(f"{host.name} still waits for acknowledgements")


def _is_forgotten(running: SimProcess) -> bool:
    """A report names processes that not even KILL ends, unless the journal or the report is
    lost."""
    lost = any(text in ("journal_lost", "server_restored") for _, text in running.host.mishaps)
    return running.behaviour.cannot_die and lost


def _stored_output(logs: SqliteTx, fence: int) -> bytes:
    return b"".join(chunk.data for chunk in log_store.chunks(logs, fence, 0, 10_000))
