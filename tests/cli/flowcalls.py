"""Requests of `belvedere workflow` and `import`; a part of the table in test_calls.py."""

import json
from pathlib import Path
from typing import Any

import cli_records

HERE = Path(__file__).parent
FLOW_ID, FLOW_JOB_ID = "65a000000000000000000301", "65a000000000000000000302"
OTHER_TASK_ID = "65a0000000000000000000a9"
OTHER_FLOW_ID = "65a000000000000000000303"
DATE = "2026-03-01T10:00:00.000Z"
GRAPH = {
    "nodes": [
        {"id": "a", "task_id": cli_records.TASK_ID, "host": "web-1"},
        {"id": "b", "task_id": OTHER_TASK_ID, "join": "all"},
        {"id": "c", "workflow_id": OTHER_FLOW_ID},
    ],
    "edges": [
        {"source": "a", "target": "b", "on": "success"},
        {"source": "b", "target": "c", "on": "success"},
        {"source": "c", "target": "a", "on": "failure", "max_visits": 3},
    ],
}
FLOW = {
    "id": FLOW_ID,
    "name": "release",
    "description": "",
    "enable": True,
    "multitasking": True,
    "graph": GRAPH,
    "start": "a",
    "tasks": [{"id": cli_records.TASK_ID, "name": "deploy", "type": "script"}],
    "workflows": [{"id": OTHER_FLOW_ID, "name": "smoke test"}],
    "triggers": [],
    "acl": [],
    "version": 5,
    "customer_name": "acme",
    "last_update": DATE,
}
JOB = cli_records.job(id=FLOW_JOB_ID, name="release", workflow_id=FLOW_ID, waiting_reason=None)
_FLOW = f"/workflows/{FLOW_ID}"
_TASK = f"/task/{cli_records.TASK_ID}"
_JOB = f"{_FLOW}/job/{FLOW_JOB_ID}"
_KEY = {"id": FLOW_ID, "secret": "5ec2e7"}
_SENT = json.loads((HERE / "release.json").read_text())
_SENT["graph"]["nodes"][0]["task_id"] = cli_records.TASK_ID
_RECIPE = json.loads((HERE / "recipe.json").read_text())

CALLS: list[tuple[str, tuple[str, str, Any, Any], str]] = [
    ("workflow list", ("GET", "/workflows", {}, None), "release"),
    ("workflow show release", ("GET", "/workflows", {}, None), "success → b"),
    ("workflow show release", ("GET", "/workflows", {}, None), "workflow smoke test"),
    ("workflow show release", ("GET", "/workflows", {}, None), "failure → a (at most 3×)"),
    (f"workflow create {HERE}/release.json", ("POST", "/workflows", {}, _SENT), "workflow run"),
    (
        "workflow edit release --disable --one-at-a-time",
        ("PATCH", _FLOW, {}, {"enable": False, "multitasking": False}),
        "updated",
    ),
    (
        f"workflow edit release --from {HERE}/release.json --name ship",
        ("PATCH", _FLOW, {}, {**_SENT, "name": "ship"}),
        "updated",
    ),
    ("workflow export release", ("GET", f"{_FLOW}/serialize", {}, None), '"graph"'),
    ("task export deploy", ("GET", f"{_TASK}/serialize", {}, None), '"task"'),
    ("workflow delete release", ("DELETE", _FLOW, {}, None), "deleted"),
    (
        "workflow run release v1.4 --start b --assignee max",
        (
            "POST",
            f"{_FLOW}/job",
            {},
            {"task_arguments": ["v1.4"], "task": "b", "assignee": ["max"]},
        ),
        "workflow steps",
    ),
    (
        "workflow jobs release",
        ("GET", f"{_FLOW}/job", {"where[_type]": "WorkflowJob", "limit": "20"}, None),
        FLOW_JOB_ID,
    ),
    (
        f"workflow steps release {FLOW_JOB_ID}",
        ("GET", f"{_JOB}/jobs", {}, None),
        "deploy (visit 2)",
    ),
    (f"workflow cancel release {FLOW_JOB_ID}", ("PUT", f"{_JOB}/cancel", {}, None), "ready"),
    (f"workflow restart release {FLOW_JOB_ID}", ("PUT", f"{_JOB}/restart", {}, None), "ready"),
    (
        f"workflow restart release {FLOW_JOB_ID} --from-start",
        ("PUT", f"{_JOB}/restart", {"from": "start"}, None),
        "ready",
    ),
    (
        f"workflow restart release {FLOW_JOB_ID} --from-step deploy",
        ("PUT", f"{_JOB}/restart", {"from": "step", "step": "deploy"}, None),
        "ready",
    ),
    (
        f"workflow restart release {FLOW_JOB_ID} --from-step deploy web-2 7",
        (
            "PUT",
            f"{_JOB}/restart",
            {"from": "step", "step": "deploy"},
            {"task_arguments": ["web-2", "7"]},
        ),
        "ready",
    ),
    (
        "workflow credentials release",
        ("GET", f"{_FLOW}/credentials", {}, None),
        "/secret/5ec2e7/job?customer=acme",
    ),
    (
        "workflow credentials release --rotate --overlap 1h",
        ("POST", f"{_FLOW}/credentials/rotate", {}, {"overlap": 3_600}),
        "5ec2e7",
    ),
    (
        f"import recipe {HERE}/recipe.json --host web-1",
        ("POST", "/workflows/import", {"hostname": "web-1"}, _RECIPE),
        "Task deploy created",
    ),
    (
        "webhook create push --workflow release",
        ("POST", "/webhook", {}, {"name": "push", "tasks": [], "workflows": [FLOW_ID]}),
        "",
    ),
    (
        "webhook edit push --attach-workflow release",
        ("PATCH", f"/webhook/{cli_records.WEBHOOK_ID}", {}, {"workflows": [FLOW_ID]}),
        "updated",
    ),
]

ANSWERS: list[tuple[str, str, Any]] = [
    ("GET", "/workflows", [FLOW]),
    ("POST", "/workflows", FLOW),
    ("GET", f"{_FLOW}/serialize", {"graph": {"nodes": [], "edges": []}, "tasks": []}),
    ("GET", f"{_TASK}/serialize", _RECIPE),
    ("PATCH", _FLOW, FLOW),
    ("DELETE", _FLOW, FLOW),
    ("POST", f"{_FLOW}/job", JOB),
    ("GET", f"{_FLOW}/job", [JOB]),
    ("GET", f"{_JOB}/jobs", [cli_records.job(name="deploy", waiting_reason=None)]),
    ("GET", f"{_JOB}/steps", [{"node_id": "a", "job_id": cli_records.JOB_ID, "visit": 2}]),
    ("PUT", f"{_JOB}/cancel", JOB),
    ("PUT", f"{_JOB}/restart", JOB),
    ("GET", f"{_FLOW}/credentials", _KEY),
    ("POST", f"{_FLOW}/credentials/rotate", _KEY),
    (
        "POST",
        "/workflows/import",
        {
            "workflow": FLOW,
            "tasks": [cli_records.task()],
            "notes": ["look at it"],
            "not_imported": [{"part": "task x", "field": "acl", "value": "[1]", "reason": "No."}],
        },
    ),
]

REFUSED = [
    ("workflow edit release", 2, "Nothing to change"),
    (f"workflow restart release {FLOW_JOB_ID} web-2", 2, "Arguments need --from-step"),
    ("workflow create /nowhere/x.json", 1, "Cannot read"),
    (f"workflow create {HERE}/flowcalls.py", 1, "is not JSON"),
    (f"import recipe {HERE}/flowcalls.py", 1, "is not JSON"),
    ("import recipe /nowhere/x.json", 1, "Cannot read"),
]
