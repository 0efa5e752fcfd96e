"""Which functions of the product are replaced by the simulated world, all in one table."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from belvedere import hosts
from belvedere.agent import disk_space
from belvedere.agent.connection import order_intake, server_link, session
from belvedere.agent.disk_space import DiskSpace
from belvedere.agent.journal import journal
from belvedere.agent.keeper import program, recovery
from belvedere.agent.monitoring.sample_journal import SampleJournal
from belvedere.agent.output import capture, upload
from belvedere.db import Tx
from belvedere.db.backup import copy
from belvedere.jobs.lifecycle import create
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.background import loops
from sim import agent, current_actor, spools, upgrades
from sim.agent import SimCache
from sim.database import VirtualSqlite
from sim.spools import SimSpool

_product_close, _product_doubt = AgentConnection.close, hosts.doubt_journal
# The close code of a connection that another one of the same host replaces.
TAKEN_OVER = 4409


class SimSpace(DiskSpace):
    """The simulated disk is either full or not."""

    def _shortage(self, factor: float) -> str:
        return "The simulated disk is full." if current_actor.agent_host().disk.is_full else ""

    def _can_write(self) -> bool:
        return not current_actor.agent_host().disk.is_full


async def _at_once(call: Callable[[], None]) -> None:
    """Without a thread, whose timing no seed determines."""
    call()


class SimDescendants:
    """Replaces agent/processes/discovery.py: the table of processes."""

    @staticmethod
    def find_leftovers(*_: object) -> list[int]:
        # All of them have a working folder as their current folder, where the real search finds
        # them too.
        return [run.pid for run in current_actor.keeper_host().alive()]

    @staticmethod
    def tree(pids: list[int]) -> dict[int, int]:
        return dict.fromkeys(pids, 0)

    @staticmethod
    def send(pid: int, _: int, number: int) -> None:
        for run in current_actor.keeper_host().alive():
            if run.pid == pid:
                run.send(number, "leftover")

    @staticmethod
    def cookie_of(pid: int) -> bytes:
        return _cookie(pid)


def _cookie(pid: int) -> bytes:
    run = next(run for run in current_actor.keeper_host().started if run.pid == pid)
    return f"cookie.{run.fence}".encode()


class _Stopwatch:
    """A clock for loops that wait for a second: each reading of it takes half a second."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        self._now += 0.5
        return self._now

    def sleep(self, _: float) -> None:
        pass


class _Disk:
    """`os` for the journal: the disk of the keeper that is executing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(current_actor.keeper_host().disk, name)


def _random_bytes(count: int) -> bytes:
    return current_actor.keeper_host().world.random.randbytes(count)


def _reach_keeper(name: str) -> None:
    process = current_actor.keeper_host().starting_or_running
    process.may_die()


def _reach_agent(name: str) -> None:
    host = current_actor.agent_host()
    if host.world.chance(host.agent_crash_chance):
        host.world.note("agent_died_at", name)
        host.kill_agent()


def _close(self: AgentConnection, code: int, reason: str) -> None:
    if code == TAKEN_OVER and isinstance(self.runtime.db, VirtualSqlite):
        self.runtime.db.check_takeover(self.host_id, self.session)
    _product_close(self, code, reason)


def _doubt(tx: Tx, host_id: str, journal_id: str) -> None:
    """Only for an agent of an earlier version: its late hello looks like that of a journal that
    was rolled back, so its jobs may be lost without another cause."""
    current_actor.doubted_hosts.add(host_id)
    _product_doubt(tx, host_id, journal_id)


def _numbered_id() -> str:
    return f"{current_actor.new_number():024x}"


TABLE: tuple[tuple[Any, str, Any], ...] = (
    (server_link, "connect", agent.connect),
    (server_link, "connect_keeper", agent.connect_keeper),
    (server_link, "FileCache", SimCache),
    (server_link, "SampleJournal", lambda _: SampleJournal()),
    (
        server_link,
        "enrolment",
        SimpleNamespace(operating_system=lambda: ("", ""), fingerprint=lambda _, name: name),
    ),
    (
        server_link,
        "random",
        SimpleNamespace(uniform=lambda a, b: current_actor.agent_host().world.random.uniform(a, b)),
    ),
    (server_link, "INLINE_LOG", 64),
    (server_link, "DiskSpace", SimSpace),
    (server_link, "run_detached", _at_once),
    (session, "run_detached", _at_once),
    (disk_space, "monotonic", lambda: current_actor.agent_host().clock_ns() / 1e9),
    (session, "reach", _reach_agent),
    (order_intake, "reach", _reach_agent),
    (upload, "CHUNK", 500),
    (
        upload,
        "spool",
        SimpleNamespace(**spools.READING),
    ),
    (capture, "spool", SimpleNamespace(Spool=SimSpool)),
    (journal, "os", _Disk()),
    (journal, "open", lambda path, mode: current_actor.keeper_host().disk.read(path, mode)),
    (journal, "sync_data", lambda fd: current_actor.keeper_host().disk.fsync(fd)),
    (program, "now_ns", lambda: current_actor.keeper_host().clock_ns()),
    (program, "reach", _reach_keeper),
    (program, "write_log", lambda *_: None),
    (program, "os", SimpleNamespace(urandom=_random_bytes)),
    (
        recovery,
        "os",
        SimpleNamespace(urandom=_random_bytes, path=SimpleNamespace(isdir=lambda _: True)),
    ),
    (recovery, "boot_id", lambda: f"boot-{current_actor.keeper_host().boots}"),
    (recovery, "cookie", lambda _: "cookie"),
    (recovery, "discovery", SimDescendants),
    (recovery, "spool", SimpleNamespace(**spools.RECOVERY)),
    (recovery, "time", _Stopwatch()),
    (create, "new_id", _numbered_id),
    (hosts, "doubt_journal", _doubt),
    (AgentConnection, "close", _close),
    # The same in every process.
    (loops, "_OFFSET_S", 0.0),
    (copy, "migrations", upgrades.list_migrations),
)


@contextmanager
def install() -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, replacement in TABLE:
            stack.enter_context(mock.patch.object(module, name, replacement, create=name == "open"))
        yield
