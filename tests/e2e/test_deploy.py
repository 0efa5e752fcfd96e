"""The files in `deploy/` for several servers, checked by the programs that read them."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from belvedere.db import search_lane
from belvedere.db.postgres import database
from belvedere.server.drain import steps
from belvedere.settings import Settings
from e2e import haproxy
from e2e.haproxy import program
from server.redis_server import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
NGINX = DEPLOY / "nginx.conf"
# From the signal to the end, at most.
STOP_S = Settings().drain + steps.CLOSE_S


def compose() -> dict[str, Any]:
    text = (DEPLOY / "compose-three-servers.yaml").read_text()
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def addresses() -> dict[str, str]:
    """The addresses of the services that have a fixed one."""
    return {
        name: service["networks"]["default"]["ipv4_address"]
        for name, service in compose()["services"].items()
        if "networks" in service
    }


def test_patroni_has_settings_that_it_accepts() -> None:
    """Patroni replaces a time that is too short by its own default, without an error."""
    content = yaml.safe_load((DEPLOY / "patroni.yml").read_text())
    settings = content["bootstrap"]["dcs"]
    assert settings["ttl"] >= 20
    assert settings["loop_wait"] + 2 * settings["retry_timeout"] <= settings["ttl"]
    assert settings["synchronous_mode"] is True
    assert settings["postgresql"]["parameters"]["synchronous_commit"] == "on"


def test_three_servers_have_enough_connections_to_patroni() -> None:
    # Two for LISTEN and NOTIFY, one for connections that hang, one for the checks in the console.
    count = database.ON_LOOP + database.THREADS + search_lane.SEARCH_THREADS + 4
    for path in (DEPLOY / "patroni.yml", DEPLOY.parent / "docs" / "howto" / "use-patroni.md"):
        assert f"{count} for each Belvedere server" in path.read_text()
    content = yaml.safe_load((DEPLOY / "patroni.yml").read_text())
    parameters = content["bootstrap"]["dcs"]["postgresql"]["parameters"]
    assert parameters["max_connections"] >= 3 * count + 20


def test_haproxy_accepts_its_file() -> None:
    command = [program("haproxy"), "-c", "-f", str(haproxy.CONFIG)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr


def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    path = tmp_path / "nginx.conf"
    path.write_text(NGINX.read_text().replace("listen 8080", f"listen 127.0.0.1:{free_port()}"))
    # Nothing of the system's own nginx.
    log = f"error_log {tmp_path}/log; pid {tmp_path}/pid;"
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-c", str(path), "-g", log]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "[warn]" not in result.stderr


@pytest.mark.parametrize("path", [haproxy.CONFIG, NGINX], ids=lambda path: path.name)
def test_the_proxies_know_the_servers_of_the_compose_file(path: Path) -> None:
    servers = re.findall(r"^\s+server\s.*?([\d.]+):8420\b", path.read_text(), re.MULTILINE)
    assert servers == [at for name, at in addresses().items() if name.startswith("server")]
    assert len(servers) == 3


def test_the_servers_have_one_key_and_trust_the_proxy_only() -> None:
    services = compose()["services"]
    for name in ("server1", "server2", "server3"):
        environment = services[name]["environment"]
        assert environment["BELVEDERE_PROXIES"] == addresses()["proxy"]
        assert (
            environment["BELVEDERE_SECRET_KEY"]
            == "${BELVEDERE_SECRET_KEY:?64 hex digits, the same for all servers}"
        )
        # Only the proxy can be reached from outside.
        assert "ports" not in services[name]
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > STOP_S


def test_systemd_waits_until_a_server_has_stopped() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "belvedere-server.service")
    service = unit["Service"]
    assert (service["KillSignal"], service["KillMode"]) == ("SIGTERM", "mixed")
    assert int(service["TimeoutStopSec"]) > STOP_S
