"""The files in `deploy/` for Prometheus and Grafana; and a real Prometheus with Alertmanager."""

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from belvedere.db import Tx
from belvedere.server.metrics.collect import Metrics
from belvedere.server.metrics.listener import MetricsListener
from belvedere.server.runtime import ServerRuntime
from contract.client import Client
from contract.running import run
from contract.world import World
from server.metrics_client import TOKEN, read_figures
from server.redis_server import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "belvedere.rules.yml"
REFERENCE = DEPLOY.parent / "docs" / "reference" / "metrics.md"
DASHBOARD = DEPLOY / "grafana" / "belvedere.json"
NAME = re.compile(r"\b(?:belvedere|process)_[a-z_]+\b")
MISSING = "apt install prometheus prometheus-alertmanager"
ALERT_S = 60.0


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    exprs = [target["expr"] for panel in panels for target in panel["targets"]]
    return [*exprs, *(rule["expr"] for rule in rules())]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_every_metric_that_they_name_exists(
    world: World, ada: Client, anonymous: Client
) -> None:
    async with world.agent() as agent:
        await run(ada, agent, await world.task())
        text_names = {name for name, _ in await read_figures(world, anonymous)}
    # No job is open.
    text_names |= {"belvedere_queue_age_seconds", "belvedere_queue_jobs", "belvedere_jobs_open"}
    text_names |= {"belvedere_monitors"}
    named = {name for expression in expressions() for name in NAME.findall(expression)}
    assert len(named) > 20
    assert named <= text_names


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_reference_lists_all_of_them(runtime: ServerRuntime) -> None:
    text = await Metrics(runtime).text()
    names = set(re.findall(r"^# TYPE (\w+)", text, flags=re.MULTILINE))
    first_cells = re.findall(r"^\| (`[^|]*) \|", REFERENCE.read_text(), flags=re.MULTILINE)
    listed = {name for cell in first_cells for name in NAME.findall(cell)}
    assert listed == names


def test_every_alert_says_what_to_do() -> None:
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) >= 10


# Units of metrics, and how a text has to write their values.
UNITS = {
    "_bytes": "humanize1024",
    "_seconds": "humanizeDuration",
    "_seconds_bucket": "humanizeDuration",
}


def test_values_in_alert_texts_have_a_readable_unit() -> None:
    for rule in rules():
        values = re.findall(r"\{\{ \$value(?: \| (\w+))? \}\}", rule["annotations"]["summary"])
        (name, *_) = [*NAME.findall(rule["expr"]), ""]
        (unit, *_) = [*(UNITS[end] for end in UNITS if name.endswith(end)), ""]
        assert not unit or not values or values == [unit], rule["alert"]
        if re.search(r"rate|increase|/", rule["expr"]):
            assert "" not in values, rule["alert"]


# The real programs.


def write_config(folder: Path, metrics: int, alertmanager: int, webhook: int) -> None:
    """The example of `deploy/` with short intervals, and our rules without their delays."""
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(folder / "belvedere.rules.yml")]
    targets = [{"targets": [f"127.0.0.1:{alertmanager}"]}]
    config["alerting"]["alertmanagers"] = [{"static_configs": targets}]
    (scrape,) = config["scrape_configs"]
    scrape["static_configs"] = [{"targets": [f"127.0.0.1:{metrics}"]}]
    scrape["authorization"] = {"credentials_file": str(folder / "belvedere.token")}
    (folder / "belvedere.token").write_text(TOKEN)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    text = re.sub(r"^ +for: .*\n", "", RULES.read_text(), flags=re.MULTILINE)
    (folder / "belvedere.rules.yml").write_text(text)
    receiver = {"name": "test", "webhook_configs": [{"url": f"http://127.0.0.1:{webhook}/"}]}
    route = {"receiver": "test", "group_wait": "1s", "group_interval": "1s"}
    manager = {"route": route, "receivers": [receiver]}
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(manager))


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"This test needs {name}: {MISSING}")
    return path


@contextlib.asynccontextmanager
async def running(*command: str) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class AlertReceiver:
    """The webhook of Alertmanager."""

    def __init__(self) -> None:
        self.alerts: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split()[0])
        for alert in json.loads(await reader.readexactly(size))["alerts"]:
            self.alerts.put_nowait(alert)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def wait_for(self, name: str) -> dict[str, Any]:
        async with asyncio.timeout(ALERT_S):
            while True:
                alert = await self.alerts.get()
                if alert["labels"]["alertname"] == name:
                    return alert


def _set_aside(tx: Tx) -> None:
    tx.execute(
        "insert into parked (reaction, event_id, at, fault) values ('people are told', 1, ?, 'x')",
        tx.now,
    )


@pytest.mark.prove
async def test_promtool_accepts_everything(
    runtime: ServerRuntime, world: World, anonymous: Client
) -> None:
    for arguments in (("check", "rules", str(RULES)),):
        process = await asyncio.create_subprocess_exec(program("promtool"), *arguments)
        assert await process.wait() == 0
    runtime.settings.metrics_token = TOKEN
    headers = {"authorization": f"Bearer {TOKEN}"}
    text = (await anonymous.get("/-/metrics", headers=headers)).body
    process = await asyncio.create_subprocess_exec(
        *(program("promtool"), "check", "metrics"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate(text)
    assert (process.returncode, output) == (0, b"")


@pytest.mark.prove
async def test_a_real_prometheus_fires_an_alert(runtime: ServerRuntime, tmp_path: Path) -> None:
    metrics, alertmanager, webhook, prometheus = (free_port() for _ in range(4))
    write_config(tmp_path, metrics, alertmanager, webhook)
    runtime.settings.metrics_token = TOKEN
    runtime.settings.metrics_listen = f"127.0.0.1:{metrics}"
    runtime.db.write_blocking(_set_aside)
    receiver = AlertReceiver()
    servers = [
        await MetricsListener(runtime).listen(),
        await asyncio.start_server(receiver.answer, "127.0.0.1", webhook),
    ]
    manager = (
        program("prometheus-alertmanager"),
        f"--config.file={tmp_path / 'alertmanager.yml'}",
        f"--storage.path={tmp_path / 'alerts'}",
        f"--web.listen-address=127.0.0.1:{alertmanager}",
        "--cluster.listen-address=",
    )
    reader = (
        program("prometheus"),
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{prometheus}",
    )
    try:
        async with running(*manager), running(*reader):
            alert = await receiver.wait_for("BelvedereEventsSetAside")
    finally:
        for server in servers:
            server.close()
    assert alert["status"] == "firing"
    assert alert["annotations"]["action"].startswith("Run belvedere doctor")
