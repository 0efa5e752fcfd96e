"""States and kinds in the words of the console, for tables and records; JSON output has the values.

A test compares the words with the catalogues of the console.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from belvedere.cli.framework import rendering

if TYPE_CHECKING:
    from rich.text import Text

JOB_STATES = {
    "ready": "Queued",
    "assigned": "Running",
    "locked": "Running",
    "started": "Running",
    "syncing": "Syncing",
    "onhold": "Waiting for a person",
    "normal": "Succeeded",
    "success": "Succeeded",
    "failure": "Failed",
    "error": "Failed",
    "timeout": "Timed out",
    "canceled": "Canceled",
    "expired": "Expired",
    "lost": "Lost: may have run",
    "unreachable": "Host not responding",
    "rejected": "Rejected",
    "terminated": "Terminated",
    "finished": "Finished",
}
MONITOR_STATES = {
    "normal": "Normal",
    "failure": "Failing",
    "down": "Down",
    "low": "Warning",
    "updates_stopped": "Not reporting",
    "unknown": "Unknown",
    "paused": "Paused",
    "stale": "Silent",
}
HOST_STATES = {
    "online": "Online",
    "offline": "Offline",
    "unreachable": "Not reporting",
    "draining": "Draining",
    "disabled": "Disabled",
}
TASK_KINDS = {
    "script": "Script",
    "scraper": "Web request",
    "approval": "Approval",
    "dummy": "Input",
    "notification": "Notification",
}
ORIGINS = {
    "user": "a person",
    "secret": "secret key",
    "scheduler": "schedule",
    "trigger_by": "trigger",
    "workflow": "workflow step",
}
_OPEN_LIFECYCLES = ("ready", "assigned", "locked", "started", "syncing", "onhold")
_ENDED_LIFECYCLES = ("finished", "completed", "terminated")


def type_help(default: str, titles: Mapping[str, str]) -> str:
    """The help of `--type`, with the console's word for each type that has another one."""
    others = [f"{title} ({name})" for name, title in titles.items() if name != title.lower()]
    return f"the type (default {default}); in the console: {', '.join(others)}"


def job_state_name(job: dict[str, Any]) -> str:
    """The name in `JOB_STATES`, or the value of a state that has no word."""
    state, lifecycle = str(job["state"]), str(job["lifecycle"])
    if state == "lost":
        return "lost"
    if job.get("unreachable_since") and lifecycle in _OPEN_LIFECYCLES:
        return "unreachable"
    name = state if lifecycle in _ENDED_LIFECYCLES else lifecycle
    return name if name in JOB_STATES else state


def job_state_word(job: dict[str, Any]) -> str:
    name = job_state_name(job)
    return JOB_STATES.get(name, name)


def job_state(job: dict[str, Any]) -> "Text":
    return rendering.state_cell(job_state_name(job), job_state_word(job))


def monitor_state(monitor: dict[str, Any], *, is_service: bool = False) -> "Text":
    """Also of an indicator. A service that fails is down."""
    state = str(monitor["state"])
    if not monitor.get("enable", True) or monitor.get("paused_until"):
        return rendering.state_cell("paused", MONITOR_STATES["paused"])
    if state == "normal" and monitor.get("stale"):
        return rendering.state_cell("stale", MONITOR_STATES["stale"])
    name = state
    if state == "failure" and _severity(monitor) == "LOW":
        name = "low"
    elif state == "failure" and is_service:
        name = "down"
    return rendering.state_cell(state, MONITOR_STATES.get(name, state))


def _severity(monitor: dict[str, Any]) -> str:
    return str(monitor.get("failure_severity") or monitor.get("severity") or "").upper()


def host_state(host: dict[str, Any]) -> "Text":
    state = str(host["state"])
    return rendering.state_cell(state, HOST_STATES.get(state, state))


def job_starter(job: dict[str, Any]) -> str:
    """What started a job: `webhook crm-export`, `schedule nightly`, `token ci`, or a person."""
    if starter := job.get("started_by"):
        return f"{starter['kind']} {starter['name']}".strip()
    person = job["user"]["email"] or job["user"]["username"]
    origin = ORIGINS.get(job["origin"], job["origin"])
    if job["origin"] == "user":
        return str(person or origin)
    return f"{origin}, {person}" if person else str(origin)
