"""A real HAProxy with the configuration in `deploy/`, in front of servers on this machine."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.wait_until import until
from server.redis_server import free_port

CONFIG = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"
MISSING = "apt install haproxy nginx-light"


def program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if path is None:
        pytest.fail(f"This test needs {name}: {MISSING}")
    return path


def config(port: int, servers: list[int]) -> str:
    """The file with other addresses, and as many servers as there are."""
    text = CONFIG.read_text().replace("bind :8080", f"bind 127.0.0.1:{port}")
    # The limit of open files may be low on this machine.
    text = text.replace("maxconn 50000", "maxconn 500")
    text = re.sub(r"^    server server\d.*\n", "", text, flags=re.MULTILINE)
    lines = [f"    server server{n} 127.0.0.1:{at}\n" for n, at in enumerate(servers, 1)]
    return text + "".join(lines)


class HAProxy:
    def __init__(self, folder: Path, servers: list[int]) -> None:
        self._log = folder / "haproxy.log"
        self.port = free_port()
        path = folder / "haproxy.cfg"
        path.write_text(config(self.port, servers))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program("haproxy"), "-db", "-f", str(path)], stdout=log, stderr=log
            )
        self.url = f"http://127.0.0.1:{self.port}"

    def read_log(self) -> str:
        return self._log.read_text(errors="replace")

    def unusual_lines(self) -> str:
        """Its log without requests that ended as usual."""
        lines = self.read_log().splitlines()
        return "\n".join(line for line in lines if not re.search(r" 20\d \d+ .* ---- ", line))

    def wait_state(self, name: str, state: str) -> None:
        """Until HAProxy has logged that this server is UP or DOWN, after the last time it did."""
        pattern = re.compile(rf"Server servers/{name} is (UP|DOWN)")
        until(lambda: pattern.findall(self.read_log())[-1:] == [state], 20, self.read_log)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
