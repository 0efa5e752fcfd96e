"""Faults that the tests of the simulator plant into the product, each as one replaced function."""

from typing import Any

from belvedere import hosts
from belvedere.agent.connection.session import ServerSession
from belvedere.agent.journal import rules
from belvedere.agent.journal.journal import Journal
from belvedere.base.errors import Conflict
from belvedere.db import installation, migrate
from belvedere.jobs import events, specs, store
from belvedere.jobs.attempts import end_attempt
from belvedere.jobs.lifecycle import actions, claim, create, finish, timeouts, verdict
from belvedere.jobs.model import JobState, Lifecycle
from belvedere.jobs.output import log_store, log_stream
from belvedere.jobs.recovery import hold, restore, resync
from belvedere.server import clock as server_clock

# A module or class, the name of its function, and its replacement.
Patch = tuple[Any, str, Any]


def any_journal_is_evidence() -> Patch:
    return resync, "_is_proof", lambda *_: True


def a_missing_fence_was_never_accepted() -> Patch:
    """As it was earlier: neither a rollback nor the agent's own report counts against the
    journal."""
    return resync, "_is_proof", lambda attempt, job, journal, _: attempt.journal_id == journal


def any_fence_ends_a_job() -> Patch:
    return finish, "_is_current", lambda job, attempt: not job.is_over


def lost_jobs_run_again() -> Patch:
    def again(job: Any, reason: str, now: int) -> None:
        store.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, now)

    return finish, "mark_lost", again


def keys_are_forgotten() -> Patch:
    return create, "_find_replay", lambda tx, request, by_key: None


def ends_are_told_once() -> Patch:
    resume = ServerSession._resume

    def forgetful(self: Any, entry: dict[str, Any], offset: int) -> None:
        if entry["report"] is None:
            resume(self, entry, offset)

    return ServerSession, "_resume", forgetful


def nothing_is_journalled() -> Patch:
    return Journal, "append", lambda self, record, *, sync: None


def cancel_is_taken_for_certain() -> Patch:
    def certain(tx: Any, actor: Any, job: Any) -> Any:
        store.apply_transition(job, Lifecycle.TERMINATED, JobState.CANCELED, tx.now)
        job.ended_at, job.trigger_name = tx.now, "canceled"
        store.save(tx, [job])
        end_attempt(tx, job, "ended")
        events.publish(tx, "canceled", [job])
        return job

    return actions, "_request_cancel", certain


def a_full_disk_fails_the_job() -> Patch:
    return finish, "is_returned", lambda report: False


def a_log_without_its_end_is_complete() -> Patch:
    """As it was earlier: output that a full disk dropped does not count."""
    return log_store.Log, "is_complete", property(lambda log: bool(log.sha256))


def dropped_output_has_no_marker() -> Patch:
    return log_store, "gap_text", lambda start, end: b""


def a_dropped_end_has_no_marker() -> Patch:
    async def nothing(*_: object) -> bytes:
        return b""

    return log_stream, "_mark_end", nothing


def dropped_output_closes_up() -> Patch:
    """Output after a gap is stored in its place, and the gap at the end."""
    add = log_store._add

    def append(tx: Any, log: Any, piece: Any) -> None:
        piece.at_byte = min(piece.at_byte, log.bytes_seen)
        add(tx, log, piece)

    return log_store, "_add", append


def changes_leave_no_event() -> Patch:
    return events, "publish", lambda tx, event, jobs: None


def a_restore_holds_nothing() -> Patch:
    return hold, "hold", lambda tx, host_id=None: 0


def a_restored_database_is_not_noticed() -> Patch:
    return restore, "check_hello", lambda tx, host_id, hello, before, attempts: 0


def any_journal_releases_held_jobs() -> Patch:
    def release(tx: Any, host_id: str, hello: Any, before: Any) -> int:
        return hold.release_proved(tx, host_id) if before.is_due else 0

    return restore, "compare", release


def a_lost_end_is_not_noticed() -> Patch:
    return restore, "_has_lost_end", lambda attempts, hello: False


def deadlines_follow_the_wall_clock() -> Patch:
    """As it was earlier: waits for a duration are waits for a time of day."""
    moves = tuple(move for move in server_clock.MOVES if move is not timeouts.move_clock)
    return server_clock, "MOVES", moves


def a_restore_does_not_raise_the_epoch() -> Patch:
    """Fences of lost commits are assigned again."""
    return restore, "raise_epoch", lambda tx, above=0: installation.newest_fence(tx)


def a_rolled_back_journal_is_kept() -> Patch:
    """As it was earlier: each retry raises the number of the hello until the server accepts it."""
    return rules, "renew", lambda state, new_id: []


def an_old_heartbeat_closes_the_new_connection() -> Patch:
    record = hosts.record_heartbeats

    def close_newest(tx: Any, beats: Any) -> Any:
        query = "select session from hosts where id = ?"
        return [(host_id, tx.value(query, host_id)) for host_id, _ in record(tx, beats)]

    return hosts, "record_heartbeats", close_newest


def retries_have_no_limit() -> Patch:
    return finish, "_may_repeat", lambda job, report, spec: spec.retry is not None


def only_signals_start_jobs() -> Patch:
    """No loop searches for jobs whose signal was missed, or whose pause before a retry is over."""
    return claim, "hosts_with_ready_jobs", lambda tx: []


def jobs_expire_early() -> Patch:
    expires_ms = specs.expires_ms
    return specs, "expires_ms", lambda spec: expires_ms(spec) // 4


def a_lost_job_did_not_run() -> Patch:
    mark_lost = finish.mark_lost

    def mark(job: Any, reason: str, now: int) -> None:
        mark_lost(job, reason, now)
        job.ran = "no"

    return finish, "mark_lost", mark


def exit_codes_are_ignored() -> Patch:
    def lenient(report: Any, **options: Any) -> Any:
        return verdict.decide(report, **{**options, "ignore_exit_code": True})

    return finish, "decide", lenient


def a_missing_fence_proves_nothing() -> Patch:
    """An order that never arrived becomes lost instead of being sent again."""
    return resync, "_is_proof", lambda *_: False


def a_new_keeper_knows_its_scripts() -> Patch:
    """It waits for the ends of scripts that its predecessor had started."""
    return rules, "recover", lambda state, boot_id, reports: setattr(state, "boot_id", boot_id)


def ends_are_forgotten_before_they_are_acknowledged() -> Patch:
    ended = rules.ended

    def forget(state: Any, fence: int, report: Any) -> Any:
        effects = ended(state, fence, report)
        return effects + (rules._forget(state, [fence]) if fence in state.entries else [])

    return rules, "ended", forget


def output_resumes_too_late() -> Patch:
    resume = ServerSession._resume

    def skip(self: Any, entry: dict[str, Any], offset: int) -> None:
        resume(self, entry, offset + 7 if offset else 0)

    return ServerSession, "_resume", skip


def a_migration_is_only_recorded() -> Patch:
    def record(tx: Any, name: str, text: str) -> bool:
        if name in migrate.lock_applied(tx):
            return False
        tx.execute("insert into migrations (name, at) values (?, ?)", name, tx.now)
        return True

    return migrate, "apply", record


def agents_of_an_earlier_version_are_refused() -> Patch:
    check_hello = restore.check_hello

    def check(tx: Any, host_id: str, hello: Any, *more: Any) -> int:
        if not hello.keeper_id:
            raise Conflict("This agent is too old.", code="too_old")
        return check_hello(tx, host_id, hello, *more)

    return restore, "check_hello", check
