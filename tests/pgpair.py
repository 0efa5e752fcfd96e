"""A PostgreSQL with a standby that follows it, for tests of a failover."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

import pgserver

START_S = 30.0
# A killed process loses nothing that it has written to a file, only a machine without power does.
OPTIONS = pgserver.OPTIONS | pgserver.CARELESS


class Node:
    """One of the two; its socket and its data are in a folder of its own."""

    def __init__(self, home: Path, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self._home = home
        self._identity = identity
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, *words: str) -> None:
        subprocess.run(
            [f"{self._home}/bin/{words[0]}", *words[1:]],
            check=True,
            capture_output=True,
            **self._identity,
        )

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [f"{self._home}/bin/postgres", "-D", f"{self.folder}/data", "-h", ""]
                + ["-k", str(self.folder)]
                + [f"--{name}={value}" for name, value in OPTIONS.items()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._identity,
            )
        self._until_it_answers()

    def _until_it_answers(self) -> None:
        give_up_at = time.monotonic() + START_S
        while True:
            try:
                self.execute("select 1")
                return
            except psycopg.OperationalError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.02)

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(), autocommit=True) as operator:
            cursor = operator.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def kill(self) -> None:
        """All processes at once, as when its machine loses power: the postmaster's session is its
        own."""
        if self._process is None or self._process.poll() is not None:
            return
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for pid in [self._process.pid, *map(int, children.read_text().split())]:
            # A child may have ended meanwhile.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()


class PostgresPair:
    def __init__(self, primary: Node, standby: Node) -> None:
        self.primary = primary
        self.standby = standby

    def url(self, database: str) -> str:
        """The one of the two that accepts writes."""
        hosts = f"{self.primary.folder},{self.standby.folder}"
        return f"postgresql://postgres@/{database}?host={hosts}"

    def start_standby(self) -> None:
        """A copy of the primary as it is now, which follows it from then on."""
        place = ("-h", str(self.primary.folder), "-U", "postgres")
        words = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        self.primary.run("pg_basebackup", *place, "-D", f"{self.standby.folder}/data", *words)
        self.standby.start()

    def is_in_step(self) -> bool:
        """Whether the standby has everything that is committed now."""
        [(sent,)] = self.primary.execute("select pg_current_wal_lsn()")
        [(there,)] = self.standby.execute(f"select pg_last_wal_replay_lsn() >= '{sent}'")
        return bool(there)

    def fall_behind(self) -> None:
        """From now on the standby receives nothing more."""
        self.standby.execute("alter system set primary_conninfo = ''")
        self.standby.execute("select pg_reload_conf()")
        while self.standby.execute("select pid from pg_stat_wal_receiver"):
            time.sleep(0.01)

    def make_synchronous(self) -> None:
        """From now on a commit waits until the standby has it. Only the primary has this setting,
        so that the standby can work alone after a failover, as Patroni does it."""
        self.primary.execute("alter system set synchronous_standby_names = '*'")
        self.primary.execute("select pg_reload_conf()")
        while not self.primary.execute(
            "select pid from pg_stat_replication where sync_state = 'sync'"
        ):
            time.sleep(0.01)

    def replace_primary(self) -> None:
        """After a failover: the standby is the primary now, and the other node copies it."""
        self.primary, self.standby = self.standby, self.primary
        shutil.rmtree(self.standby.folder / "data")
        self.start_standby()

    def fail_over(self) -> None:
        self.primary.kill()
        self.standby.execute("select pg_promote(true, 30)")


@contextmanager
def postgres_pair() -> Iterator[PostgresPair]:
    folder = Path(tempfile.mkdtemp(prefix="belvedere-pair-", dir="/tmp"))
    home, identity = pgserver.binaries(folder, folder)
    nodes = []
    for name in ("a", "b"):
        (folder / name).mkdir(mode=0o755)
        if "user" in identity:
            os.chown(folder / name, identity["user"], identity["group"])
        nodes.append(Node(home, folder / name, identity))
    primary, standby = nodes
    try:
        pgserver.make_data(home, primary.folder, identity)
        primary.start()
        yield PostgresPair(primary, standby)
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder)
