"""Paths and methods: 404, 405 with Allow, OPTIONS and CORS, HEAD, the shape of a refusal."""

from contract.client import Client
from contract.over_socket import every_transport
from contract.world import World

ORIGIN = {"origin": "https://console.test"}


@every_transport
async def test_health_and_status_need_no_credentials(anonymous: Client) -> None:
    # The second is TheEye's name for it.
    for path in ("/-/health", "/api/status"):
        response = await anonymous.get(path)
        assert (response.status, response.json["status"]) == (200, "ok")


@every_transport
async def test_an_unknown_path_is_404(ada: Client) -> None:
    for path in ("/nothing", "/acme/nothing", "/job/x/y/z", "/job/", "//job", "/%ff", "/acme"):
        missing = await ada.get(path)
        assert (missing.status, missing.code) == (404, "no_such_path"), path


async def test_a_wrong_method_names_the_right_ones(world: World, ada: Client) -> None:
    task = await world.task()
    for method, path, allowed in (
        ("PUT", "/acme/job", "GET, POST"),
        ("DELETE", "/job", "GET, POST"),
        ("GET", "/job/finished", "DELETE"),
        ("POST", f"/task/{task}/acl", "DELETE, GET, PATCH, PUT"),
        ("TRACE", "/-/health", "GET"),
        ("BREW", "/-/health", "GET"),
    ):
        refused = await ada.request(method, path)
        assert (refused.status, refused.code) == (405, "method_not_allowed"), path
        assert refused.headers["allow"] == allowed


async def test_an_id_of_another_shape_is_not_found(ada: Client) -> None:
    for path in ("/job/1", "/task/zz", f"/job/{'A' * 24}", f"/job/{'0' * 25}", "/job/%00"):
        assert (await ada.get(path)).status == 404, path


@every_transport
async def test_a_refusal_has_one_shape(world: World, uma: Client) -> None:
    refused = await uma.post(
        "/acme/job", {"task": await world.task(task_arguments=[{"type": "input"}])}
    )
    assert list(refused.json) == ["statusCode", "code", "message", "errors", "request_id"]
    assert refused.headers["content-type"] == "application/json"
    missing = await uma.get(f"/acme/job/{'0' * 24}")
    assert list(missing.json) == ["statusCode", "code", "message", "request_id"]


async def test_every_request_has_an_id_of_its_own(anonymous: Client) -> None:
    texts = {(await anonymous.get("/-/health")).headers["x-request-id"] for _ in range(5)}
    assert len(texts) == 5


@every_transport
async def test_options_answers_for_pages_that_may_ask(anonymous: Client) -> None:
    response = await anonymous.request("OPTIONS", "/acme/job", headers=ORIGIN)
    assert response.status == 204
    assert response.headers["allow"] == "GET, POST, OPTIONS"
    assert response.headers["access-control-allow-origin"] == "https://console.test"
    assert "authorization" in response.headers["access-control-allow-headers"]
    assert response.headers["vary"] == "origin"


async def test_an_origin_must_be_listed_exactly(ada: Client) -> None:
    for origin in (
        "https://console.test.evil.test",
        "http://console.test",
        "https://CONSOLE.test",
        "null",
        "*",
        "https://console.test:8443",
    ):
        for method, path in (("OPTIONS", "/acme/job"), ("GET", "/acme/job")):
            response = await ada.request(method, path, headers={"origin": origin})
            assert "access-control-allow-origin" not in response.headers, origin


@every_transport
async def test_a_listed_origin_reads_answers_and_refusals(ada: Client, anonymous: Client) -> None:
    for job in (
        await ada.get("/acme/job", headers=ORIGIN),
        await anonymous.get("/acme/job", headers=ORIGIN),
        await ada.get("/nothing", headers=ORIGIN),
    ):
        assert job.headers["access-control-allow-origin"] == "https://console.test"
        assert "link" in job.headers["access-control-expose-headers"]


@every_transport
async def test_head_is_get_without_a_body(ada: Client) -> None:
    response = await ada.request("HEAD", "/acme/job")
    assert response.status == 200 and response.headers["content-length"] == "2"


async def test_the_address_of_a_caller_comes_from_a_trusted_proxy_only(
    world: World, ada: Client
) -> None:
    body = {"x-forwarded-for": "203.0.113.9, 198.51.100.1"}
    await world.client("ada", address="10.0.0.1").post("/api/token", {"name": "a"}, headers=body)
    await world.client("ada", address="192.0.2.99").post("/api/token", {"name": "b"}, headers=body)
    rows = (await ada.get("/api/audit?limit=2")).json
    assert [row["address"] for row in rows] == ["192.0.2.99", "198.51.100.1"]


@every_transport
async def test_a_query_that_cannot_be_read_is_refused(ada: Client) -> None:
    for query in ("a=%ff", "a=" + "&b=" * 1_001):
        refused = await ada.get(f"/acme/job?{query}")
        assert (refused.status, refused.code) == (400, "malformed_query")


async def test_version_prefixes_are_no_organizations(world: World, ada: Client) -> None:
    tasks = (await ada.get("/acme/task")).json
    for path in ("/apiv2/acme/task", "/apiv3/task?customer=acme", "/apiv2/task"):
        assert (await ada.get(path)).json == tasks, path
    for path in ("/apiv2", "/apiv2/", "/apiv2/nothing", "/apiv3/apiv2/task"):
        missing = await ada.get(path)
        assert (missing.status, missing.code) == (404, "no_such_path"), path
