"""Two machines with the real Patroni and a real etcd, as processes of a test. Patroni uses the
configuration in `deploy/`, with other addresses and folders."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

import pgserver
from e2e.wait_until import until
from server.redis_server import free_port

CONFIG = Path(__file__).parents[2] / "deploy" / "patroni.yml"
# `make prove` installs it; in its own environment, because it needs other versions.
ENVIRONMENT = Path(sys.prefix) / "patroni"
ADDRESS, NETWORK = "10.0.0.11", "10.0.0.0/24"
# Patroni waits up to `ttl` before it promotes, and copies a whole database before that.
WAIT_S = 180.0

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Daemon:
    """A process that is killed with everything that its machine would lose."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self._identity = identity
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self, *words: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._identity,
            )

    def kill(self) -> None:
        if self._process is not None:
            kill_all([self._process.pid])
            self._process.wait()

    def read_log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


class Etcd(Daemon):
    def start(self) -> str:
        """Its address."""
        assert shutil.which("etcd"), "The tests need etcd: apt install etcd-server"
        clients, peers = (f"127.0.0.1:{free_port()}" for _ in range(2))
        self.launch(
            *("etcd", "--data-dir", f"{self.folder}/data", "--name", "etcd"),
            *("--listen-client-urls", f"http://{clients}"),
            *("--advertise-client-urls", f"http://{clients}"),
            *("--listen-peer-urls", f"http://{peers}"),
            *("--initial-advertise-peer-urls", f"http://{peers}"),
            *("--initial-cluster", f"etcd=http://{peers}"),
        )
        return clients


class PatroniNode(Daemon):
    """A machine: Patroni and the PostgreSQL that it starts."""

    def __init__(self, folder: Path, identity: dict[str, Any], home: Path, etcd: str) -> None:
        super().__init__(folder, identity)
        self.port = free_port()
        self._rest = f"127.0.0.1:{free_port()}"
        self._data = folder / "data"
        self._program = folder.parent / "patroni" / "bin" / "python"
        self._config = folder / "patroni.yml"
        self._config.write_text(self._configuration(home, etcd))
        # Patroni stores the passwords that it uses in a file.
        self._config.chmod(0o644)

    def _configuration(self, home: Path, etcd: str) -> str:
        values = {
            "name: db1": f"name: {self.folder.name}",
            f"hosts: {ADDRESS}:2379,10.0.0.12:2379,10.0.0.13:2379": f"hosts: {etcd}",
            f"{ADDRESS}:8008": self._rest,
            f"{ADDRESS}:5432": f"127.0.0.1:{self.port}",
            NETWORK: "127.0.0.0/8",
            "/var/lib/postgresql/18/main": str(self._data),
            "/usr/lib/postgresql/18/bin": f"{home}/bin",
        }
        text = CONFIG.read_text()
        for old, new in values.items():
            assert old in text, f"{CONFIG} does not contain {old}"
            text = text.replace(old, new)
        assert text.index("\npostgresql:") == text.rindex("\n\n") + 1
        return (
            f"{text}  pgpass: {self.folder}/pgpass\n"
            f"  parameters:\n    unix_socket_directories: {self.folder}\n    fsync: 'off'\n"
        )

    @property
    def password(self) -> str:
        match = re.search(r"username: postgres\n\s+password: (\S+)", self._config.read_text())
        assert match is not None
        return match[1]

    def start(self) -> None:
        self.launch(str(self._program), "-m", "patroni", str(self._config))

    def configure(self, **settings: object) -> None:
        assert self._request("PATCH", "/config", settings) == 200

    def is_synchronous(self) -> bool:
        return self._request("GET", "/sync") == 200

    def _request(self, method: str, path: str, body: object = None) -> int:
        """The status of a request to Patroni."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self._rest}{path}", data, method=method)
        try:
            with OPENER.open(request, timeout=10) as response:
                return int(response.status)
        except urllib.error.HTTPError as fault:
            return fault.code

    def kill(self) -> None:
        """All at once, as when the machine loses power. Patroni first: it would start PostgreSQL
        again."""
        super().kill()
        lines = self._pid_file().read_text().split() if self._pid_file().exists() else []
        if not lines:
            return
        children = Path(f"/proc/{lines[0]}/task/{lines[0]}/children")
        if children.exists():
            kill_all([int(lines[0]), *map(int, children.read_text().split())])

    def _pid_file(self) -> Path:
        return self._data / "postmaster.pid"

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=5) as operator:
            cursor = operator.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def is_primary(self) -> bool:
        return self.answers("select not pg_is_in_recovery()")

    def is_standby(self) -> bool:
        return self.answers("select count(*) > 0 from pg_stat_wal_receiver")

    def answers(self, sql: str) -> bool:
        """Whether it is reachable, and the statement is true there."""
        try:
            return bool(self.execute(sql)[0][0])
        except psycopg.Error:
            return False


class PatroniCluster:
    """The same operations as `pgpair.PostgresPair`; Patroni decides who is promoted."""

    def __init__(self, nodes: tuple[PatroniNode, PatroniNode]) -> None:
        self.primary, self.standby = nodes

    def url(self, database: str) -> str:
        nodes = sorted((self.primary, self.standby), key=lambda node: node.folder)
        places = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        return f"postgresql://postgres:{self.primary.password}@{places}/{database}"

    def start(self) -> None:
        self.primary.start()
        until(self.primary.is_primary, WAIT_S, self.primary.read_log)

    def start_standby(self) -> None:
        self.standby.start()
        until(self.standby.is_standby, WAIT_S, self.standby.read_log)

    def set_synchronous(self, is_synchronous: bool) -> None:
        """As `patronictl edit-config` does."""
        self.primary.configure(synchronous_mode=is_synchronous)

    def make_synchronous(self) -> None:
        """Until Patroni may promote the standby: it has recorded that commits wait for it."""
        until(self.standby.is_synchronous, WAIT_S, self.primary.read_log)

    def is_in_step(self) -> bool:
        """Whether the standby has everything that is committed now."""
        [(position,)] = self.primary.execute("select pg_current_wal_lsn()")
        return self.standby.answers(f"select pg_last_wal_replay_lsn() >= '{position}'")

    def fall_behind(self) -> None:
        """From now on the standby receives nothing more: the process that sends is stopped."""
        for (pid,) in self.primary.execute("select pid from pg_stat_replication"):
            os.kill(pid, signal.SIGSTOP)

    def fail_over(self) -> None:
        self.primary.kill()
        until(self.standby.is_primary, WAIT_S, self.standby.read_log)

    def replace_primary(self) -> None:
        """After a failover: the machine that was lost is started again, as a standby."""
        self.primary, self.standby = self.standby, self.primary
        self.start_standby()


@contextmanager
def patroni_cluster() -> Iterator[PatroniCluster]:
    assert ENVIRONMENT.is_dir(), "The tests need Patroni: make fetched-patroni"
    folder = Path(tempfile.mkdtemp(prefix="belvedere-patroni-", dir="/tmp"))
    home, identity = pgserver.binaries(folder, folder)
    # Where an unprivileged user can read it.
    shutil.copytree(ENVIRONMENT, folder / "patroni", symlinks=True)
    for name in ("etcd", "db1", "db2"):
        (folder / name).mkdir(mode=0o755)
        if "user" in identity:
            os.chown(folder / name, identity["user"], identity["group"])
    etcd = Etcd(folder / "etcd", identity)
    address = etcd.start()
    first, second = (PatroniNode(folder / name, identity, home, address) for name in ("db1", "db2"))
    try:
        cluster = PatroniCluster((first, second))
        cluster.start()
        yield cluster
    finally:
        for daemon in (first, second, etcd):
            daemon.kill()
        shutil.rmtree(folder)
