"""Files through their handlers."""

import json

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Invalid
from belvedere.db import Database
from belvedere.files.api import ROUTES
from call_handler import Caller, services
from people import Actors

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=frontier"}
UPLOAD = (
    b"--frontier\r\nContent-Disposition: form-data; name=file; filename=h.sh\r\n\r\n"
    b"#!/bin/sh\n\r\n--frontier--\r\n"
)


@pytest.fixture
def call(db: Database, keys: Keyring) -> Caller:
    return Caller(services(db, keys), ROUTES)


async def test_a_file_is_uploaded_and_listed(call: Caller, actors: Actors) -> None:
    response = (await call(actors.ada, "POST", "/file", raw=UPLOAD, headers=FORM)).body
    assert (response["filename"], response["_type"], response["_id"]) == (
        "h.sh",
        "Script",
        response["id"],
    )
    for word in ("file", "script"):
        assert (await call(actors.max, "GET", f"/{word}")).body == [response]
        handler_reply = await call(actors.max, "GET", f"/{word}/{{id}}", object_id=response["id"])
        assert handler_reply.body == {**response, "content_schema": None}
        actual_handler_reply = await call(
            actors.max, "GET", f"/{word}/{{id}}/download", object_id=response["id"]
        )
        assert (actual_handler_reply.body, actual_handler_reply.media_type) == (
            b"#!/bin/sh\n",
            "application/octet-stream",
        )
        assert actual_handler_reply.headers["ETag"] == f'"{response["sha256"]}"'
        assert (
            actual_handler_reply.headers["Content-Disposition"]
            == "attachment; filename*=UTF-8''h.sh"
        )


async def test_changes_versions_and_deletion(call: Caller, actors: Actors) -> None:
    data = json.dumps({"filename": "a.json", "source": "{}", "tags": ["x"]}).encode()
    response = (await call(actors.ada, "POST", "/file", raw=data, headers=JSON)).body
    assert (response["_type"], response["mimetype"]) == ("File", "application/json")
    file_id = response["id"]
    path = "/file/{id}"
    raw = b'{"description": "new"}'
    changed = (await call(actors.ada, "PUT", path, object_id=file_id, raw=raw, headers=JSON)).body
    assert (changed["description"], changed["tags"], changed["version"]) == ("new", ["x"], 2)
    loaded = await call(
        actors.ada, "PUT", f"{path}/upload", object_id=file_id, raw=UPLOAD, headers=FORM
    )
    assert (loaded.body["filename"], loaded.body["size"]) == ("a.json", 10)
    with pytest.raises(Invalid):
        await call(actors.ada, "PUT", f"{path}/upload", object_id=file_id, raw=raw, headers=JSON)
    actual_response = (await call(actors.max, "GET", f"{path}/versions", object_id=file_id)).body
    assert [item["version"] for item in actual_response] == [3, 2, 1]
    old = await call(
        actors.max, "GET", f"{path}/download", object_id=file_id, query={"version": ["1"]}
    )
    assert old.body == b"{}"
    with pytest.raises(Invalid):
        await call(
            actors.max, "GET", f"{path}/download", object_id=file_id, query={"version": ["x"]}
        )
    assert (await call(actors.max, "GET", f"{path}/linkedmodels", object_id=file_id)).body == []
    gone = await call(actors.ada, "DELETE", path, object_id=file_id)
    assert (gone.status, gone.body["id"]) == (200, file_id)
