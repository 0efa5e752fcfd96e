"""Request bodies: invalid ones are refused with a reason, never with a 5xx, and change nothing."""

import json
from typing import Any

from contract.client import FORM, Client
from contract.over_socket import every_transport
from contract.world import World

JSON = {"content-type": "application/json"}


@every_transport
async def test_a_json_body_is_read(world: World, ada: Client) -> None:
    task = await world.task()
    raw = b'{"description": "new"}'
    changed = await ada.patch(f"/acme/task/{task}", raw=raw, headers=JSON)
    assert (changed.status, changed.json["description"]) == (200, "new")


@every_transport
async def test_malformed_json_names_the_position(world: World, ada: Client) -> None:
    task = await world.task()
    for raw, where in (
        (b'{"description": }', "line 1 column 17"),
        (b'{"a": 1,\n "b" 2}', "line 2 column 6"),
        (b"{", "line 1 column 2"),
        (b'{"a": 1} x', "line 1 column 10"),
    ):
        for method, target in (("PATCH", f"/acme/task/{task}"), ("POST", "/acme/job")):
            refused = await ada.request(method, target, raw=raw, headers=JSON)
            assert (refused.status, refused.code) == (400, "malformed_json"), raw
            assert where in refused.json["message"]


async def test_duplicate_keys_are_refused(world: World, ada: Client) -> None:
    task = await world.task()
    for raw in (b'{"task": "a", "task": "b"}', b'{"x": {"a": 1, "a": 1}}', b'[{"a":1,"a":2}]'):
        for method, target in (("PATCH", f"/acme/task/{task}"), ("POST", "/acme/job")):
            refused = await ada.request(method, target, raw=raw, headers=JSON)
            assert (refused.status, refused.code) == (400, "duplicate_key"), raw


@every_transport
async def test_almost_valid_json_is_refused(ada: Client) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    for raw in (b"NaN", b'{"a": Infinity}', b"\xff\xfe", b'"\\ud800"', deep, b"1" * 10_000):
        refused = await ada.post("/acme/job", raw=raw, headers=JSON)
        assert refused.status == 400, raw[:20]


async def test_unknown_fields_are_ignored_on_known_routes(world: World, ada: Client) -> None:
    task = await world.task()
    body = {"users": [], "_type": "x", "colour": 1}
    assert (await ada.put(f"/acme/task/{task}/acl", body)).status == 200
    assert (await ada.patch(f"/acme/task/{task}", {"colour": 1})).status == 200
    assert (await ada.post("/acme/job", {"task": task, "colour": 1})).status == 200


async def test_unknown_fields_are_named_on_our_own_routes(world: World, ada: Client) -> None:
    task = await world.task()
    refused = await ada.put(f"/api/task/{task}/timeout", {"timeout": None, "colour": 1})
    assert refused.status == 400
    assert refused.json["errors"][0]["field"] == "colour"
    rotate = await ada.post(f"/acme/task/{task}/credentials/rotate", {"colour": 1})
    assert (rotate.status, rotate.json["errors"][0]["field"]) == (400, "colour")


async def test_the_organization_may_be_named_in_any_body(world: World, ada: Client) -> None:
    task = await world.task()
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", f"/task/{task}/acl", {"users": ["uma"]}),
        ("PATCH", f"/task/{task}", {"description": "x"}),
        ("PUT", f"/api/task/{task}/timeout", {"timeout": None}),
        ("POST", f"/task/{task}/credentials/rotate", {}),
        ("POST", "/job", {"task": task}),
    ]
    for method, target, body in requests:
        own = await ada.request(method, target, {**body, "customer": "ACME"})
        other = await ada.request(method, target, {**body, "customer": "globex"})
        both = await ada.request(method, f"{target}?customer=acme", {**body, "customer": "globex"})
        none = await ada.request(method, target, {**body, "customer": 5})
        assert (own.status, other.status, both.status) == (200, 403, 400), target
        assert other.code == "other_customer"
        assert none.status == 400


async def test_a_wrong_type_is_named(world: World, ada: Client) -> None:
    task = await world.task()
    refused = await ada.patch(f"/acme/task/{task}", {"name": ["x"]})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "name")
    strange: list[Any] = [[], "x", 5, None, True]
    for body in strange:
        assert (await ada.patch(f"/acme/task/{task}", body)).status == 400, body


@every_transport
async def test_a_body_that_is_too_large_is_refused(world: World, ada: Client) -> None:
    task = await world.task()
    raw = json.dumps({"users": ["x" * (1 << 20)]}).encode()
    refused = await ada.put(f"/acme/task/{task}/acl", raw=raw, headers=JSON)
    assert (refused.status, refused.code) == (413, "too_large")


async def test_a_length_that_is_too_large_is_refused_unread(world: World, ada: Client) -> None:
    task = await world.task()
    body = {**JSON, "content-length": str(1 << 40)}
    refused = await ada.put(f"/acme/task/{task}/acl", raw=b"{}", headers=body)
    assert refused.status == 413


async def test_other_content_types_are_refused(world: World, ada: Client) -> None:
    task = await world.task()
    for kind in ("text/plain", "application/xml", FORM, "multipart/form-data; boundary=x"):
        refused = await ada.put(f"/acme/task/{task}/acl", raw=b"{}", headers={"content-type": kind})
        assert (refused.status, refused.code) == (415, "unsupported_media_type"), kind


async def test_json_with_the_type_of_a_form_is_detected(ada: Client) -> None:
    """The content type that curl -d sends by default."""
    refused = await ada.post("/acme/job", raw=b'{"task": "x"}', headers={"content-type": FORM})
    assert refused.status == 415
    assert "application/json" in refused.json["message"]


async def test_json_may_come_under_its_relatives_or_none(world: World, ada: Client) -> None:
    task = await world.task()
    for kind in ("application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json", ""):
        headers = {"content-type": kind} if kind else {}
        raw = b'{"users": []}'
        response = await ada.put(f"/acme/task/{task}/acl", raw=raw, headers=headers)
        assert response.status == 200, kind


async def test_a_nul_is_refused_everywhere(world: World, ada: Client) -> None:
    task = await world.task()
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"/acme/task/{task}", {"name": "a\0b"}),
        ("PATCH", f"/acme/task/{task}", {"description": "a\0b"}),
        ("PATCH", f"/acme/task/{task}", {"env": {"A": "a\0b"}}),
        ("PATCH", f"/acme/task/{task}", {"tags": ["a\0b"]}),
        ("PUT", f"/acme/task/{task}/acl", {"users": ["a\0b"]}),
        ("POST", "/api/token", {"name": "a\0b"}),
        ("POST", "/api/member", {"user": {"email": "a\0@b.c"}}),
        ("PATCH", f"/acme/host/{world.things.hosts['web-1'].host_id}", {"hostname": "a\0b"}),
        ("POST", "/acme/file", {"filename": "a\0b/..", "source": "x"}),
    ]
    for method, target, body in requests:
        assert (await ada.request(method, target, body)).status == 400, body


@every_transport
async def test_an_empty_body_is_an_empty_object(world: World, ada: Client) -> None:
    task = await world.task()
    assert (await ada.patch(f"/acme/task/{task}")).status == 200
    assert (await ada.post(f"/acme/task/{task}/job")).status == 200
