"""A real agent and its keeper with a fake server."""

import asyncio
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.connected_agent import office
from agent.fake_server import FakeServer
from belvedere.agent import state_folder
from belvedere.agent.connection import server_link
from belvedere.agent.connection.server_link import ServerLink
from belvedere.agent.keeper_client import KeeperClient, connect_keeper
from belvedere.agent.setup.enrolment import Credential
from belvedere.agent.setup.settings import AgentSettings
from belvedere.protocol import Reconnect

LINES = "#!/bin/sh\nfor i in $(seq 1 $1); do echo line $i; sleep $2; done\nexit 3\n"


async def test_an_agent_connects_and_runs_a_job(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        hello = server.hellos[0]
        assert server.authorization == "Bearer bva_secret"
        assert (hello["kind"], hello["hostname"], hello["slots"]) == ("hello", "web", 16)
        assert hello["entries"] == []
        assert hello["info"]["containment"] == "subreaper"
        fence = await server.order('#!/bin/sh\necho "hi $1"\nexit 3\n', "you")
        report = await server.end(fence)
        assert (report["ending"], report["code"]) == ("exit", 3)
        assert await server.log(fence) == "hi you\n"
        assert (fence in server.output) == (report["log"] is None)
        assert await agency.stop() == 0


async def test_messages_that_wait_share_a_frame_and_run_side_by_side(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        script = "#!/bin/sh\nsleep 0.6\necho $1\n"
        orders = [server.make_order(script, str(n)) for n in range(16)]
        began = time.monotonic()
        await server.send_messages(*orders)
        logs = [(await server.end(order["fence"]))["lastline"] for order in orders]
        assert logs == [str(n) for n in range(16)]
        assert time.monotonic() - began < 9
        expected = [m for m in server.heard if m["kind"] == "want"]
        assert len(expected) == 1


async def test_output_arrives_while_the_script_runs(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        fence = await server.order("#!/bin/sh\necho early\nexec sleep 300\n")
        await server.until(lambda: bytes(server.output.get(fence, b"")) == b"early\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        assert fence not in server.ended
        await server.send_messages({"kind": "cancel", "fence": fence})
        report = await server.end(fence)
        assert (report["ending"], report["signal"], report["log"]) == ("canceled", "SIGTERM", None)
        assert report["sha256"] == hashlib.sha256(b"early\n").hexdigest()


async def test_a_long_log_is_complete_and_before_its_end(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order("#!/bin/sh\nseq 1 400000\n")
        report = await server.end(fence)
        data = "".join(f"{n}\n" for n in range(1, 400_001)).encode()
        assert server.output[fence] == data
        assert report["sha256"] == hashlib.sha256(data).hexdigest()
        assert (report["lines_total"], report["lastline"]) == (400_000, "400000")
        await server.order("#!/bin/sh\n")
        await server.until(lambda: len(server.ended) == 2)
        assert os.listdir(agency.folder.spool) == []


async def test_credit_is_respected_and_small_jobs_pass_a_flood_that_waits(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        server.generous = False
        flood = await server.order("#!/bin/sh\nhead -c 9000000 /dev/zero\n")
        await server.until(lambda: len(server.output.get(flood, b"")) == server.credit)
        small = await server.order("#!/bin/sh\necho small\n")
        assert await server.log(small) == "small\n"
        assert flood not in server.ended
        server.generous = True
        await server.grant(9_000_000)
        assert (await server.end(flood))["bytes_total"] == 9_000_000
        assert len(server.output[flood]) == 9_000_000
        assert server.gaps == []


async def test_a_heartbeat_lists_the_running_jobs(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        fence = await server.order("#!/bin/sh\nexec sleep 300\n")
        beat = {"kind": "beat", "watch": -1, "disk": ""}
        await server.until(lambda: {**beat, "live": [fence]} in server.heard)
        await server.send_messages({"kind": "stop", "fence": fence})
        await server.until(lambda: server.heard[-1] == {**beat, "live": []})
        assert fence not in server.ended


async def test_unknown_messages_are_ignored(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        await server.send_messages(
            {"kind": "later"}, {"kind": "later"}, {"kind": "credit", "bytes": 1, "x": 2}
        )
        fence = await server.order("#!/bin/sh\necho fine\n", colour="blue")
        assert await server.log(fence) == "fine\n"
        assert agency.log().count("'later'") == 1


async def test_orders_of_another_session_are_dropped(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        stray = await server.order(f"#!/bin/sh\ntouch {tmp_path}/ran\n", session=99)
        fence = await server.order("#!/bin/sh\n")
        await server.end(fence)
        await server.until(lambda: any(m["kind"] == "beat" for m in server.heard))
        assert stray not in server.ended
        assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("fault", ["missing", "wrong"])
async def test_a_script_that_cannot_be_had_is_an_error(tmp_path: Path, fault: str) -> None:
    async with office(tmp_path) as (server, _):
        order = server.make_order("#!/bin/sh\necho never\n")
        if fault == "missing":
            del server.blobs[order["sha256"]]
        else:
            server.blobs[order["sha256"]] = b"something else"
        await server.send_messages(order)
        report = await server.end(order["fence"])
        assert (report["ending"], report["reason"]) == ("error", "script_unavailable")
        assert order["sha256"][:12] in report["message"]


async def test_file_arguments_are_fetched_too(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        blobs = [{"index": 0, "sha256": server.script("x" * 200_000), "filename": "big.txt"}]
        fence = await server.order('#!/bin/sh\nwc -c < "$1"; basename "$1"\n', "", blobs=blobs)
        assert (await server.log(fence)).split() == ["200000", "big.txt"]


async def test_a_job_that_waits_for_its_script_can_be_canceled(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        order = server.make_order("#!/bin/sh\necho never\n")
        server.gives_blobs = False
        await server.send_messages(order, {"kind": "cancel", "fence": order["fence"]})
        report = await server.end(order["fence"])
        assert (report["ending"], report["reason"]) == ("canceled", "not_started")


async def test_a_second_agent_refuses_with_one_sentence(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        words = ["-m", "belvedere.agent", "--server", server.url, "--state", agency.folder.root]
        second = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert second.stderr.count("\n") == 1
        assert f"another agent uses this state folder folder={agency.folder.root}" in second.stderr


async def test_an_invalid_credential_is_reported_clearly(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        server.close_with = (4401, "This agent's credential was revoked.")
        server.cut()
        await agency.wait_for_log("credential was revoked")
        assert "bva_secret" not in agency.log()


async def test_only_the_reason_of_a_stopping_server_is_logged(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        server.close_with = (1012, "the server stops")
        server.cut()
        await agency.wait_for_log("no connection to the server")
        # Nothing follows on this log line; the next attempts may fail for another reason.
        await agency.wait_for_log("error=the server stops\n")


async def test_agent_and_keeper_stay_small(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        for _ in range(50):
            await server.end(await server.order("#!/bin/sh\necho hi\n"))
        assert agency.process is not None
        assert _resident_mib(agency.process.pid) < 32
        assert _resident_mib(agency.keepers()[0]) < 14


def _resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def test_a_welcome_that_does_not_last_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that accepts an agent and closes the connection is contacted less and less often."""
    ceilings: list[float] = []

    def uniform(_: float, ceiling: float) -> float:
        ceilings.append(ceiling)
        return 0.0

    monkeypatch.setattr(server_link, "random", SimpleNamespace(uniform=uniform))
    monkeypatch.setattr(server_link, "STABLE_AFTER_S", 3_600.0)
    keeper_clients: list[KeeperClient] = []

    async def connect(folder: state_folder.StateFolder) -> KeeperClient:
        keeper_clients.append(await connect_keeper(folder))
        return keeper_clients[-1]

    monkeypatch.setattr(server_link, "connect_keeper", connect)
    server = FakeServer()
    await server.open()
    folder = state_folder.prepare(str(tmp_path / "state"))
    settings = AgentSettings(server.url, folder.root, "web")
    credential = Credential("bva_secret", "h", "acme", "web")
    agent = ServerLink(
        settings, folder, credential, server_link.network_dialer(settings, credential, None)
    )
    running = asyncio.create_task(agent.run())
    try:
        for count in range(1, 8):
            await server.wait_connected(count)
            server.cut()
        await server.wait_connected(8)
        assert ceilings == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0]
        # A connection that lasts is a success: the next pause is short again.
        monkeypatch.setattr(server_link, "STABLE_AFTER_S", 0.0)
        server.cut()
        await server.wait_connected(9)
        async with asyncio.timeout(40):
            while agent._failures:
                await asyncio.sleep(0.01)
        server.cut()
        await server.wait_connected(10)
        assert ceilings[-1] == 0.2
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.close()
        # A later test must not find anything of it.
        for keeper in keeper_clients:
            assert keeper.process is not None
            keeper.process.kill()
            await keeper.lost.wait()
            keeper.close()
            await keeper.collect()


async def test_an_agent_that_is_asked_to_move_connects_to_the_other_server(tmp_path: Path) -> None:
    """For one connection; after that the agent uses its own address again. Its journal stays the
    same."""
    async with office(tmp_path) as (server, _):
        assert server.hellos[0]["moves"] is True
        other = FakeServer()
        await other.open()
        try:
            await server.send_messages({"kind": "reconnect", "after_ms": 0, "server": other.url})
            await other.wait_connected()
            assert other.hellos[0]["journal_id"] == server.hellos[0]["journal_id"]
            await other.send_messages({"kind": "reconnect", "after_ms": 1})
            await server.wait_connected(2)
        finally:
            await other.close()


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("https://a", "https://b", "https://b"),
        ("https://a", "http://b", ""),
        ("http://a", "http://b", "http://b"),
        ("http://a", "ftp://b", ""),
        ("http://a", "", ""),
    ],
)
def test_the_next_server_is_not_less_secure(own: str, other: str, expected: str) -> None:
    assert server_link._other_server(own, Reconnect(0, other)) == expected
