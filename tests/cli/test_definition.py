"""`belvedere definition`: its requests and its output."""

import json
from pathlib import Path

from cli.conftest import Belvedere
from cli.tagcalls import DEFINITION, DEFINITION_ID, FOUND
from fake_server import FakeServer

BODY = {"name": "backup", "type": "script", "script_id": "x"}


def test_a_definition_is_created_from_a_file(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "backup.json"
    file.write_text(json.dumps(BODY))
    server.on("POST", "/definition", FOUND)
    ran = belvedere("definition", "create", "task", "--tag", "web", "--from", str(file))
    assert (ran.status, ran.out) == (0, "backup is on 1 host.\n")
    body = {"kind": "task", "host_tag": "web", "definition": BODY}
    assert server.bodies("POST", "/definition") == [body]


def test_a_definition_is_found_by_name_and_replaced(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "backup.json"
    file.write_text(json.dumps(BODY))
    server.on("GET", "/definition", [FOUND])
    server.on("PUT", DEFINITION, FOUND)
    assert belvedere("definition", "replace", "backup", "--from", str(file)).status == 0
    assert server.bodies("PUT", DEFINITION) == [
        {"kind": "task", "host_tag": "web", "definition": BODY}
    ]


def test_a_definition_is_listed_shown_and_deleted(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("GET", "/definition", [FOUND])
    server.on("GET", DEFINITION, FOUND)
    server.on("DELETE", DEFINITION, FOUND)
    assert "backup" in belvedere("definition", "list").out
    assert "web-1" in belvedere("definition", "show", "backup").out
    assert json.loads(belvedere("definition", "show", DEFINITION_ID, "--json").out) == FOUND
    assert belvedere("definition", "delete", "backup").out == "backup deleted from 1 host.\n"


def test_a_file_that_is_no_object_is_refused(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "backup.json"
    file.write_text("[]")
    ran = belvedere("definition", "create", "task", "--tag", "web", "--from", str(file))
    assert ran.status == 1 and "contain a JSON object" in ran.err
