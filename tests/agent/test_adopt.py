"""Agents, keepers and networks fail while scripts run: nothing is lost, nothing runs twice."""

import asyncio
import hashlib
import shutil
from pathlib import Path

import pytest

import belvedere
from agent.connected_agent import office

LINES = "#!/bin/sh\nfor i in $(seq 1 $1); do echo line $i; sleep $2; done\nexit 3\n"
# Ten lines, then ten more when the test tells it to continue.
HALVES = """#!/bin/bash
for i in {1..10}; do echo line $i; done
until [ -e "$1" ]; do sleep 0.02; done
for i in {11..20}; do echo line $i; done
exit 3
"""


def lines(count: int) -> bytes:
    return "".join(f"line {n}\n" for n in range(1, count + 1)).encode()


async def test_a_script_survives_its_agent_and_is_adopted(tmp_path: Path) -> None:
    """The agent is killed, the script is not affected, and the next agent adopts it."""
    async with office(tmp_path) as (server, agency):
        fence = await server.order(HALVES, str(tmp_path / "go"))
        await server.until(lambda: len(server.output.get(fence, b"")) == len(lines(10)))
        keepers = agency.keepers()
        agency.kill()
        agency.start()
        await server.wait_connected(2)
        assert server.hellos[1]["entries"] == [
            {"fence": fence, "state": "live", "job_id": f"job{fence}"}
        ]
        assert server.hellos[1]["journal_id"] == server.hellos[0]["journal_id"]
        (tmp_path / "go").touch()
        report = await server.end(fence)
        assert report["code"] == 3
        assert server.output[fence] == lines(20)
        assert report["sha256"] == hashlib.sha256(lines(20)).hexdigest()
        assert agency.keepers() == keepers


async def test_an_end_without_an_agent_is_reported_by_the_next_agent(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order(f"#!/bin/sh\nsleep 0.3\ntouch {tmp_path}/over\nexit 8\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        agency.kill()
        while not (tmp_path / "over").exists():
            await asyncio.sleep(0.02)
        agency.start()
        assert (await server.end(fence))["code"] == 8


async def test_a_stopped_agent_leaves_its_scripts_running(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order("#!/bin/sh\nexec sleep 300\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        assert await agency.stop() == 0
        assert len(agency.scripts()) == 1
        agency.start()
        await server.wait_connected(2)
        await server.send_messages({"kind": "cancel", "fence": fence})
        assert (await server.end(fence))["ending"] == "canceled"
        assert agency.scripts() == []


async def test_a_network_failure_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, _):
        noisy = "#!/bin/bash\nfor i in {1..60000}; do echo line $i; done\nsleep 0.3\necho end\n"
        fences = [await server.order(noisy), await server.order(LINES, "30", "0.03")]
        for session in range(1, 6):
            await server.wait_connected(session)
            count = sum(map(len, server.output.values()))
            await server.until(
                lambda count=count: (
                    sum(map(len, server.output.values())) > count  # type: ignore[misc]
                    or len(server.ended) == 2
                )
            )
            server.cut()
        reports = [await server.end(fence) for fence in fences]
        assert server.output[fences[0]] == lines(60_000) + b"end\n"
        assert server.output[fences[1]] == lines(30)
        for fence, report in zip(fences, reports, strict=True):
            assert report["sha256"] == hashlib.sha256(server.output[fence]).hexdigest()
        assert server.gaps == []


async def test_a_server_that_was_down_gets_every_report(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order(HALVES, str(tmp_path / "go"))
        await server.until(lambda: len(server.output.get(fence, b"")) == len(lines(10)))
        await server.close()
        (tmp_path / "go").touch()
        while agency.scripts():
            await asyncio.sleep(0.02)
        await server.open(server.port)
        report = await server.end(fence)
        assert (report["code"], bytes(server.output[fence])) == (3, lines(20))


async def test_an_end_is_reported_until_it_is_acknowledged(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        server.acks = False
        fence = await server.order("#!/bin/sh\necho once >> $1\n", str(tmp_path / "ran"))
        first = await server.end(fence)
        server.cut()
        await server.until(lambda: server.ends_heard == 2)
        assert server.hellos[1]["entries"] == [
            {"fence": fence, "state": "ended", "job_id": f"job{fence}"}
        ]
        agency.kill()
        agency.start()
        await server.until(lambda: server.ends_heard == 3)
        assert server.ended[fence] == first
        await server.send_messages({"kind": "ack", "fences": [fence]})
        await server.end(await server.order("#!/bin/sh\n"))
        server.acks = True
        server.cut()
        await server.wait_connected(4)
        assert fence not in [entry["fence"] for entry in server.hellos[3]["entries"]]
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_a_killed_keeper_is_replaced_and_reports_correctly(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        fence = await server.order("#!/bin/sh\necho said\nsetsid sleep 300 &\nexec sleep 300\n")
        await server.until(lambda: bytes(server.output.get(fence, b"")) == b"said\n")
        agency.kill_keeper()
        report = await server.end(fence)
        assert (report["ending"], report["reason"]) == ("unknown", "keeper_lost")
        assert agency.scripts() == []
        assert len(agency.keepers()) == 1
        assert server.hellos[1]["journal_id"] == server.hellos[0]["journal_id"]
        fence = await server.order("#!/bin/sh\necho again\n")
        assert await server.log(fence) == "again\n"


@pytest.mark.parametrize(
    "point",
    [
        "agent.order_received",
        "agent.script_cached",
        "keeper.accepted",
        "keeper.spawned",
        "keeper.script_ended",
        "keeper.ended",
        "agent.reported",
        "agent.acked",
    ],
)
async def test_a_death_at_any_point_runs_it_at_most_once(tmp_path: Path, point: str) -> None:
    async with office(tmp_path, BELVEDERE_FAILPOINT=point) as (server, agency):
        ran = tmp_path / "ran"
        script = f"#!/bin/sh\necho x >> {ran}\nexit 5\n"
        fence = await server.order(script)
        if point.startswith("agent."):
            assert agency.process is not None
            assert await asyncio.to_thread(agency.process.wait, 10) == -9
            agency.start()
        await server.wait_connected(2)
        names = {entry["fence"] for entry in server.hellos[1]["entries"]}
        if point in ("agent.order_received", "agent.script_cached"):
            assert names == set()
            fence = await server.order(script)
        else:
            assert names == {fence}
        report = await server.end(fence)
        count = len(ran.read_text().splitlines()) if ran.exists() else 0
        if report["ending"] == "exit":
            assert (report["code"], count) == (5, 1)
        else:
            assert point.startswith("keeper.")
            assert (report["ending"], report["reason"]) == ("unknown", "keeper_lost")
            assert count <= 1
        assert agency.scripts() == []


async def test_a_flood_that_cannot_leave_stays_below_its_limit(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        server.generous = False
        fence = await server.order("#!/bin/sh\nhead -c 130M /dev/zero | tr '\\0' x\necho end\n")
        spool = Path(agency.folder.spool) / str(fence)
        while not (spool / f"{(1 + 32 * 4) * 1024 * 1024}.seg").exists():
            await asyncio.sleep(0.05)
        assert sum(path.stat().st_size for path in spool.iterdir()) < 101 * 1024 * 1024
        server.generous = True
        await server.grant(4 * 1024 * 1024)
        report = await server.end(fence)
        assert report["bytes_total"] == 130 * 1024 * 1024 + 4
        assert len(server.output[fence]) == report["bytes_total"]
        assert server.output[fence].endswith(b"xend\n")
        assert len(server.gaps) == 1


async def test_an_upgrade_changes_the_keeper_when_nothing_runs(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, agency):
        former = agency.keepers()
        fence = await server.order("#!/bin/sh\nexec sleep 300\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        await agency.stop()
        newer = tmp_path / "newer"
        shutil.copytree(Path(belvedere.__file__).parent, newer / "belvedere")
        (newer / "belvedere/__init__.py").write_text('__version__ = "99"\n')
        agency.start(PYTHONPATH=str(newer))
        await server.wait_connected(2)
        assert server.hellos[1]["agent_version"] == "99"
        assert agency.keepers() == former
        await server.send_messages({"kind": "cancel", "fence": fence})
        await server.end(fence)
        server.cut()
        await server.wait_connected(3)
        assert server.hellos[2]["info"]["keeper"] == "99"
        assert len(agency.keepers()) == 1
        assert agency.keepers() != former
        fence = await server.order("#!/bin/sh\necho new\n")
        assert await server.log(fence) == "new\n"
