"""From an enrolment token to a credential."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from belvedere.agent import main
from belvedere.agent.setup import enrolment
from belvedere.agent.setup.enrolment import CannotEnrol, Unreachable, fingerprint
from belvedere.agent.setup.settings import AgentSettings
from belvedere.agent.state_folder import StateFolder, prepare

ANSWER = {"token": "bva_own", "host_id": "h1", "customer": "acme", "hostname": "web"}


class EnrolmentServer:
    """Responds to `/-/enrol` as the test says, and records the requests."""

    def __init__(self) -> None:
        self.status = 201
        self.answer: Any = ANSWER
        self.asked: list[tuple[str, Any]] = []
        desk = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                desk.asked.append((self.path, json.loads(body)))
                reply = json.dumps(desk.answer).encode()
                self.send_response(desk.status)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def enrolment_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EnrolmentServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    new_enrolment_server = EnrolmentServer()
    thread = threading.Thread(target=new_enrolment_server.server.serve_forever, args=(0.01,))
    thread.start()
    yield new_enrolment_server
    new_enrolment_server.server.shutdown()
    thread.join()
    new_enrolment_server.server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return prepare(str(tmp_path / "state"))


def settings(desk: EnrolmentServer, folder: StateFolder, token: str = "bve_once") -> AgentSettings:
    address = f"http://127.0.0.1:{desk.server.server_port}"
    return AgentSettings(address, folder.root, "web", token)


def test_an_agent_enrols_and_gets_a_credential(
    enrolment_server: EnrolmentServer, folder: StateFolder
) -> None:
    agent_settings = settings(enrolment_server, folder)
    assert enrolment.load_saved(agent_settings, folder) is None
    credential = enrolment.enrol(agent_settings, folder, None)
    assert (credential.token, credential.host_id, credential.customer) == ("bva_own", "h1", "acme")
    body = {"token": "bve_once", "hostname": "web", "fingerprint": fingerprint(folder, "web")}
    assert enrolment_server.asked == [("/-/enrol", body)]
    assert os.stat(folder.credential).st_mode & 0o777 == 0o600
    assert "bve_once" not in Path(folder.credential).read_text()


def test_an_enrolled_agent_uses_its_stored_credential(
    enrolment_server: EnrolmentServer, folder: StateFolder
) -> None:
    credential = enrolment.enrol(settings(enrolment_server, folder), folder, None)
    assert enrolment.load_saved(settings(enrolment_server, folder), folder) == credential
    assert enrolment.load_saved(settings(enrolment_server, folder, token=""), folder) == credential


def test_another_token_means_another_enrolment(
    enrolment_server: EnrolmentServer, folder: StateFolder
) -> None:
    enrolment.enrol(settings(enrolment_server, folder), folder, None)
    assert (
        enrolment.load_saved(settings(enrolment_server, folder, token="bve_other"), folder) is None
    )


def test_enrolling_without_a_token_explains_what_to_do(
    enrolment_server: EnrolmentServer, folder: StateFolder
) -> None:
    with pytest.raises(CannotEnrol, match="--token-file"):
        enrolment.load_saved(settings(enrolment_server, folder, token=""), folder)


def test_a_refusal_shows_the_message_of_the_server(
    enrolment_server: EnrolmentServer, folder: StateFolder
) -> None:
    enrolment_server.status, enrolment_server.answer = (
        401,
        {"message": "This enrolment token has expired."},
    )
    with pytest.raises(CannotEnrol, match="has expired"):
        enrolment.enrol(settings(enrolment_server, folder), folder, None)
    assert not os.path.exists(folder.credential)


@pytest.mark.parametrize(
    ("status", "answer"), [(503, {"message": "later"}), (201, {"no": "token"})]
)
def test_a_temporary_error_is_retried(
    enrolment_server: EnrolmentServer, folder: StateFolder, status: int, answer: Any
) -> None:
    enrolment_server.status, enrolment_server.answer = status, answer
    with pytest.raises(Unreachable):
        enrolment.enrol(settings(enrolment_server, folder), folder, None)


def test_a_server_that_is_away_is_worth_another_try(folder: StateFolder) -> None:
    with pytest.raises(Unreachable):
        enrolment.enrol(
            AgentSettings("http://127.0.0.1:9", folder.root, "web", "bve_x"), folder, None
        )


def test_the_fingerprint_is_of_the_machine_and_its_name(folder: StateFolder) -> None:
    assert fingerprint(folder, "web") == fingerprint(folder, "web")
    assert fingerprint(folder, "web") != fingerprint(folder, "db")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"colour": "blue"}'])
def test_a_damaged_credential_is_named(tmp_path: Path, text: str) -> None:
    folder = prepare(str(tmp_path))
    Path(folder.credential).write_text(text)
    with pytest.raises(CannotEnrol, match="credential.json cannot be read; remove it"):
        enrolment.load(folder)


def test_an_agent_warns_of_plain_http_at_its_start(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before it enrols, and at each start."""
    monkeypatch.setattr(main, "_serve", _nothing)
    monkeypatch.setattr(os, "umask", lambda _: 0)
    for server in ("http://belvedere.example.org", "https://b.example", "http://127.0.0.1:1"):
        assert main.run(AgentSettings(server, folder.root, "web", "bve_1")) == 0
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "not encrypted" in warnings[0] and "http://belvedere.example.org" in warnings[0]


async def _nothing(*_: object) -> None:
    return
