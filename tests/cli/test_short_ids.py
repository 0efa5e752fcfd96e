"""Short ids: the last six digits of an id, accepted where an id is."""

import pytest

from cli.conftest import Belvedere
from cli_records import DELIVERY_ID, HOST_ID, INDICATOR_ID, JOB_ID, TASK_ID, WEBHOOK_ID, job, task
from fake_server import FakeServer

JOB, OTHER = JOB_ID[-6:], "65b0000000000000000000b1"


def search_result(object_id: str, kind: str = "job") -> dict[str, str]:
    return {"kind": kind, "id": object_id, "name": "deploy", "detail": "", "state": "normal"}


@pytest.mark.parametrize(
    ("words", "method", "path"),
    [
        (f"job show {JOB}", "GET", f"/job/{JOB_ID}"),
        (f"job show #{JOB}", "GET", f"/job/{JOB_ID}"),
        (f"job cancel {JOB}", "PUT", f"/job/{JOB_ID}/cancel"),
        (f"job files {JOB}", "GET", f"/job/{JOB_ID}/files"),
        (f"job restart {JOB}", "PUT", f"/job/{JOB_ID}/restart"),
        (f"job resolve {JOB} success", "PUT", f"/job/{JOB_ID}/resolve"),
        (f"job release {JOB}", "PUT", f"/job/{JOB_ID}/release"),
    ],
)
def test_a_job_has_a_short_id(
    belvedere: Belvedere, server: FakeServer, words: str, method: str, path: str
) -> None:
    server.on("GET", "/-/search", [search_result(JOB_ID)])
    server.on("GET", "/host", [])
    server.on(method, path, [] if path.endswith("files") else job())
    assert belvedere(*words.split()).status == 0
    item = next(item for item in server.asked if item.path == "/-/search")
    assert item.query == {"q": f"#{JOB}", "limit": "20", "kind": "job"}


def test_a_short_id_of_several_jobs_lists_them(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/-/search", [search_result(JOB_ID), search_result(OTHER)])
    ran = belvedere("job", "show", JOB)
    assert ran.status == 2
    assert f"The job {JOB!r} is ambiguous: 2 have this short id; use a full id:" in ran.err
    assert f"{JOB_ID} (deploy), {OTHER} (deploy)" in ran.err


def test_an_unknown_short_id_is_reported(belvedere: Belvedere, server: FakeServer) -> None:
    # The search also finds jobs whose id begins with the digits.
    server.on("GET", "/-/search", [search_result(f"{JOB}{'0' * 18}")])
    ran = belvedere("job", "show", JOB)
    assert ran.status == 1 and f"There is no job {JOB!r}. See: belvedere job list" in ran.err
    assert "is not a job id" in belvedere("job", "show", "12345").err


def test_names_come_before_short_ids(belvedere: Belvedere, server: FakeServer) -> None:
    short = HOST_ID[-6:]
    first = {"id": HOST_ID, "hostname": "web-1"}
    server.on("GET", "/host", [first, {"id": OTHER, "hostname": short}])
    server.on("GET", f"/host/{OTHER}", {"id": OTHER})
    assert belvedere("host", "show", short, "--json").status == 0
    server.on("GET", "/host", [first])
    server.on("GET", f"/host/{HOST_ID}", {"id": HOST_ID})
    assert HOST_ID in belvedere("host", "show", f"#{short}", "--json").out


def test_tasks_and_indicators_have_short_ids(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/task", [], [task()])
    server.on("DELETE", f"/task/{TASK_ID}", task())
    assert belvedere("task", "delete", TASK_ID[-6:]).status == 0
    server.on("GET", "/indicator", [{"id": INDICATOR_ID, "title": "orders"}])
    server.on("DELETE", f"/indicator/{INDICATOR_ID}", {"id": INDICATOR_ID, "title": "orders"})
    assert belvedere("indicator", "delete", f"#{INDICATOR_ID[-6:]}", "--json").status == 0


def test_entries_of_a_history_have_short_ids(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/webhook", [{"id": WEBHOOK_ID, "name": "crm"}])
    path = f"/webhook/{WEBHOOK_ID}/delivery"
    server.on("GET", path, [{"id": DELIVERY_ID}])
    server.on("POST", f"{path}/{DELIVERY_ID}/replay", {"jobs": []})
    assert belvedere("webhook", "replay", "crm", DELIVERY_ID[-6:], "--json").status == 0
    server.on("GET", path, [{"id": DELIVERY_ID}, {"id": f"9{DELIVERY_ID[1:]}"}])
    ran = belvedere("webhook", "replay", "crm", DELIVERY_ID[-6:])
    assert ran.status == 2 and DELIVERY_ID in ran.err
    server.on("GET", "/-/search", [search_result(TASK_ID, "task")])
    server.on("GET", "/api/audit", [])
    assert belvedere("audit", "--object", TASK_ID[-6:]).status == 0
    assert {"object_id": TASK_ID}.items() <= server.asked[-1].query.items()
