"""The outcome of a job: as an exit status, and in one line."""

from belvedere.cli.framework import time_words
from belvedere.cli.framework.command import Record

OPEN_LIFECYCLES = frozenset({"ready", "assigned", "onhold", "syncing", "started"})
# As `timeout` and shells report them; 125 means that the script's own result is not known.
STATUSES = {"normal": 0, "success": 0, "timeout": 124, "canceled": 130}
UNKNOWN_OUTCOME = 125


def is_over(job: Record) -> bool:
    return job["lifecycle"] not in OPEN_LIFECYCLES


def exit_status(job: Record) -> int:
    """0 for success, the script's own exit code for failure."""
    if job["state"] == "failure":
        code = (job.get("result") or {}).get("code") or 1
        return int(code) & 0xFF or 1
    return STATUSES.get(job["state"], UNKNOWN_OUTCOME)


def elapsed_s(job: Record) -> float | None:
    times = (job.get("result") or {}).get("times")
    return times["seconds"] + times["nanoseconds"] / 1e9 if times else None


def summary(job: Record) -> str:
    """The end of a job in one line: state, exit code, duration, and the reason if there is one."""
    result = job.get("result") or {}
    parts = [f"job {job['id']} ended: {job['state']}"]
    if job["state"] == "failure" and "code" in result:
        parts.append(f"exit code {result['code']}")
    if result.get("signal"):
        parts.append(f"signal {result['signal']}")
    seconds = elapsed_s(job)
    if seconds is not None:
        parts.append(f"after {time_words.span(seconds)}")
    reason = job.get("reason") or result.get("reason")
    if reason:
        parts.append(str(reason))
    return ", ".join(parts)


# What a job is waiting for, and what can be done about it. Other reasons are shown as they are.
WAITING_TEXTS = {
    "host_offline": "host {hostname} has been offline since {since}",
    "host_disabled": "host {hostname} is disabled; see: belvedere host enable {hostname}",
    "host_draining": "host {hostname} is draining; see: belvedere host enable {hostname}",
    "host_disk_full": "the disk of host {hostname} has been full since {since}: {message}",
    "host_busy": "a free slot on the host; {held_by} jobs are running there",
    "concurrency_limit": "the task's concurrency limit: {held_by} jobs are running",
    "retry_at": "the next attempt {at}",
    "approval": "approval until {until}; see: belvedere job approve {id}",
    "input": "input; see: belvedere job input {id} VALUES",
    "unreachable": "the host has been unreachable since {since}; the script may still be running",
    "canceling": "the host to confirm that everything has stopped",
    "lost": "a late result; or set it with: belvedere job resolve {id} OUTCOME",
}


def waiting_text(job: Record) -> str:
    """What an open job is waiting for; empty if it is running or next in the queue."""
    reason = job.get("waiting_reason") or ""
    detail = {"id": job["id"], **(job.get("waiting_detail") or {})}
    if reason == "host_offline" and not detail.get("since"):
        return f"host {detail['hostname']} has never connected"
    for name in ("since", "at", "until"):
        detail[name] = time_words.when(detail.get(name))
    detail["held_by"] = len(detail.get("held_by") or ())
    if reason == "queued":
        return ""
    return WAITING_TEXTS.get(reason, reason.replace("_", " ")).format_map(detail)
