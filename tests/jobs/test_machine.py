"""Random sequences of operations on real jobs, compared with the reference model."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import run_timeouts
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.hosts import presence
from belvedere.jobs.approvals import votes
from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle import actions, timeouts
from belvedere.jobs.lifecycle import claim as queue
from belvedere.jobs.lifecycle.finish import ReceivedReport, ReportOutcome, finish
from belvedere.jobs.recovery import resync
from belvedere.protocol import Hello, JournaledAttempt, Report
from jobs import reference
from jobs.job_steps import JobSteps
from jobs.reference import EXPIRES, RETRY_DELAY, TIMEOUT, WAITING, Job

SLOTS = 3
START = 1_760_000_000_000
ENDINGS = ("exit", "timeout", "canceled", "error", "unknown")
RUN = ("plain", "narrow", "patient", "stubborn")
picks = st.integers(0, 11)


def _empty(tx: Tx, table: str) -> int:
    return tx.execute(f"delete from {table}")


class Jobs(RuleBasedStateMachine):
    def __init__(self, steps: JobSteps) -> None:
        super().__init__()
        self.steps = steps
        # Every example begins at the same moment, so that a failing one can be repeated.
        steps.clock.now = START
        # A host of its own: jobs of earlier examples are not affected.
        number = steps.db.write_blocking(lambda tx: tx.value("select count(*) from hosts"))
        self.name = f"machine-{number}"
        self.host_id = steps.host(self.name)
        self.tasks = {kind: self._task(kind) for kind in reference.KINDS}
        self.jobs: dict[str, Job] = {}
        self.journal, self.session, self.seen_at = "", 0, 0
        self.connect(False, 0)
        self.create_and_claim(["plain", "patient", "stubborn"])

    def _task(self, kind: str) -> str:
        times, on_lost = reference.KINDS[kind]
        fields: dict[str, Any] = {"name": kind, "timeout": TIMEOUT, "expires": EXPIRES}
        if kind in ("approval", "dummy"):
            fields["type"] = kind
        else:
            fields["host_id"] = self.host_id
        if kind == "approval":
            fields["approvers"] = ["ada@acme.test"]
        if kind == "narrow":
            fields["concurrency"] = 1
        if times:
            fields["retry"] = {"times": times, "delay": RETRY_DELAY, "on_lost": on_lost}
        return self.steps.task(**fields)

    @property
    def now(self) -> int:
        return self.steps.clock.now

    def pick(self, number: int) -> Job | None:
        """One of the jobs; low numbers mean those that can still change, the newest first."""
        jobs = list(reversed(self.jobs.values()))
        alive = [job for job in jobs if job.lifecycle == "assigned" or job.is_lost]
        some = (alive if number < 8 else [job for job in jobs if not job.is_over]) or jobs
        return some[number % len(some)] if some and number < 11 else next(iter(jobs), None)

    def refuses(self, verb: Any, *args: Any) -> None:
        with pytest.raises(Conflict):
            self.steps.db.write_blocking(verb, self.steps.actors.ada, *args)

    # Creating

    @rule(
        kind=st.sampled_from(sorted(reference.KINDS)),
        asked=st.sampled_from(["ready", "ready", "onhold", "syncing"]),
    )
    def create(self, kind: str, asked: str) -> None:
        new_job = self.steps.create(self.tasks[kind], lifecycle=asked)
        first = {"approval": "onhold", "dummy": "finished"}.get(kind, asked)
        job = Job(new_job.id, kind, first, self.now + EXPIRES)
        if kind == "dummy":
            job.state = "success"
        self.jobs[new_job.id] = job

    @rule(kinds=st.lists(st.sampled_from(RUN), min_size=1, max_size=3))
    def create_and_claim(self, kinds: list[str]) -> None:
        for kind in kinds:
            self.create(kind, "ready")
        self.claim()

    # Agent

    @rule()
    def claim(self) -> None:
        running = [job for job in self.jobs.values() if job.lifecycle == "assigned"]
        narrow = sum(job.kind == "narrow" for job in running)
        expected: list[Any] = []
        for job in sorted(self.jobs.values(), key=lambda item: item.id):
            if job.lifecycle != "ready" or job.not_before > self.now:
                continue
            if len(running) + len(expected) == SLOTS or (job.kind == "narrow" and narrow == 1):
                continue
            narrow += job.kind == "narrow"
            expected.append(job)
        claimed = self.steps.db.write_blocking(queue.claim, self.host_id, self.session)
        assert [claimed_record.job.id for claimed_record in claimed] == [job.id for job in expected]
        for job, first_claimed in zip(expected, claimed, strict=True):
            assert first_claimed.job.fence > max(
                [0, *(other.fence for other in self.jobs.values())]
            )
            job.claim(first_claimed.job.fence, self.journal, self.now)

    @rule(number=picks)
    def start(self, number: int) -> None:
        job = self.pick(number)
        if job is not None and job.fence:
            self.steps.db.write_blocking(resync.record_started, [(self.host_id, job.fence, 0)])
            job.start(self.now)

    @rule(number=picks, ending=st.sampled_from(ENDINGS), code=st.sampled_from([0, 0, 1]))
    def end(self, number: int, ending: str, code: int) -> None:
        job = self.pick(number)
        if job is not None and job.fence:
            is_current = job.lifecycle == "assigned" or (job.is_lost and not job.resolved)
            assert self._end(job.fence, ending, code) == ("counted" if is_current else "late")
            job.report(ending, code, self.now)

    @rule(number=picks, ending=st.sampled_from(ENDINGS))
    def end_of_an_old_attempt(self, number: int, ending: str) -> None:
        """Changes nothing, whenever it comes."""
        job = self.pick(number)
        for fence in [] if job is None else [old for old in job.old_fences if old != job.fence]:
            assert self._end(fence, ending, 0) == "late"

    def _end(self, fence: int, ending: Any, code: int) -> str:
        report = Report(ending, code=code)
        [outcome] = self.steps.db.write_blocking(
            finish, [ReceivedReport(self.host_id, fence, report)]
        )
        assert isinstance(outcome, ReportOutcome)
        return outcome.status

    @rule(is_new=st.booleans(), held=st.integers(0, 15))
    def connect(self, is_new: bool, held: int) -> None:
        """The agent reconnects; the bits of `held` say which of the running jobs it has."""
        if is_new or not self.journal:
            self.journal = f"{self.name}-{self.now}-{len(self.jobs)}-{self.session}"
        running = [job for job in self.jobs.values() if job.lifecycle == "assigned"]
        fences = {job.fence for n, job in enumerate(running) if held >> n & 1}
        entries = [JournaledAttempt(fence, "live") for fence in sorted(fences)]
        hello = Hello(self.name, "1", self.name, self.journal, "boot", SLOTS, entries)
        self.session = self.steps.db.write_blocking(presence.connect, self.host_id, hello, "")
        self.seen_at = self.now
        resync_result = self.steps.db.write_blocking(
            resync.resync_host, self.host_id, self.journal, entries
        )
        cancelled = sorted(job.fence for job in running if job.fence in fences and job.cancel)
        assert sorted(resync_result.live) == sorted(fences)
        assert sorted(resync_result.cancel) == cancelled
        assert resync_result.stop == []
        for job in self.jobs.values():
            job.meet(self.journal, job.fence in fences, self.now)

    @rule()
    def beat(self) -> None:
        self.steps.db.write_blocking(
            presence.record_heartbeats, [(self.host_id, self.session, self.now)]
        )
        self.seen_at = self.now

    # People

    @rule(number=picks)
    def cancel(self, number: int) -> None:
        job = self.pick(number)
        if job is None:
            return
        if not job.may_cancel():
            self.refuses(actions.cancel, job.id)
            return
        self.steps.db.write_blocking(actions.cancel, self.steps.actors.ada, job.id)
        job.cancel_it()

    @rule(number=picks, outcome=st.sampled_from(["normal", "success", "failure"]))
    def resolve(self, number: int, outcome: str) -> None:
        job = self.pick(number)
        if job is None:
            return
        if not job.may_resolve():
            self.refuses(actions.resolve, job.id, outcome, "")
            return
        self.steps.db.write_blocking(actions.resolve, self.steps.actors.ada, job.id, outcome, "")
        job.resolve(outcome)

    @rule(number=picks, approves=st.booleans())
    def vote(self, number: int, approves: bool) -> None:
        job = self.pick(number)
        if job is None or job.kind != "approval":
            return
        verb = votes.approve if approves else votes.reject
        if job.lifecycle != "onhold":
            self.refuses(verb, job.id)
            return
        self.steps.db.write_blocking(verb, self.steps.actors.ada, job.id)
        job.move("finished", "success" if approves else "failure")

    @rule(number=picks)
    def give_input(self, number: int) -> None:
        job = self.pick(number)
        if job is None or job.kind == "approval":
            return
        if job.lifecycle != "onhold":
            self.refuses(actions.give_input, job.id, [])
            return
        self.steps.db.write_blocking(actions.give_input, self.steps.actors.ada, job.id, [])
        job.move("ready", "in_progress")

    @rule(number=picks)
    def sync(self, number: int) -> None:
        job = self.pick(number)
        if job is None:
            return
        if job.lifecycle != "syncing":
            self.refuses(actions.sync, job.id)
            return
        self.steps.db.write_blocking(actions.sync, self.steps.actors.ada, job.id)
        job.move("ready", "in_progress")

    # Time

    @rule(seconds=st.sampled_from([1, 6, 25, 31, 70, 130, 700]))
    def wait(self, seconds: int) -> None:
        """The loops of the server process everything that time has changed."""
        self.steps.clock.move(seconds)
        run_timeouts.mark_silent(self.steps.db)
        self.steps.db.write_blocking(timeouts.mark_unreachable)
        self.steps.db.write_blocking(timeouts.mark_reachable)
        run_timeouts.lose_overdue(self.steps.db)
        self.steps.db.write_blocking(timeouts.expire)
        is_silent = self.now - self.seen_at > reference.UNREACHABLE
        for job in self.jobs.values():
            job.pass_time(self.now, is_silent)

    def teardown(self) -> None:
        """Nothing of this example may affect the next one."""
        for table in ("attempts", "jobs", "events"):
            self.steps.db.write_blocking(_empty, table)

    # Invariants

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        for job in self.jobs.values():
            row = self.steps.job(job.id)
            assert (row.lifecycle, row.state) == (job.lifecycle, job.state), job
            assert (row.version, row.fence, row.attempts) == (job.version, job.fence, job.attempts)
            assert row.ran == job.ran, job
            assert (row.unreachable_at is not None and not row.is_over) == (
                job.unreachable and not job.is_over
            ), job
            assert bool(row.reconciled) == job.reconciled
            assert (row.resolved_by is not None) == job.resolved
            assert (row.ended_at is not None) == job.is_over
            assert row.lifecycle not in WAITING or row.expires_at == job.expires_at

    @invariant()
    def events_add_up(self) -> None:
        if self.jobs:
            first = min(self.jobs)
            before = f"{int(first, 16) - 1:024x}"
            assert self.steps.db.write_blocking(consistency.check, before, 1_000) == []


def run(steps: JobSteps, examples: int, step_count: int) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    how = settings(
        max_examples=examples,
        stateful_step_count=step_count,
        suppress_health_check=quiet,
        deadline=None,
    )
    run_state_machine_as_test(lambda: Jobs(steps), settings=how)  # type: ignore[arg-type]


@pytest.mark.limit(240)
def test_random_stories_are_consistent(steps: JobSteps, engine: str) -> None:
    examples, step_count = (40, 50) if engine == "sqlite" else (10, 30)
    run(steps, examples, step_count)


@pytest.mark.prove
@pytest.mark.limit(7_200)
def test_long_random_stories_are_consistent(steps: JobSteps, engine: str) -> None:
    run(steps, 3_000 if engine == "sqlite" else 300, 60)
