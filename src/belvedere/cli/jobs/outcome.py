"""What became of a job: as an exit status, and in one line."""

from typing import Any

from belvedere.cli.framework import time_words

Job = dict[str, Any]
OPEN = frozenset({"ready", "assigned", "onhold", "syncing", "started"})
# As `timeout` and a shell report them; 125 says that the script's own end is not known.
STATUSES = {"normal": 0, "success": 0, "timeout": 124, "canceled": 130}
UNKNOWN = 125


def is_over(job: Job) -> bool:
    return job["lifecycle"] not in OPEN


def exit_status(job: Job) -> int:
    """0 for a good end, the script's own code for a bad one."""
    if job["state"] == "failure":
        code = (job.get("result") or {}).get("code") or 1
        return int(code) & 0xFF or 1
    return STATUSES.get(job["state"], UNKNOWN)


def elapsed_s(job: Job) -> float | None:
    times = (job.get("result") or {}).get("times")
    return times["seconds"] + times["nanoseconds"] / 1e9 if times else None


def told(job: Job) -> str:
    """The end of a job in one line: state, exit code, how long, and why if that is known."""
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


# Why a job does not run, and what could be done about it. Others are shown as their word.
WAITS = {
    "host_offline": "its host {hostname} is offline since {since}",
    "host_disabled": "its host {hostname} is disabled; see: belvedere host enable {hostname}",
    "host_draining": "its host {hostname} is draining; see: belvedere host enable {hostname}",
    "host_disk_full": "its host {hostname} has a full disk since {since}: {message}",
    "host_busy": "its host has no free slot; {held_by} jobs run there",
    "concurrency_limit": "its task runs no more than that at once; held by {held_by} jobs",
    "retry_at": "it tries again {at}",
    "approval": "approval until {until}; see: belvedere job approve {id}",
    "input": "input; see: belvedere job input {id} VALUES",
    "unreachable": "its host is silent since {since}; the script may still run",
    "canceling": "its host to confirm that everything is stopped",
    "lost": "a late result, or your word; see: belvedere job resolve {id} OUTCOME",
}


def waits(job: Job) -> str:
    """What an open job waits for; empty when it runs or is simply next."""
    reason = job.get("waiting_reason") or ""
    detail = {"id": job["id"], **(job.get("waiting_detail") or {})}
    for name in ("since", "at", "until"):
        detail[name] = time_words.when(detail.get(name)) or "its first start"
    detail["held_by"] = len(detail.get("held_by") or ())
    if reason == "queued":
        return ""
    return WAITS.get(reason, reason.replace("_", " ")).format_map(detail)
