"""The other kinds of checks, each against the real thing on this machine."""

import asyncio
import json
import os
import pkgutil
import pwd
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from belvedere.agent.checks import check_of, kinds
from belvedere.agent.checks.kinds import dns, file, ping, process, psaux, tcp, tls
from belvedere.agent.checks.outcome import Outcome


def test_every_kind_of_check_is_loaded_by_its_name() -> None:
    names = [module.name for module in pkgutil.iter_modules(kinds.__path__)]
    assert names and all(check_of(name) is not None for name in names)
    for name in ("quantum", "../evil", "dns.socket", "", "__init__.x"):
        assert check_of(name) is None


WATCHED = ["sh", "-c", "echo here; read line # watched 7654"]


async def test_a_process_is_found_by_its_command_line() -> None:
    config: dict[str, Any] = {"raw_search": "# watched 7654", "is_regexp": False}
    config |= {"least": 1, "most": None}
    missing = await process.check(config, {})
    assert (missing.state, missing.event) == ("failure", "process:missing")
    with subprocess.Popen(WATCHED, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sleeper:
        try:
            # Between the two halves of an exec a process has no command line: wait until it prints
            # something.
            assert sleeper.stdout is not None and sleeper.stdout.readline() == b"here\n"
            there = await process.check(config, {})
            assert (there.state, there.data["pids"]) == ("normal", [sleeper.pid])
            by_rule = {**config, "raw_search": r"# watched 76\d+$", "is_regexp": True}
            assert (await process.check(by_rule, {})).measured == {"count": 1.0}
            none = {**config, "least": 0, "most": 0}
            assert (await process.check(none, {})).event == "process:too_many"
        finally:
            sleeper.kill()


FILE = {"permissions": "", "os_username": "", "os_groupname": ""}


async def test_a_file_is_watched(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    config, memory = {**FILE, "path": str(path)}, dict[str, Any]()
    assert (await file.check(config, memory)).event == "file:error:missing"
    path.write_text("one")
    os.chmod(path, 0o640)
    assert (await file.check(config, memory)).state == "changed"
    assert (await file.check(config, memory)).state == "normal"
    path.write_text("other")
    assert (await file.check(config, memory)).state == "changed"
    assert (await file.check({**config, "permissions": "640"}, {})).state == "normal"
    wrong = await file.check({**config, "permissions": "0600"}, {})
    assert (wrong.event, wrong.message) == ("file:error:perm", "mode 0640, expected 0600")
    assert "owner" in (await file.check({**config, "os_username": "nobody-at-all"}, {})).message


async def test_a_file_that_is_new_to_us_has_not_changed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert (await file.check({**FILE, "path": str(tmp_path / "x")}, {})).state == "normal"


async def test_a_port_is_open_or_not() -> None:
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        there = await tcp.check({"target": "127.0.0.1", "port": port}, {})
        assert there.state == "normal" and there.measured["ms"] >= 0
    gone = await tcp.check({"target": "127.0.0.1", "port": port}, {})
    assert (gone.state, gone.event) == ("failure", "tcp:error")
    place = f"127.0.0.1 port {port}"
    assert gone.message == f"Connection refused at {place}: nothing accepts connections there."


async def test_a_name_has_an_address() -> None:
    config = {"target": "localhost", "record": "A", "address": ""}
    assert (await dns.check(config, {})).data["addresses"] == ["127.0.0.1"]
    assert (await dns.check({**config, "address": "127.0.0.1"}, {})).state == "normal"
    wrong = await dns.check({**config, "address": "192.0.2.1"}, {})
    assert (wrong.event, wrong.message) == ("dns:mismatch", "127.0.0.1, expected 192.0.2.1")
    nobody = await dns.check({**config, "target": "no-such-name.invalid"}, {})
    assert (nobody.state, nobody.event) == ("failure", "dns:error")


async def test_this_host_answers_a_ping() -> None:
    outcome = await ping.check({"target": "127.0.0.1"}, {})
    assert outcome.state == "normal" and outcome.data["address"] == "127.0.0.1"


async def test_without_the_right_to_ping_it_says_how_it_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ping, "_socket", lambda family: None)
    outcome = await ping.check({"target": "127.0.0.1"}, {})
    assert (outcome.state, outcome.event) == ("normal", "ping:by_tcp")
    assert "may not send ICMP" in outcome.message


def certificate(expires: str) -> dict[str, Any]:
    return {"notAfter": expires}


@pytest.mark.parametrize(
    ("expires", "state"),
    [("Jan 20 00:00:00 2026 GMT", "normal"), ("Jan 10 00:00:00 2026 GMT", "failure")],
)
def test_a_certificate_must_last(expires: str, state: str) -> None:
    now = 1_767_225_600.0  # 2026-01-01
    outcome: Outcome = tls.evaluate(certificate(expires), 14, now)
    assert outcome.state == state
    assert outcome.measured["days"] == pytest.approx(19 if state == "normal" else 9)


async def test_a_self_signed_certificate_is_a_failure(tmp_path: Path) -> None:
    import ssl

    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [sys.executable, "-c", _SELF_SIGNED, str(key), str(cert)], check=True, timeout=30
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        outcome = await tls.check({"target": "localhost", "port": port, "days": 14}, {})
    assert (outcome.state, outcome.event) == ("failure", "tls:invalid")


_SELF_SIGNED = """
import datetime, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
key = ec.generate_private_key(ec.SECP256R1())
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
now = datetime.datetime.now(datetime.UTC)
made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    .serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=30))
    .sign(key, hashes.SHA256()))
pem = serialization.Encoding.PEM
open(sys.argv[1], "wb").write(key.private_bytes(
    pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
open(sys.argv[2], "wb").write(made.public_bytes(pem))
"""


async def test_a_disk_that_does_not_answer_holds_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, looks = threading.Event(), 0

    def hang(path: str) -> Any:
        nonlocal looks
        looks += 1
        answer.wait()
        return os.stat("/"), "root", "root"

    monkeypatch.setattr(file, "_stat", hang)
    memory: dict[str, Any] = {}
    config = {"path": "/away", "permissions": "", "os_username": "", "os_groupname": ""}
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await file.check(config, memory)
    assert looks == 1
    answer.set()
    assert (await file.check(config, memory)).state == "normal"
    assert (await file.check(config, memory)).state == "normal"
    assert looks == 2


async def test_processes_are_listed_with_their_use() -> None:
    outcome = await psaux.check({}, {})
    own = next(row for row in outcome.data["psaux"] if row["pid"] == os.getpid())
    assert own["user"] == pwd.getpwuid(os.geteuid()).pw_name
    assert own["rss"] > 1_000 and own["%mem"] >= 0 and "python" in own["command"]
    assert outcome.data["count"] >= len(outcome.data["psaux"]) > 0
    assert outcome.measured["count"] == outcome.data["count"]


def test_a_long_list_is_cut_to_the_largest_processes() -> None:
    rows = [{"%cpu": n / 10, "rss": n, "command": "x" * 100} for n in range(1_000)]
    items = psaux._fitting(rows)
    assert 0 < len(items) < 1_000 and items[0]["rss"] == 999
    assert len(json.dumps(items)) <= psaux.MAX_LIST
