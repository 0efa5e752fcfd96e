"""The requests of each command, as a table."""

import json
from pathlib import Path
from typing import Any

import pytest

import cli_records
from belvedere.cli.main import main
from cli import boardcalls, flowcalls, notifycalls, signincalls, tagcalls
from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer

TASK, JOB, HOST = (
    f"/task/{cli_records.TASK_ID}",
    f"/job/{cli_records.JOB_ID}",
    f"/host/{cli_records.HOST_ID}",
)
MONITOR = f"/monitor/{cli_records.MONITOR_ID}"
SCHEDULE = f"/schedule/{cli_records.SCHEDULE_ID}"
UNTIL = "2026-03-03T10:00:00.000Z"
WEBHOOK = f"/webhook/{cli_records.WEBHOOK_ID}"
DELIVERY = f"{WEBHOOK}/delivery/{cli_records.DELIVERY_ID}"
INDICATOR, TILE = f"/indicator/{cli_records.INDICATOR_ID}", "/indicator/title/Disk%2Fweb-1"
MEMBER_ID, TOKEN_ID = "65a0000000000000000000d1", "65a0000000000000000000e1"
MEMBER = {
    "id": MEMBER_ID,
    "user": {"email": "max@acme.example", "username": "max", "name": "Max"},
    "credential": "user",
    "tags": [{"k": "team", "v": "ops"}],
    "disabled": False,
    "invited": False,
}
LINK = {"link": "http://x/ui/link#bvl_1", "expires": "2126-03-01T10:00:00.000Z"}
TOKEN = {
    "id": TOKEN_ID,
    "name": "ci",
    "prefix": "bvt_abcd",
    "created_by": "ada@acme.example",
    "creation_date": "2026-03-01T10:00:00.000Z",
    "last_use": None,
    "expires": None,
    "uses_left": 1,
    "token": "bvt_shown_once",
}
STARTED = {
    "message": "success",
    "jobs": [{"id": cli_records.JOB_ID, "task_id": cli_records.TASK_ID}],
}
FIRE = {
    "date": "2026-03-29T01:00:00.000Z",
    "local": "2026-03-29T03:00:00+02:00",
    "clock_change": "moved",
    "meant": "2026-03-29T02:30:00",
    "paused": False,
}
RUN = {
    "nominal": "2026-03-01T01:30:00.000Z",
    "state": "missed",
    "count": 12,
    "reason": "server_down",
    "job_id": None,
    "message": "No server was running then.",
}
POINT = {"date": "2026-03-01T10:00:00.000Z", "state": "normal", "value": 62.5}
HISTORY = {
    "uptime": 99.5,
    "known": 80.0,
    "checks": 10,
    "points": [
        {
            "at": "2026-03-01T10:00:00.000Z",
            "checks": 10,
            "up": 0.995,
            "values": {"ms": {"avg": 12.5, "min": 10.0, "max": 20.0}},
        }
    ],
}
ACL = {"users": ["max@acme.example"], "acl": ["max@acme.example"]}
EXPLAINED = {
    "members": [
        {
            "email": "max@acme.example",
            "credential": "user",
            "sees": True,
            "runs": False,
            "why": "because",
        }
    ]
}
AUDIT = {
    "date": "2026-03-01T10:00:00.000Z",
    "user": "ada@acme.example",
    "action": "task.change",
    "object": "task",
    "object_id": cli_records.TASK_ID,
    "before": {"name": "ship"},
    "after": {"name": "deploy"},
    "address": "10.0.0.1",
}

# The words, the last request that they send (method, path, query, body), and a word of the output.
REMOVAL = {
    "removed": [{"object": "task", "id": cli_records.TASK_ID, "name": "Report"}],
    "kept": [
        {
            "object": "task",
            "id": cli_records.TASK_ID,
            "name": "Greet somebody",
            "reason": "It was changed after the demo was created.",
        }
    ],
}
CALLS: list[tuple[str, tuple[str, str, Any, Any], str]] = [
    ("task list", ("GET", "/task", {"unassigned": "true"}, None), "deploy"),
    ("task show deploy", ("GET", TASK, {}, None), "web-1"),
    ("task delete deploy", ("DELETE", TASK, {}, None), "deleted"),
    (
        "task timeout deploy 30m",
        ("PUT", f"/api{TASK}/timeout", {}, {"timeout": 1_800_000}),
        "10 min",
    ),
    ("task timeout deploy default", ("PUT", f"/api{TASK}/timeout", {}, {"timeout": None}), "10"),
    ("task edit deploy --disable", ("PATCH", TASK, {}, {"enable": False}), "updated"),
    (
        "task edit deploy --set concurrency=2 --set tags=[] --name ship",
        ("PATCH", TASK, {}, {"concurrency": 2, "tags": [], "name": "ship"}),
        "updated",
    ),
    (
        "task create rest --type approval --approver ada --four-eyes --timeout 2h",
        (
            "POST",
            "/task",
            {},
            {
                "type": "approval",
                "approvers": ["ada"],
                "four_eyes": True,
                "name": "rest",
                "timeout": 7_200_000,
            },
        ),
        "belvedere run",
    ),
    ("task credentials deploy", ("GET", f"{TASK}/credentials", {}, None), "5ec"),
    (
        "task credentials deploy --rotate --overlap 1h",
        ("POST", f"{TASK}/credentials/rotate", {}, {"overlap": 3_600}),
        "5ec",
    ),
    ("job list", ("GET", "/host", {}, None), "Queued"),
    ("job held", ("GET", "/job/held", {"limit": "500"}, None), "accepted jobs after the backup"),
    ("job list --json", ("GET", "/job", {"limit": "20", "look": "20000"}, None), "ready"),
    (
        "job list --json --task deploy --host web-1 --state lost --limit 5",
        (
            "GET",
            "/job",
            {
                "limit": "5",
                "look": "20000",
                "where[task_id]": cli_records.TASK_ID,
                "where[host_id]": cli_records.HOST_ID,
                "where[state]": "lost",
            },
            None,
        ),
        "",
    ),
    (
        "job list --json --open",
        (
            "GET",
            "/job",
            {
                "limit": "20",
                "look": "20000",
                "where[lifecycle][$in][]": "assigned,onhold,ready,started,syncing",
            },
            None,
        ),
        "",
    ),
    (f"job show {cli_records.JOB_ID} --json", ("GET", JOB, {}, None), "ready"),
    (f"job cancel {cli_records.JOB_ID}", ("PUT", f"{JOB}/cancel", {}, None), "being stopped"),
    (f"job restart {cli_records.JOB_ID}", ("PUT", f"{JOB}/restart", {}, {}), "queued"),
    (
        f"job restart {cli_records.JOB_ID} a b",
        ("PUT", f"{JOB}/restart", {}, {"task_arguments": ["a", "b"]}),
        "queued",
    ),
    (
        f"job resolve {cli_records.JOB_ID} success --note seen",
        ("PUT", f"{JOB}/resolve", {}, {"outcome": "success", "note": "seen"}),
        "resolved",
    ),
    (
        f"job release {cli_records.JOB_ID}",
        ("PUT", f"{JOB}/release", {}, None),
        "Released held jobs: 1.",
    ),
    (f"job hold {cli_records.JOB_ID}", ("PUT", f"{JOB}/hold", {}, None), "is on hold"),
    (
        f"job assign {cli_records.JOB_ID} max@acme.example",
        ("GET", f"{JOB}/participants", {}, None),
        "Assigned to max@acme.example.",
    ),
    (
        f"job approve {cli_records.JOB_ID}",
        ("PUT", f"{JOB}/approve", {}, None),
        "It runs deploy on web-1, deploy.sh 2cf24dba5fb0, v1.2.",
    ),
    (f"job reject {cli_records.JOB_ID}", ("PUT", f"{JOB}/reject", {}, None), "rejected"),
    (f"job input {cli_records.JOB_ID} a", ("PUT", f"{JOB}/input", {}, {"args": ["a"]}), "input"),
    (
        f"job log {cli_records.JOB_ID} --search oops",
        ("GET", f"{JOB}/log/search", {"q": "oops"}, None),
        "it went oops",
    ),
    ("host list", ("GET", "/host", {}, None), "Online"),
    ("host show WEB-1", ("GET", HOST, {}, None), "10.0.0.1"),
    ("host rename web-1 web-9", ("PATCH", HOST, {}, {"hostname": "web-9"}), "now named"),
    ("host disable web-1", ("PATCH", HOST, {}, {"enable": False}), "disabled"),
    (
        "host enable web-1",
        ("PATCH", HOST, {}, {"enable": True, "draining": False}),
        "enabled",
    ),
    ("host drain web-1", ("PATCH", HOST, {}, {"draining": True}), "draining"),
    ("host delete web-1", ("DELETE", HOST, {}, None), "deleted"),
    ("member list", ("GET", "/api/member", {}, None), "team:ops"),
    (
        "member invite eve@acme.example --level viewer --tag team:ops",
        (
            "POST",
            "/api/member",
            {},
            {
                "user": {"email": "eve@acme.example", "name": ""},
                "credential": "viewer",
                "tags": ["team:ops"],
            },
        ),
        "http://x/ui/link#bvl_1",
    ),
    (
        "member level max@acme.example admin",
        ("PATCH", f"/api/member/{MEMBER_ID}", {}, {"credential": "admin"}),
        "max@acme.example",
    ),
    (
        "member disable MAX",
        ("PATCH", f"/api/member/{MEMBER_ID}", {}, {"disabled": True}),
        "disabled",
    ),
    (
        "member enable max",
        ("PATCH", f"/api/member/{MEMBER_ID}", {}, {"disabled": False}),
        "enabled",
    ),
    (f"member remove {MEMBER_ID}", ("DELETE", f"/api/member/{MEMBER_ID}", {}, None), "removed"),
    ("demo remove", ("DELETE", "/api/demo", {}, None), "It was changed after the demo"),
    ("demo remove --all", ("DELETE", "/api/demo", {"all": "true"}, None), "Report"),
    ("token list", ("GET", "/api/token", {}, None), "bvt_abcd"),
    (
        "token create ci --expires 90d",
        ("POST", "/api/token", {}, {"name": "ci", "expires_in": 7_776_000}),
        "bvt_shown_once",
    ),
    ("token create ci", ("POST", "/api/token", {}, {"name": "ci"}), "bvt_shown_once"),
    ("token delete ci", ("DELETE", f"/api/token/{TOKEN_ID}", {}, None), "revoked"),
    ("enrolment list", ("GET", "/api/enrolment", {}, None), "ci"),
    (
        "enrolment create --uses 20 --expires 1d",
        (
            "POST",
            "/api/enrolment",
            {},
            {"name": "command line", "uses": 20, "expires_in": 86_400},
        ),
        "bvt_shown_once",
    ),
    (
        "enrolment create --host web-1",
        ("POST", f"{HOST}/enrolment", {}, {"expires_in": 3_600}),
        "bvt_shown_once",
    ),
    ("enrolment delete ci", ("DELETE", f"/api/enrolment/{TOKEN_ID}", {}, None), "revoked"),
    ("acl show deploy", ("GET", f"{TASK}/acl", {}, None), "max@acme.example"),
    ("acl set deploy a b", ("PUT", f"{TASK}/acl", {}, {"users": ["a", "b"]}), ""),
    ("acl add deploy a", ("PATCH", f"{TASK}/acl", {}, {"users": ["a"], "action": "add"}), ""),
    (
        "acl remove deploy a",
        ("PATCH", f"{TASK}/acl", {}, {"users": ["a"], "action": "remove"}),
        "",
    ),
    (
        "acl explain deploy --user max",
        (
            "GET",
            "/access/explain",
            {"object": "task", "id": cli_records.TASK_ID, "user": "max"},
            None,
        ),
        "because",
    ),
    ("acl clear deploy", ("DELETE", f"{TASK}/acl", {}, None), ""),
    (
        "acl set release a --kind workflow",
        ("PUT", f"/workflows/{flowcalls.FLOW_ID}/acl", {}, {"users": ["a"]}),
        "",
    ),
    ("acl show Disk/web-1 --kind indicator", ("GET", f"{INDICATOR}/acl", {}, None), "max@"),
    ("acl show shop --kind monitor", ("GET", f"{MONITOR}/acl", {}, None), "max@"),
    ("monitor list --state failure", ("GET", "/monitor", {"where[state]": "failure"}, None), "500"),
    ("monitor show shop", ("GET", MONITOR, {}, None), "expected 200"),
    (
        "monitor create shop --host web-1 --url https://shop.example --every 30s --threshold 2",
        (
            "POST",
            "/monitor",
            {},
            {
                "name": "shop",
                "type": "scraper",
                "host_id": cli_records.HOST_ID,
                "url": "https://shop.example",
                "looptime": 30_000,
                "fail_threshold": 2,
            },
        ),
        "created",
    ),
    (
        "monitor create all --type nested --member shop",
        (
            "POST",
            "/monitor",
            {},
            {"name": "all", "type": "nested", "monitors": [cli_records.MONITOR_ID]},
        ),
        "created",
    ),
    ("monitor edit shop --timeout 5s", ("PATCH", MONITOR, {}, {"timeout": 5_000}), "updated"),
    ("monitor pause shop", ("PUT", f"{MONITOR}/pause", {}, {}), "paused until it is resumed."),
    ("monitor resume shop", ("PUT", f"{MONITOR}/resume", {}, None), "resumed"),
    ("monitor mute shop", ("PUT", f"{MONITOR}/mute", {}, {}), "muted until it is unmuted."),
    ("monitor unmute shop", ("PUT", f"{MONITOR}/unmute", {}, None), "unmuted"),
    ("monitor push-url shop", ("GET", f"{MONITOR}/credentials", {}, None), "http://x/push"),
    ("monitor delete shop", ("DELETE", MONITOR, {}, None), "deleted"),
    ("schedule list", ("GET", "/schedule", {}, None), "nightly"),
    ("schedule list --task deploy", ("GET", f"{TASK}/schedule", {}, None), "30 2"),
    ("schedule show nightly", ("GET", "/schedule", {}, None), "it snows"),
    (
        "schedule create deploy red --repeat @daily --zone UTC --missed once --overlap queue",
        (
            "POST",
            f"{TASK}/schedule",
            {},
            {
                "repeatEvery": "@daily",
                "timezone": "UTC",
                "overlap": "queue",
                "missed": "once",
                "task_arguments": ["red"],
            },
        ),
        "nightly created",
    ),
    ("schedule edit nightly --disable", ("PATCH", SCHEDULE, {}, {"enable": False}), "updated"),
    ("schedule pause nightly", ("PUT", f"{SCHEDULE}/pause", {}, {"note": ""}), "paused until it"),
    ("schedule resume nightly", ("PUT", f"{SCHEDULE}/resume", {}, None), "resumed"),
    (
        "schedule preview nightly --count 3",
        ("GET", f"{SCHEDULE}/preview", {"count": "3"}, None),
        "Sun 2026-03-29 03:00:00 +02:00",
    ),
    (
        "schedule preview --repeat @daily",
        ("POST", "/schedule/preview", {}, {"repeatEvery": "@daily", "count": "10"}),
        "the clock skips 02:30",
    ),
    (
        "schedule runs nightly --state missed",
        ("GET", f"{SCHEDULE}/run", {"limit": "20", "where[state]": "missed"}, None),
        "server_down",
    ),
    ("schedule delete nightly", ("DELETE", SCHEDULE, {}, None), "deleted"),
    *notifycalls.CALLS,
    *boardcalls.CALLS,
    *tagcalls.CALLS,
    *signincalls.CALLS,
    *flowcalls.CALLS,
    ("webhook list", ("GET", "/webhook", {}, None), "push"),
    ("webhook show push", ("GET", "/webhook", {}, None), cli_records.TASK_ID),
    (
        "webhook create push --task deploy --signature github",
        (
            "POST",
            "/webhook",
            {},
            {"name": "push", "tasks": [cli_records.TASK_ID], "signature": "github"},
        ),
        "credentials push",
    ),
    ("webhook edit push --disable", ("PATCH", WEBHOOK, {}, {"enable": False}), "updated"),
    ("webhook edit push --detach deploy", ("PATCH", WEBHOOK, {}, {"tasks": []}), "updated"),
    ("webhook delete push", ("DELETE", WEBHOOK, {}, None), "deleted"),
    ("webhook trigger push main 7", ("POST", f"{WEBHOOK}/trigger", {}, ["main", "7"]), "started"),
    ("webhook trigger push --body {}", ("POST", f"{WEBHOOK}/trigger", {}, {}), "started"),
    (
        "webhook credentials push",
        ("GET", f"{WEBHOOK}/credentials", {}, None),
        f"/acme{WEBHOOK}/trigger/secret/5ec",
    ),
    (
        "webhook credentials push --rotate --overlap 1h",
        ("POST", f"{WEBHOOK}/credentials/rotate", {}, {"overlap": 3_600}),
        "5ec",
    ),
    ("webhook deliveries push", ("GET", f"{WEBHOOK}/delivery", {"limit": "20"}, None), "203.0"),
    (f"webhook delivery push {cli_records.DELIVERY_ID}", ("GET", DELIVERY, {}, None), '["main"]'),
    (
        f"webhook replay push {cli_records.DELIVERY_ID}",
        ("POST", f"{DELIVERY}/replay", {}, None),
        cli_records.JOB_ID,
    ),
    ("indicator list", ("GET", "/indicator", {}, None), "62.5%"),
    ("indicator show Disk/web-1", ("GET", TILE, {}, None), "on failure"),
    (
        "indicator set Disk/web-1 93 --state failure --ttl 10m",
        ("PATCH", TILE, {}, {"value": "93", "state": "failure", "ttl": 600_000}),
        "Disk/web-1",
    ),
    (
        f"indicator set {cli_records.INDICATOR_ID} --dismissable --ttl none --acl a --acl b",
        ("PATCH", INDICATOR, {}, {"read_only": False, "ttl": None, "acl": ["a", "b"]}),
        "Disk/web-1",
    ),
    ("indicator increase Disk/web-1", ("PATCH", f"{TILE}/increase", {}, None), "62.5"),
    ("indicator decrease Disk/web-1", ("PATCH", f"{TILE}/decrease", {}, None), "62.5"),
    ("indicator restart Disk/web-1", ("PATCH", f"{TILE}/restart", {}, None), "62.5"),
    ("indicator rename Disk/web-1 Disk", ("PATCH", TILE, {}, {"title": "Disk"}), "now named"),
    ("indicator delete Disk/web-1", ("DELETE", TILE, {}, None), "deleted"),
    (
        "indicator history Disk/web-1 --points 5",
        ("GET", f"{INDICATOR}/history", {"points": "5"}, None),
        "62.5",
    ),
    ("indicator badge Disk/web-1", ("GET", f"{INDICATOR}/badge.svg", {}, None), "<svg"),
    ("indicator publish Disk/web-1", ("POST", f"{INDICATOR}/public", {}, None), "http://x/-/"),
    ("indicator unpublish Disk/web-1", ("DELETE", f"{INDICATOR}/public", {}, None), "revoked"),
    ("organization list", ("GET", "/api/session/profile", {}, None), "acme"),
    ("audit list --limit 5", ("GET", "/api/audit", {"limit": "5"}, None), "deploy"),
    ("audit --limit 5", ("GET", "/api/audit", {"limit": "5"}, None), "task.change"),
    (
        f"audit --object {cli_records.TASK_ID}",
        ("GET", "/api/audit", {"limit": "30", "object_id": cli_records.TASK_ID}, None),
        "ada@acme.example",
    ),
]


@pytest.fixture(autouse=True)
def answers(server: FakeServer) -> None:
    for method, path, answer in (
        ("GET", "/task", [cli_records.task()]),
        ("POST", "/task", cli_records.task()),
        ("PUT", f"/api{TASK}/timeout", cli_records.task()),
        ("GET", f"{TASK}/credentials", {"id": cli_records.TASK_ID, "secret": "5ec"}),
        ("POST", f"{TASK}/credentials/rotate", {"id": cli_records.TASK_ID, "secret": "5ec"}),
        ("GET", "/job", [cli_records.job()]),
        ("GET", "/host", [cli_records.host()]),
        ("GET", "/api/member", [MEMBER]),
        ("POST", "/api/member", {**MEMBER, "invitation": LINK}),
        ("GET", "/api/session/profile", {"customers": [{"id": "1", "name": "acme"}]}),
        ("GET", "/api/audit", [AUDIT]),
        ("GET", f"{JOB}/log/search", {"lines": [{"line": 3, "text": "it went oops"}]}),
        ("PATCH", f"{TASK}/acl", ACL),
        ("GET", "/access/explain", EXPLAINED),
        ("DELETE", "/api/demo", REMOVAL),
        ("GET", "/monitor", [cli_records.monitor()]),
        ("POST", "/monitor", cli_records.monitor()),
        ("GET", f"{MONITOR}/credentials", {"url": "http://x/push"}),
        ("GET", f"{MONITOR}/history", HISTORY),
        ("GET", "/schedule", [cli_records.schedule()]),
        ("GET", f"{TASK}/schedule", [cli_records.schedule()]),
        ("POST", f"{TASK}/schedule", cli_records.schedule()),
        ("PATCH", SCHEDULE, cli_records.schedule()),
        ("PUT", f"{SCHEDULE}/pause", cli_records.schedule()),
        ("PUT", f"{SCHEDULE}/resume", cli_records.schedule()),
        ("DELETE", SCHEDULE, cli_records.schedule()),
        ("GET", f"{SCHEDULE}/preview", [FIRE]),
        ("POST", "/schedule/preview", [FIRE]),
        ("GET", f"{SCHEDULE}/run", [RUN]),
        ("GET", "/webhook", [cli_records.webhook()]),
        ("POST", "/webhook", cli_records.webhook()),
        ("PATCH", WEBHOOK, cli_records.webhook()),
        ("DELETE", WEBHOOK, cli_records.webhook()),
        ("POST", f"{WEBHOOK}/trigger", STARTED),
        ("GET", f"{WEBHOOK}/credentials", {"id": cli_records.WEBHOOK_ID, "secret": "5ec"}),
        ("POST", f"{WEBHOOK}/credentials/rotate", {"id": cli_records.WEBHOOK_ID, "secret": "5ec"}),
        ("GET", f"{WEBHOOK}/delivery", [cli_records.delivery()]),
        ("GET", DELIVERY, cli_records.delivery()),
        ("POST", f"{DELIVERY}/replay", STARTED),
        ("GET", "/indicator", [cli_records.indicator()]),
        ("GET", f"{INDICATOR}/history", [POINT]),
        ("GET", f"{INDICATOR}/badge.svg", CannedResponse("<svg/>", media_type="image/svg+xml")),
        ("POST", f"{INDICATOR}/public", {"url": "http://x/-/badge/bvp_1.svg"}),
        ("DELETE", f"{INDICATOR}/public", cli_records.indicator()),
    ):
        server.on(method, path, answer)
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        server.on(method, TASK, cli_records.task())
        server.on(method, HOST, cli_records.host())
        server.on(method, JOB, cli_records.job())
        for place in (TASK, INDICATOR, MONITOR, f"/workflows/{flowcalls.FLOW_ID}"):
            server.on(method, f"{place}/acl", ACL)
        server.on(method, f"/api/member/{MEMBER_ID}", MEMBER)
    for method in ("GET", "PATCH", "DELETE"):
        server.on(method, MONITOR, cli_records.monitor())
    for word in ("pause", "resume", "mute", "unmute"):
        server.on("PUT", f"{MONITOR}/{word}", cli_records.monitor())
    for part in (boardcalls, notifycalls, flowcalls, tagcalls, signincalls):
        for method, path, answer in part.ANSWERS:
            server.on(method, path, answer)
    for path in (TILE, INDICATOR):
        for method in ("GET", "PATCH", "DELETE"):
            server.on(method, path, cli_records.indicator())
    for word in ("increase", "decrease", "restart"):
        server.on("PATCH", f"{TILE}/{word}", cli_records.indicator())
    for word in ("cancel", "restart", "resolve", "reject", "input"):
        server.on("PUT", f"{JOB}/{word}", cli_records.job())
    server.on("PUT", f"{JOB}/release", cli_records.job())
    server.on("PUT", f"{JOB}/hold", cli_records.job())
    server.on("PUT", f"{JOB}/assignee", ["65a0000000000000000000f1"])
    person = {"id": "65a0000000000000000000f2", "username": "max", "email": "max@acme.example"}
    people = {"owner": None, "assignee": [person], "observers": []}
    server.on("GET", f"{JOB}/participants", people)
    held_job = {**cli_records.job(), "hostname": "web-1", "evidence": "accepted"}
    server.on("GET", "/job/removed", {"count": 0, "last_date": None})
    server.on("GET", "/job/held", {"jobs": [held_job], "total": 1, "restored_at": None})
    server.on(
        "PUT", f"{JOB}/approve", cli_records.job(state="success", will_run=[cli_records.PLANNED])
    )
    server.on("POST", f"{HOST}/enrolment", TOKEN)
    for kind in ("token", "enrolment"):
        server.on("GET", f"/api/{kind}", [TOKEN])
        server.on("POST", f"/api/{kind}", TOKEN)
        server.on("DELETE", f"/api/{kind}/{TOKEN_ID}", TOKEN)


@pytest.mark.parametrize(("words", "call", "shown"), CALLS, ids=[row[0] for row in CALLS])
def test_each_command_sends_its_request(
    belvedere: Belvedere,
    server: FakeServer,
    words: str,
    call: tuple[str, str, Any, Any],
    shown: str,
) -> None:
    ran = belvedere(*words.split())
    assert (ran.status, shown in ran.out) == (0, True), ran
    recorded_request = server.asked[-1]
    assert (
        recorded_request.method,
        recorded_request.path,
        recorded_request.query,
        recorded_request.body,
    ) == call
    assert recorded_request.is_strict == (recorded_request.body is not None)


@pytest.mark.parametrize("words", [row[0] for row in CALLS if "--json" not in row[0]])
def test_every_answer_can_be_had_as_json(belvedere: Belvedere, words: str) -> None:
    ran = belvedere(*words.split(), "--json")
    assert ran.status == 0
    assert json.loads(ran.out)


def test_every_remote_command_is_in_the_table() -> None:
    from belvedere.cli import completion

    elsewhere = {"login", "logout", "whoami", "run"}
    # What is typed there must not be in a table.
    elsewhere |= {"task run", "completion"}
    elsewhere |= {"secret set", "secret list", "secret delete", "provider add"}
    elsewhere |= {f"second-factor {verb}" for verb in ("enable", "disable", "recovery-codes")}
    remote = {
        page.path.removeprefix("belvedere ")
        for page in completion.pages()
        if any("--server" in action.option_strings for action in page.parser._actions)
    }
    # Its request contains a time that is not known in advance.
    texts = {row[0] for row in CALLS} | {"monitor history"}
    missing = [
        path
        for path in remote - elsewhere - {"agent", "bench", "doctor"}
        if not any(words == path or words.startswith(f"{path} ") for words in texts)
    ]
    assert missing == []


ADDRESS = {
    "url": "",
    "listens_on_loopback": True,
    "addresses": ["http://192.0.2.7:8420"],
    "options": ["--host 0.0.0.0 --url http://192.0.2.7:8420"],
}


def test_an_enrolment_on_a_loopback_server_says_how_to_restart_it(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("GET", "/api/enrolment/address", ADDRESS)
    ran = belvedere("enrolment", "create")
    assert "other machines cannot reach http://127.0.0.1" in ran.err
    assert "belvedere up --host 0.0.0.0 --url http://192.0.2.7:8420" in ran.err
    # sudo removes a variable that is set before it.
    assert "| sudo BELVEDERE_ENROLMENT_TOKEN=bvt_shown_once sh" in ran.err


def test_an_enrolment_uses_an_address_that_other_machines_can_reach(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("GET", "/api/enrolment/address", ADDRESS | {"listens_on_loopback": False})
    assert "curl -fsSL http://192.0.2.7:8420/-/install.sh" in belvedere("enrolment", "create").err
    server.on("GET", "/api/enrolment/address", ADDRESS | {"url": "https://belvedere.example.org"})
    ran = belvedere("enrolment", "create")
    assert "curl -fsSL https://belvedere.example.org/-/install.sh" in ran.err
    assert "cannot reach" not in ran.err


def test_the_audit_names_objects(belvedere: Belvedere, server: FakeServer) -> None:
    """By the name in the entry, else by the present name of the object, else only by the id."""
    changed = AUDIT | {"object": "host", "object_id": cli_records.HOST_ID, "before": None}
    plain = changed | {"action": "host.drain", "after": {"draining": True}}
    deleted = AUDIT | {"action": "task.delete", "after": None}
    tested = deleted | {"action": "task.reveal", "before": None}
    unknown = plain | {"object": "job", "object_id": cli_records.JOB_ID, "after": None}
    server.on("GET", "/api/audit", [plain, deleted, unknown, tested])
    server.on("GET", "/-/names", [{"id": cli_records.HOST_ID, "name": "web-1"}])
    head, *lines = belvedere("audit", "list").out.splitlines()
    assert "OBJECT" in head and "ID" in head
    assert ["web-1" in lines[0], "ship" in lines[1], cli_records.JOB_ID in lines[2]] == [True] * 3
    assert "ship" in lines[3]
    assert server.asked[-1].query == {"kind": "host"}
    assert "name" not in json.loads(belvedere("audit", "list", "--json").out)[0]


def test_the_audit_of_an_older_server_lists_ids(belvedere: Belvedere, server: FakeServer) -> None:
    """It has no list of names."""
    server.on("GET", "/api/audit", [AUDIT | {"object": "host", "before": None, "after": None}])
    ran = belvedere("audit", "list")
    assert (ran.status, str(AUDIT["object_id"]) in ran.out) == (0, True)
    server.on("GET", "/-/names", {"message": "no"}, status=403)
    assert belvedere("audit", "list").status != 0


def test_a_task_is_created_from_files_and_options(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    script = tmp_path / "deploy.sh"
    script.write_text("#!/bin/sh\necho $1\n")
    base = tmp_path / "task.json"
    base.write_text(json.dumps({"description": "old", "notify": False}))
    words = "task create deploy --host web-1 --runas bash --description new --env A=b=c"
    arguments = ("--argument", "colour", "--argument", "size:select=s,m", "--argument", "m:fixed=x")
    ran = belvedere(*words.split(), "--from", str(base), "--script", str(script), *arguments)
    assert ran.status == 0
    assert server.asked[-1].body == {
        "type": "script",
        "name": "deploy",
        "host_id": cli_records.HOST_ID,
        "script": {"filename": "deploy.sh", "source": "#!/bin/sh\necho $1\n"},
        "script_runas": "bash",
        "description": "new",
        "notify": False,
        "env": {"A": "b=c"},
        "task_arguments": [
            {"order": 0, "label": "colour", "type": "input"},
            {
                "order": 1,
                "label": "size",
                "type": "select",
                "options": [
                    {"id": "s", "label": "s", "order": 0},
                    {"id": "m", "label": "m", "order": 1},
                ],
            },
            {"order": 2, "label": "m", "type": "fixed", "value": "x"},
        ],
    }


def test_a_definition_can_come_from_standard_input(
    belvedere: Belvedere, server: FakeServer
) -> None:
    belvedere("task", "create", "--from", "-", stdin='{"name": "x", "type": "dummy"}')
    assert server.asked[-1].body == {"name": "x", "type": "dummy"}


@pytest.mark.parametrize("text", ["whsec_1234567890", "whsec_1234567890\n"])
def test_a_secret_that_the_sender_chose_is_on_no_command_line(
    belvedere: Belvedere, server: FakeServer, text: str
) -> None:
    for output in ([], ["--json"]):
        words = ["webhook", "credentials", "push", "--secret-file", "-", *output]
        ran = belvedere(*words, stdin=text)
        assert (ran.status, server.asked[-1].path) == (0, f"{WEBHOOK}/credentials/rotate")
        assert server.asked[-1].body == {"overlap": 0, "secret": "whsec_1234567890"}
        assert ran.out and "whsec" not in ran.out + ran.err and "/secret/" not in ran.out
    missing = belvedere("webhook", "credentials", "push", "--secret-file", "/nowhere/at/all")
    assert missing.status == 2


def test_a_value_can_come_from_standard_input(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    words = ("indicator", "set", "Disk/web-1", "--type", "chart", "--value-file")
    assert belvedere(*words, "-", stdin='{"series": []}').status == 0
    assert server.asked[-1].body == {"value": '{"series": []}', "type": "chart"}
    (tmp_path / "no-text").write_bytes(b"\xff")
    assert belvedere(*words, str(tmp_path / "no-text")).status == 2
    assert belvedere(*words, str(tmp_path / "missing")).status == 2
    assert belvedere(*words, "-", "5").status == 2


@pytest.mark.parametrize(
    ("words", "path", "answer"),
    [
        ("schedule pause nightly --for 2d", f"{SCHEDULE}/pause", {"pause": {"until": UNTIL}}),
        ("monitor pause shop --for 2h", f"{MONITOR}/pause", {"paused_until": UNTIL}),
        ("monitor mute shop --for 2h", f"{MONITOR}/mute", {"muted_until": UNTIL}),
    ],
)
def test_a_pause_prints_its_end(
    belvedere: Belvedere, server: FakeServer, words: str, path: str, answer: dict[str, Any]
) -> None:
    server.on("PUT", path, {"name": "shop", **answer})
    assert belvedere(*words.split()).out.endswith("until 2026-03-03 10:00:00 UTC.\n")


def test_an_edit_names_the_version_that_it_changes(
    belvedere: Belvedere, server: FakeServer
) -> None:
    belvedere("task", "edit", "deploy", "--name", "ship")
    assert server.asked[-1].headers["If-Match"] == "3"


def test_the_first_push_of_a_title_makes_the_indicator(
    belvedere: Belvedere, server: FakeServer
) -> None:
    missing = {"statusCode": 404, "code": "indicator_not_found", "message": "None."}
    server.on("PATCH", "/indicator/title/Orders", CannedResponse(missing, 404))
    server.on("POST", "/indicator", cli_records.indicator(title="Orders", value=5))
    ran = belvedere("indicator", "set", "Orders", "5", "--type", "counter")
    assert ran.status == 0
    body = {"title": "Orders", "value": "5", "type": "counter"}
    assert server.asked[-1].body == body


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("task edit deploy", 2, "Nothing to change"),
        ("task edit deploy --set bogus=1", 2, "A task has no field 'bogus'"),
        ("task edit deploy --set concurency=1", 2, "did you mean concurrency?"),
        ("task create x --type dummy --set hisotry={}", 2, "did you mean history?"),
        ("task create x --type dummy --set bogus=1", 2, "`belvedere task show --json`"),
        ("schedule create deploy red", 2, "No time given"),
        ("schedule edit nightly", 2, "Nothing to change"),
        ("schedule preview", 2, "Specify a schedule"),
        ("webhook edit push", 2, "Nothing to change"),
        ("webhook trigger push x --body []", 2, "not both"),
        ("webhook trigger push --body {", 2, "--body is not JSON"),
        ("indicator set Orders", 2, "Nothing to set"),
        *notifycalls.REFUSED,
        *boardcalls.REFUSED,
        *tagcalls.REFUSED,
        *flowcalls.REFUSED,
        ("task create x --script /nowhere/x.sh", 1, "Cannot read /nowhere/x.sh"),
        ("task create x --env A", 2, "--env needs NAME=VALUE"),
        ("job show deploy", 2, "'deploy' is not a job id; see: belvedere job list"),
        ("task timeout deploy soon", 2, "not a duration"),
        ("host show web-2", 1, "There is no host 'web-2'. Did you mean 'web-1'?"),
        ("member level zoe admin", 1, "See: belvedere member list"),
    ],
)
def test_an_impossible_command_is_reported(
    belvedere: Belvedere, words: str, status: int, told: str
) -> None:
    ran = belvedere(*words.split())
    assert (ran.status, ran.out) == (status, "")
    assert told in ran.err


def test_a_log_is_printed_byte_for_byte(
    server: FakeServer,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    raw = [b"gr\xc3\xbc\xc3", b"\x9f\r\n\x00\xff no newline"]
    server.on("GET", f"{JOB}/log", CannedResponse(raw=raw, media_type="text/plain"))
    monkeypatch.setenv("BELVEDERE_TOKEN", "bvt_x")
    assert main(["job", "log", cli_records.JOB_ID, "--server", server.url]) == 0
    assert capsysbinary.readouterr().out == b"".join(raw)


def test_a_log_says_when_each_line_was_written(belvedere: Belvedere, server: FakeServer) -> None:
    page = {"first": 1, "offset": 0, "next": 4, "total_lines": 3, "lines": ["a", "b", "c"]}
    server.on("GET", f"{JOB}/log/lines", page, {**page, "first": 4, "lines": []})
    marks = [{"line": 2, "at": "2026-01-02T03:04:05.678Z"}]
    server.on("GET", f"{JOB}/log/times", {"marks": marks, "next": None})
    ran = belvedere("job", "log", cli_records.JOB_ID, "--timestamps")
    at = marks[0]["at"]
    assert (ran.status, ran.out) == (0, f"{'-' * 24} a\n{at} b\n{at} c\n")
    assert belvedere("job", "log", cli_records.JOB_ID, "--timestamps", "--follow").status == 2


def test_a_canceled_waiting_job_is_reported_as_ended(
    belvedere: Belvedere, server: FakeServer
) -> None:
    over = cli_records.job(lifecycle="canceled", state="canceled")
    server.on("PUT", f"{JOB}/cancel", over)
    assert "is canceled" in belvedere("job", "cancel", cli_records.JOB_ID).out


def test_fields_that_the_server_ignored_are_printed(
    belvedere: Belvedere, server: FakeServer
) -> None:
    headers = {"Belvedere-Ignored": "concurency, task_arguments[1]"}
    server.on("PUT", f"{JOB}/cancel", cli_records.job(), headers=headers)
    ran = belvedere("job", "cancel", cli_records.JOB_ID)
    assert "The server ignored concurency, task_arguments[1]." in ran.err
