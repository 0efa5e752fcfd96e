"""A temporary server to measure: `belvedere up` on an empty database, removed afterwards."""

import contextlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from belvedere.base.errors import Refused
from belvedere.bench.environment import processes

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
READY = b"Belvedere is ready at "
CUSTOMER, EMAIL = "bench", "bench@localhost"


@dataclass(frozen=True, slots=True)
class PrivateServer:
    """Address, credentials and data folder of the temporary server."""

    url: str
    token: str
    # The password of its owner, EMAIL.
    password: str
    folder: Path


@contextmanager
def folder_in(parent: str) -> Iterator[Path]:
    """A temporary folder on the disk that is measured."""
    folder = Path(tempfile.mkdtemp(prefix="belvedere-bench-", dir=parent)).absolute()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(
    folder: Path,
    database: str,
    python: str = sys.executable,
    *,
    port: int = 0,
    with_agent: bool = True,
) -> Iterator[PrivateServer]:
    """Start the server and wait until it is ready; stop it with its agent and keeper."""
    token, password = f"bvt_{secrets.token_urlsafe(32)}", secrets.token_urlsafe(24)
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [python, "-m", "belvedere.cli.main", "up", "--port", str(port)]
            + ["--no-demo", *([] if with_agent else ["--no-agent"])],
            env=_environment(folder, token, password, database),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            # Ctrl-C is for the bench, which then stops the server.
            start_new_session=True,
        )
    try:
        yield PrivateServer(_address(server, folder), token, password, folder)
    finally:
        _stop(server, folder)


def clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("BELVEDERE_")}


def _environment(folder: Path, token: str, password: str, database: str) -> dict[str, str]:
    """Without the caller's own settings: the server's defaults are measured."""
    return {
        **clean_environment(),
        "BELVEDERE_DATA": str(folder),
        "BELVEDERE_DATABASE": database,
        "BELVEDERE_LOG_LEVEL": "warning",
        "BELVEDERE_CUSTOMER": CUSTOMER,
        "BELVEDERE_ADMIN_EMAIL": EMAIL,
        "BELVEDERE_ADMIN_PASSWORD": password,
        "BELVEDERE_ACCESS_TOKEN": token,
    }


def _address(server: "subprocess.Popen[bytes]", folder: Path) -> str:
    assert server.stdout is not None
    waiting, _, _ = select.select([server.stdout], [], [], START_TIMEOUT_S)
    line = server.stdout.readline() if waiting else b""
    if not line.startswith(READY):
        log = (folder / "server.log").read_text(errors="replace")[-2_000:]
        raise Refused(f"The temporary server did not start. {log}")
    return line.removeprefix(READY).strip().decode()


def _stop(server: "subprocess.Popen[bytes]", folder: Path) -> None:
    server.terminate()
    try:
        server.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    assert server.stdout is not None
    server.stdout.close()
    # The keeper outlives its agent by design; after SIGTERM it exits once no script runs.
    _end([process.pid for process in processes.of_folder(folder)])


def _end(pids: list[int]) -> None:
    for name in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, name)
        give_up_at = time.monotonic() + STOP_TIMEOUT_S
        while (pids := [pid for pid in pids if processes.is_alive(pid)]) and (
            time.monotonic() < give_up_at
        ):
            time.sleep(0.02)
