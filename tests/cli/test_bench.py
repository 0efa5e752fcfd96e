"""`belvedere bench` on the command line."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from belvedere.bench import run
from belvedere.bench.environment import private_server, processes
from belvedere.bench.measure import agents, features, idle, turns
from belvedere.bench.results import FEATURE_GOALS
from belvedere.cli.server import bench
from belvedere.client.http_client import Client
from cli.conftest import Belvedere

SMALL = (
    "--runs",
    "9",
    "--jobs",
    "20",
    "--callers",
    "4",
    "--history",
    "0",
    "--idle",
    "0",
    "--records",
    "0",
    "--waiting",
    "0",
    "--agents",
    "0",
)


@pytest.fixture(autouse=True)
def short_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """This tests whether it measures, not how exactly: fewer of everything."""
    monkeypatch.setattr(run, "SETTLE_S", 0.0)
    monkeypatch.setattr(turns, "ROUNDS", 4)
    monkeypatch.setattr(idle, "SETTLE_S", 0.0)
    monkeypatch.setattr(agents, "SETTLE_S", 0.0)
    monkeypatch.setattr(run, "AGENTS_IDLE_S", 0.5)
    for name, value in {"WEBHOOK_CALLS": 30, "INCREMENTS": 100, "WATCH_S": 4.0}.items():
        monkeypatch.setattr(features, name, value)


@pytest.fixture
def anonymous(anonymous: Belvedere, tmp_path: Path) -> Belvedere:
    """With a folder for the bench that is checked afterwards."""
    (tmp_path / "place").mkdir()
    return lambda *words: anonymous(*words, "--data", str(tmp_path / "place"))


@pytest.mark.heavy
@pytest.mark.limit(240)
def test_bench_prints_its_results_as_json(anonymous: Belvedere, tmp_path: Path) -> None:
    ran = anonymous(
        "bench",
        "--json",
        *SMALL[:6],
        "--history",
        "1000",
        "--idle",
        "1",
        "--records",
        "20",
        "--waiting",
        "200",
        "--agents",
        "20",
        "--check",
    )
    assert ran.err == ""
    result = json.loads(ran.out)
    assert result["latency"]["runs"] == 9
    assert result["throughput"]["jobs"] == 20
    assert {process["name"] for process in result["idle"]["processes"]} == {"server", "keeper"}
    ratios = {item["name"]: item["ratio"] for item in result["rooms"]}
    assert ratios.keys() == FEATURE_GOALS.keys() | {"job of a separate agent"}
    # In a second, the checks may cost the server no more than it uses when idle.
    assert all(ratio > 0 for name, ratio in ratios.items() if not name.endswith("in the server"))
    assert {"create", "first page of 50", "one step of a sort", "one step of a deletion"} <= {
        verb["name"] for verb in result["history"]["verbs"]
    }
    assert {"create", "claim", "list of waiting jobs"} <= {
        verb["name"] for verb in result["queue"]["verbs"]
    }
    assert [result[name]["agents"] for name in ("fewer_agents", "agents")] == [2, 20]
    assert "history: search time" in {goal["name"] for goal in result["goals"]}
    for topic in ("history", "queue"):
        processes_idle = result[topic]["idle"]["processes"]
        fields = {process["name"]: process["cpu_percent"] for process in processes_idle}
        assert fields["server"] > 0
    # Four of five events are over the budget of the bench.
    assert ratios["event budget"] == 1.0
    is_missed = any(not goal["is_met"] for goal in result["goals"])
    assert ran.status == int(is_missed and not result["is_machine_busy"])
    assert list((tmp_path / "place").iterdir()) == []
    assert processes.of_folder(tmp_path / "place") == []


@pytest.mark.heavy
@pytest.mark.limit(180)
def test_bench_measures_a_running_server_and_leaves_it_unchanged(
    anonymous: Belvedere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        private_server.folder_in(str(tmp_path)) as folder,
        private_server.running(folder, "") as server,
        Client(server.url, server.token) as client,
    ):
        while not [host for host in client.get("/host") if host["state"] == "online"]:
            pass
        monkeypatch.setenv("BELVEDERE_TOKEN", server.token)
        ran = anonymous("bench", "--server", server.url, *SMALL)
        assert (ran.status, ran.err) == (0, "")
        assert "20 jobs from 4 callers" in ran.out
        assert [client.get(path) for path in ("/task", "/job", "/file")] == [[], [], []]


@pytest.mark.heavy
@pytest.mark.limit(300)
def test_bench_measures_on_postgres(anonymous: Belvedere) -> None:
    ran = anonymous(
        "bench",
        "--postgres",
        "--json",
        *SMALL[:6],
        "--history",
        "1000",
        *SMALL[8:],
        "--waiting",
        "200",
        "--idle",
        "1",
    )
    assert ran.err == ""
    result = json.loads(ran.out)
    assert result["engine"] == "postgres" and result["postgres_bytes"] > 10_000_000


@pytest.mark.prove
@pytest.mark.limit(300)
def test_bench_compares_several_servers_with_one(anonymous: Belvedere) -> None:
    result = json.loads(anonymous("bench", "--postgres", "--servers", "2", "--json", *SMALL).out)
    servers = result["servers"]
    # Every caller has a job in each of six blocks.
    assert (servers["servers"], servers["jobs"]) == (2, 96)
    assert servers["ratio"] == pytest.approx(servers["several_us"] / servers["single_us"])
    assert {goal["name"]: goal["limit"] for goal in result["goals"]}["servers"] == 1.3


@pytest.mark.parametrize("words", [("--servers", "3"), ("--postgres", "--servers", "1")])
def test_several_servers_need_postgres(anonymous: Belvedere, words: tuple[str, ...]) -> None:
    ran = anonymous("bench", *words)
    assert ran.status == 2
    assert "--servers" in ran.err


@pytest.mark.prove
@pytest.mark.limit(300)
def test_bench_compares_with_other_job_queues(anonymous: Belvedere) -> None:
    ran = anonymous("bench", "--postgres", "--compare", "--json", *SMALL)
    assert ran.err == ""
    rows = {row["name"]: row for row in json.loads(ran.out)["queues"]}
    own = {"Belvedere on PostgreSQL", "Belvedere on SQLite"}
    assert rows.keys() - {"huey on Redis"} == {*own, "huey on SQLite", "procrastinate"}
    assert all(row["p50_ms"] > 0 and row["per_second"] > 0 for row in rows.values())


def test_the_comparison_is_printed_after_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "huey on Redis", "p50_ms": 2.5, "per_second": 1_660.4, "is_durable": False}
    bench.show_queues([row])
    assert capsys.readouterr().out.splitlines()[1].split("  ") == [
        "huey on Redis",
        "2.50 ms",
        "1,660 jobs/s",
        "no",
    ]


@pytest.mark.parametrize("option", ["--postgres", "--compare"])
def test_a_server_is_measured_as_it_is(anonymous: Belvedere, option: str) -> None:
    ran = anonymous("bench", "--server", "http://127.0.0.1:1", option)
    assert ran.status == 2
    assert "--server" in ran.err


@pytest.mark.parametrize("words", [("--jobs", "0"), ("--history", "999"), ("--waiting", "1")])
def test_too_little_is_not_measured(anonymous: Belvedere, words: tuple[str, str]) -> None:
    assert anonymous("bench", *words).status == 2


def bench_result(*names: str, is_busy: bool = False) -> dict[str, Any]:
    goals = [{"name": name, "is_met": name not in names} for name in ("a", "b")]
    return {"goals": goals, "is_machine_busy": is_busy}


@pytest.mark.parametrize(
    ("check", "result", "status"),
    [
        (True, bench_result(), 0),
        (True, bench_result("b"), 1),
        (True, bench_result("b", is_busy=True), 0),
        (False, bench_result("b"), 0),
    ],
)
def test_only_check_makes_a_missed_goal_fail(
    check: bool, result: dict[str, Any], status: int
) -> None:
    [command] = bench.COMMANDS
    assert command.status(Namespace(check=check), result) == status
