"""Requests of commands about hosts and artifacts; a part of the table in test_calls.py."""

from pathlib import Path
from typing import Any

import cli_records

HOST = f"/host/{cli_records.HOST_ID}"
FILE = Path(__file__).with_name("definition.json")
DEFINITION_ID = "65a000000000000000000301"
DEFINITION = f"/definition/{DEFINITION_ID}"
FOUND: dict[str, Any] = {
    "id": DEFINITION_ID,
    "kind": "task",
    "name": "backup",
    "host_tag": "web",
    "version": 4,
    "definition": {"name": "backup", "type": "script"},
    "instances": [{"id": cli_records.TASK_ID, "host_id": cli_records.HOST_ID, "hostname": "web-1"}],
    "last_update": "2026-03-01T10:00:00.000Z",
}
FILES = f"/job/{cli_records.JOB_ID}/files"
LEFT = [{"name": "report.txt", "size": 5, "sha256": "ab" * 32, "complete": True}]
EXECUTED = {"jobs": [cli_records.job(hostname="web-1")]}
CALLS: list[tuple[str, tuple[str, str, dict[str, str], Any], str]] = [
    ("host list --tag web", ("GET", "/host", {"where[tags]": "web"}, None), "Online"),
    ("host tag web-1 blue --only", ("PATCH", HOST, {}, {"tags": ["blue"]}), "web-1"),
    (
        "exec --host web-1 --detach uptime",
        ("POST", "/exec", {}, {"command": ["uptime"], "hosts": ["web-1"], "tags": []}),
        "is ready",
    ),
    (f"job files {cli_records.JOB_ID}", ("GET", FILES, {}, None), "report.txt"),
    ("definition list", ("GET", "/definition", {}, None), "backup"),
    ("definition show backup", ("GET", DEFINITION, {}, None), "web-1"),
    (
        f"definition create task --tag web --from {FILE}",
        (
            "POST",
            "/definition",
            {},
            {"kind": "task", "host_tag": "web", "definition": {"name": "backup"}},
        ),
        "is on 1 host",
    ),
    (
        f"definition replace backup --from {FILE} --tag db",
        (
            "PUT",
            DEFINITION,
            {},
            {"kind": "task", "host_tag": "db", "definition": {"name": "backup"}},
        ),
        "is on 1 host",
    ),
    ("definition delete backup", ("DELETE", DEFINITION, {}, None), "deleted from"),
]
ANSWERS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/exec", EXECUTED),
    ("GET", FILES, LEFT),
    ("GET", "/definition", [FOUND]),
    ("POST", "/definition", FOUND),
    ("GET", DEFINITION, FOUND),
    ("PUT", DEFINITION, FOUND),
    ("DELETE", DEFINITION, FOUND),
)
REFUSED = (
    ("exec uptime", 2, "No hosts given"),
    ("exec --host web-1", 2, "No command given"),
    ("definition show nothing", 1, "See: belvedere definition list"),
    ("definition create task --tag web --from /nowhere/x", 1, "Cannot read /nowhere/x"),
)
