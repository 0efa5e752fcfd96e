"""Records as the server shows them, for tests of the command line."""

from typing import Any

TASK_ID = "65a0000000000000000000a1"
JOB_ID = "65a0000000000000000000b1"
HOST_ID = "65a0000000000000000000c1"
INDICATOR_ID = "65a0000000000000000000f1"
WEBHOOK_ID = "65a0000000000000000000f2"
DELIVERY_ID = "65a0000000000000000000f3"
MONITOR_ID = "65a000000000000000000101"
SCHEDULE_ID = "65a000000000000000000102"


def task(**other: Any) -> dict[str, Any]:
    return {
        "id": TASK_ID,
        "name": "deploy",
        "type": "script",
        "enable": True,
        "host_id": HOST_ID,
        "hostname": "web-1",
        "timeout": None,
        "version": 3,
        "task_arguments": [{"label": "colour", "type": "input"}],
        "acl": [],
        "tags": [],
        "last_update": "2026-03-01T10:00:00.000Z",
        **other,
    }


# What an approval lets run.
PLANNED = {
    "task_id": TASK_ID,
    "name": "deploy",
    "type": "script",
    "hostname": "web-1",
    "script_filename": "deploy.sh",
    "script_sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    "arguments": ["v1.2"],
}


def job(**other: Any) -> dict[str, Any]:
    return {
        "id": JOB_ID,
        "name": "deploy",
        "lifecycle": "ready",
        "state": "in_progress",
        "host_id": HOST_ID,
        "task_id": TASK_ID,
        "user": {"id": "u", "username": "ada", "email": "ada@acme.example"},
        "origin": "user",
        "creation_date": "2026-03-01T10:00:00.000Z",
        "last_update": "2026-03-01T10:00:00.000Z",
        "started_at": None,
        "ended_at": None,
        "reason": None,
        "waiting_reason": None,
        "waiting_detail": None,
        "canceled_by": None,
        "resolved_by": None,
        "restarted_from": None,
        "attempt_count": 1,
        **other,
    }


def finished_job(state: str, code: int = 0, **other: Any) -> dict[str, Any]:
    result = {
        "code": code,
        "log": "",
        "lastline": "",
        "signal": None,
        "killed": False,
        "times": {"seconds": 1, "nanoseconds": 500_000_000},
    }
    return job(lifecycle="finished", state=state, result=result, output=None, **other)


def indicator(**other: Any) -> dict[str, Any]:
    return {
        "id": INDICATOR_ID,
        "title": "Disk/web-1",
        "type": "progress",
        "state": "normal",
        "value": 62.5,
        "gist": 62.5,
        "severity": "HIGH",
        "description": "",
        "read_only": False,
        "ttl": 60_000,
        "stale": False,
        "acl": [],
        "tags": [],
        "triggers": [{"event_name": "failure", "task_id": TASK_ID}],
        "last_push": "2026-03-01T10:00:00.000Z",
        "version": 1,
        **other,
    }


def schedule(**other: Any) -> dict[str, Any]:
    return {
        "id": SCHEDULE_ID,
        "name": "nightly",
        "target": "task",
        "task_id": TASK_ID,
        "workflow_id": None,
        "runDate": None,
        "repeatEvery": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "task_arguments": ["red"],
        "overlap": "skip",
        "missed": "once",
        "enable": True,
        "pause": {"since": "2026-03-01T10:00:00.000Z", "until": None, "note": "it snows"},
        "nextRunAt": "2126-03-01T01:30:00.000Z",
        "lastRunAt": None,
        "last_job_id": JOB_ID,
        "version": 4,
        **other,
    }


def webhook(**other: Any) -> dict[str, Any]:
    return {
        "id": WEBHOOK_ID,
        "name": "push",
        "enable": True,
        "tasks": [TASK_ID],
        "workflows": [],
        "signature": "none",
        "trigger_count": 7,
        "last_triggered": "2026-03-01T10:00:00.000Z",
        "customer_name": "acme",
        "version": 2,
        "last_update": "2026-03-01T10:00:00.000Z",
        **other,
    }


def delivery(**other: Any) -> dict[str, Any]:
    return {
        "id": DELIVERY_ID,
        "date": "2026-03-01T10:00:00.000Z",
        "address": "203.0.113.7",
        "door": "secret",
        "user": "",
        "verdict": "accepted",
        "delivery": None,
        "replay_of": None,
        "jobs": [{"id": JOB_ID, "task_id": TASK_ID}],
        "content_type": "application/json",
        "headers": {"user-agent": "forge"},
        "body": '["main"]',
        **other,
    }


def host(**other: Any) -> dict[str, Any]:
    return {
        "id": HOST_ID,
        "hostname": "web-1",
        "state": "online",
        "ip": "10.0.0.1",
        "os_name": "Linux",
        "os_version": "6.1",
        "agent_version": "0.1.0",
        "slots": 16,
        "tags": ["web"],
        "last_seen": "2026-03-01T10:00:00.000Z",
        "creation_date": "2026-03-01T10:00:00.000Z",
        **other,
    }


def monitor(**other: Any) -> dict[str, Any]:
    return {
        "id": MONITOR_ID,
        "name": "shop",
        "type": "scraper",
        "description": "",
        "host_id": HOST_ID,
        "hostname": "web-1",
        "state": "failure",
        "state_since": "2026-03-01T10:00:00.000Z",
        "last_check": "2026-03-01T10:00:00.000Z",
        "last_event": {"message": "status 500, expected 200", "data": {"status": 500}},
        "looptime": 60_000,
        "fails_count": 4,
        "fail_threshold": 3,
        "failure_severity": "HIGH",
        "config": {"url": "https://shop.example"},
        "paused_until": None,
        "alerts": True,
        "muted_until": None,
        "acl": [],
        "version": 2,
        **other,
    }
