"""JSON responses are compressed where that reveals nothing."""

import gzip
from typing import Any

import pytest

from belvedere.hosts import api as hosts
from belvedere.server.http import compression
from contract.client import Client, Response
from contract.world import World

GZIP = {"accept-encoding": "gzip, deflate, br"}
only_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def start_jobs(client: Client, count: int) -> None:
    task = {"name": "Nightly", "type": "dummy", "task_arguments": []}
    task_id = (await client.post("/task", task)).json["id"]
    for _ in range(count):
        await client.post("/job", {"task": task_id, "task_arguments": []})


def decompress(answer: Response) -> Any:
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert "accept-encoding" in answer.headers["vary"]
    return answer.json


@only_sqlite
async def test_a_long_list_is_compressed_for_a_client_that_accepts_it(ada: Client) -> None:
    await start_jobs(ada, 8)
    plain = await ada.get("/job")
    packed = await ada.get("/job", headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert decompress(packed) == plain.json
    assert len(packed.body) < len(plain.body) / 4


@only_sqlite
async def test_lists_of_the_console_are_compressed(world: World, ada: Client) -> None:
    """Their records have no credentials: these are masked."""
    for n in range(8):
        task_id = await world.task(f"task {n}")
        schedule = {"name": f"nightly {n}", "repeatEvery": "0 3 * * *"}
        assert (await ada.post(f"/task/{task_id}/schedule", schedule)).status in (200, 201)
        await ada.post("/monitor", {"name": f"push {n}", "type": "push"})
        await ada.post("/api/enrolment", {"name": f"host {n}"})
    for target in ("/task", "/schedule", "/monitor", "/api/audit"):
        assert decompress(await ada.get(target, headers=GZIP)), target


def test_the_list_of_hosts_may_be_compressed() -> None:
    (route,) = [r for r in hosts.ROUTES if (r.method, r.path) == ("GET", "/host")]
    assert route.compress


@only_sqlite
async def test_values_and_output_of_jobs_are_never_compressed(ada: Client) -> None:
    """They combine secrets with text from outside: the length would reveal the secrets (BREACH)."""
    await start_jobs(ada, 8)
    for target in ("/job?include[task_arguments_values]=1", "/job?include[output]=1"):
        assert "content-encoding" not in (await ada.get(target, headers=GZIP)).headers
    job_id = (await ada.get("/job?limit=1")).json[0]["id"]
    assert "content-encoding" not in (await ada.get(f"/job/{job_id}", headers=GZIP)).headers


@only_sqlite
@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
async def test_a_request_from_another_site_gets_no_compressed_response(
    ada: Client, site: str
) -> None:
    await start_jobs(ada, 8)
    own = await ada.get("/job", headers={**GZIP, "sec-fetch-site": "same-origin"})
    assert own.headers["content-encoding"] == "gzip"
    other = await ada.get("/job", headers={**GZIP, "sec-fetch-site": site})
    assert "content-encoding" not in other.headers


@only_sqlite
async def test_small_responses_and_refusals_are_sent_as_they_are(ada: Client) -> None:
    for target in ("/-/board/monitors?limit=0", "/job?look=0"):
        assert "content-encoding" not in (await ada.get(target, headers=GZIP)).headers


async def test_very_large_responses_are_sent_as_they_are() -> None:
    assert await compression.compressed(b"x" * (compression.MAX_BYTES + 1)) is None


def test_equal_responses_have_different_lengths() -> None:
    data = b"[1, 2, 3]" * 500
    packed = [compression.gzip(data) for _ in range(40)]
    assert {gzip.decompress(body) for body in packed} == {data}
    assert len({len(body) for body in packed}) > 10


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (b"gzip", True),
        (b"br, GZIP;q=0.5", True),
        (b"*", True),
        (b"gzip;q=0", False),
        (b"gzip; q=0.000", False),
        (b"br, deflate", False),
        (b"", False),
    ],
)
def test_the_header_decides(accepted: bytes, expected: bool) -> None:
    assert compression.accepts_gzip(accepted) is expected
