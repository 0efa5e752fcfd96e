"""Checks around the data: server, files, keys, disk, clock, libraries, hosts, proxies."""

import hmac
import shutil
from collections.abc import Iterable
from itertools import starmap
from pathlib import Path
from typing import Any
from urllib.parse import quote

from belvedere.access.crypto import key_file
from belvedere.access.crypto.keyring import KEY_CHECK, SECRET_FILE
from belvedere.base.clock import MINUTE, SECOND, iso, parse_iso
from belvedere.base.errors import Refused
from belvedere.client.connections import UnixConnection
from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.http_client import Client
from belvedere.db import Tx
from belvedere.db.installation import read as read_value
from belvedere.server import scripts_user
from belvedere.server.doctor.model import (
    Finding,
    Installation,
    limit_findings,
    notice,
    ok,
    problem,
)
from belvedere.server.loop_watchdog import SLOW_S
from belvedere.server.scripts_user import ADVICE
from belvedere.server.transport import proxies
from belvedere.settings import SOCKET

MIN_FREE = 1 << 30
# A server should have this many file descriptors, and use no larger share of them.
MIN_DESCRIPTORS = 1_024
DESCRIPTOR_SHARE = 0.8
# Older versions can lose committed data when the write-ahead log is reset at a bad moment.
OLDEST_SQLITE = (3, 51, 3)
# A correct clock is later than this.
EPOCH_START = parse_iso("2025-01-01")
CONNECT_S = 3.0


def server(installation: Installation) -> Iterable[Finding]:
    runs = is_running(installation)
    folder = installation.settings.folder
    yield ok("server", f"A server {'runs' if runs else 'does not run'} on {folder}.")


def is_running(installation: Installation) -> bool:
    path = installation.settings.operator_socket.absolute()
    if not path.exists():
        return False
    connection = UnixConnection(str(path), CONNECT_S)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True


def event_loop(installation: Installation) -> Iterable[Finding]:
    """Only the running server knows this; no finding without a server or from an older one."""
    state = _ask_server(installation, "/event-loop")
    if state is None:
        return
    limit_ms = round(SLOW_S * 1_000)
    if not state["slow"]:
        yield ok("event loop", f"The event loop was never blocked for {limit_ms} ms.")
        return
    last = state["last"]
    yield notice(
        "event loop",
        f"The event loop was blocked {state['slow']} times for more than {limit_ms} ms since the"
        f" server started, for at most {state['longest_ms']} ms. Most recently it was"
        f" blocked at {iso(last['at'])}, for {last['ms']} ms, by {last['route']}"
        f" ({last['function']}).",
        "If the machine is not overloaded, report the route and the function.",
    )


def descriptors(installation: Installation) -> Iterable[Finding]:
    """Each agent, browser and database connection needs one; the same without a server."""
    state = _ask_server(installation, "/descriptors")
    if state is None or state["open"] is None:
        return
    count, limit = state["open"], state["limit"]
    text = f"The server uses {count} of {limit} file descriptors."
    advice = "Raise LimitNOFILE of the service (ulimit -n), and restart the server."
    if count > limit * DESCRIPTOR_SHARE:
        yield problem("descriptors", text, advice)
    elif limit < MIN_DESCRIPTORS:
        yield notice("descriptors", f"{text} That is few for many agents.", advice)
    else:
        yield ok("descriptors", text)


def _ask_server(installation: Installation, path: str) -> dict[str, Any] | None:
    """The answer of the running server; None without a server, or from an older one."""
    socket_path = installation.settings.operator_socket.absolute()
    try:
        with Client(f"unix:{quote(str(socket_path))}") as client:
            answer: dict[str, Any] = client.post(path, {})
            return answer
    except (ServerUnreachable, Problem):
        return None


def permissions(installation: Installation) -> Iterable[Finding]:
    """No other user of this machine may read the data."""
    folder = installation.settings.folder
    readable = [path for path in (folder, *_files(folder)) if _is_open(path)]
    for path in readable:
        mode = "700" if path.is_dir() else "600"
        yield problem("permissions", f"Other users can read {path}.", f"Run: chmod {mode} {path}")
    if folder.is_dir() and not readable:
        yield ok("permissions", f"Only its owner can read {folder}.")


def _files(folder: Path) -> list[Path]:
    private_files = (*folder.glob("*.db*"), folder / SECRET_FILE, folder / SOCKET)
    return sorted(path for path in private_files if path.exists())


def _is_open(path: Path) -> bool:
    """Scripts of another user may traverse the folder, but not list it."""
    forbidden_bits = 0o066 if path.is_dir() else 0o077
    return path.exists() and bool(path.stat().st_mode & forbidden_bits)


def scripts(installation: Installation) -> Iterable[Finding]:
    shares, count = installation.db.read(
        lambda tx: (scripts_user.shares(tx), scripts_user.organizations(tx))
    )
    if not shares:
        yield ok("scripts", "No script runs as the server's own user through `belvedere up`.")
        return
    text = "Scripts run as the server's own user, so an admin's script can read the key and"
    if count > 1:
        yield problem("scripts", f"{text} the data of all {count} organizations.", ADVICE)
    else:
        yield notice("scripts", f"{text} the database.", ADVICE)


def key(installation: Installation) -> Iterable[Finding]:
    settings = installation.settings
    restore = f"Restore the {SECRET_FILE} that belongs to this database, from a backup."
    if not settings.secret_key and not (settings.folder / SECRET_FILE).exists():
        # `load` would create one.
        yield problem("key", f"There is no {SECRET_FILE} in {settings.folder}.", restore)
        return
    try:
        proof = key_file.load(settings.folder, settings.secret_key).keys.digest("key check")
    except Refused as refusal:
        yield problem("key", refusal.message, restore)
        return
    stored_proof = installation.db.read(_stored_proof)
    if stored_proof is None:
        yield notice("key", "No server has used this database yet.", "Start the server once.")
    elif hmac.compare_digest(stored_proof, proof):
        yield ok("key", "The secret key belongs to this database.")
    else:
        yield problem("key", "The secret key belongs to another database.", restore)


def _stored_proof(tx: Tx) -> str | None:
    return read_value(tx, KEY_CHECK)


def disk(installation: Installation) -> Iterable[Finding]:
    folder = installation.settings.folder
    if not folder.exists():
        return
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE:
        yield problem(
            "disk",
            f"Only {free / 1e6:.0f} MB are free on the disk of {folder}.",
            "Free some space: with a full disk every new job is refused.",
        )
    else:
        yield ok("disk", f"{free / 1e9:.1f} GB are free on the disk of {folder}.")


def clock(installation: Installation) -> Iterable[Finding]:
    advice = "Set the clock, and keep it right with NTP."
    newest = installation.db.read(
        lambda tx: tx.value("select at from events order by id desc limit 1")
    )
    if installation.now < EPOCH_START:
        yield problem("clock", f"The clock of this machine shows {iso(installation.now)}.", advice)
    elif newest is not None and newest > installation.now + MINUTE:
        yield problem(
            "clock", f"The last event has the time {iso(newest)}, which is in the future.", advice
        )
    else:
        yield ok("clock", f"The time is {iso(installation.now)}; no event is later.")


def postgres_clock(installation: Installation) -> Iterable[Finding]:
    postgres_now = installation.db.read(
        lambda tx: tx.value("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
    )
    difference = abs(postgres_now - installation.now)
    # The query itself and the checks before it take some time.
    if difference > 10 * SECOND:
        yield problem(
            "clock",
            f"The clocks of PostgreSQL and of this machine differ by {difference / 1_000:.0f} s.",
            "Correct both clocks, and keep them in sync with NTP.",
        )


def sqlite_library(installation: Installation) -> Iterable[Finding]:
    version = str(installation.db.read(lambda tx: tx.value("select sqlite_version()")))
    if tuple(map(int, version.split("."))) >= OLDEST_SQLITE:
        yield ok("library", f"SQLite is {version}.")
    else:
        first_safe = ".".join(map(str, OLDEST_SQLITE))
        yield problem(
            "library",
            f"SQLite {version} can damage a database; {first_safe} is the first safe version.",
            "Run: pip install --upgrade apsw",
        )


def postgres_durability(installation: Installation) -> Iterable[Finding]:
    version = installation.db.read(_setting, "server_version")
    off = [
        name
        for name in ("fsync", "full_page_writes")
        if installation.db.read(_setting, name) == "off"
    ]
    for name in off:
        yield problem(
            "durability",
            f"PostgreSQL runs with {name}=off: a power cut can lose or damage everything.",
            f"Set {name} = on in postgresql.conf.",
        )
    if not off:
        yield ok("durability", f"PostgreSQL {version} writes durably.")


def _setting(tx: Tx, name: str) -> str:
    return str(tx.value("select current_setting(?)", name))


def hosts(installation: Installation) -> Iterable[Finding]:
    rows = installation.db.read(_silent_hosts)
    yield from limit_findings(starmap(_silent_host, rows))
    if not rows:
        yield ok("hosts", "The agent of every enabled host is connected.")


def _silent_host(hostname: str, customer: str, seen_at: int | None) -> Finding:
    since = f"last seen {iso(seen_at)}" if seen_at is not None else "and never was"
    return notice(
        "hosts",
        f"The agent of host {hostname} ({customer}) is not connected, {since}.",
        f"Check the agent there, or run: belvedere host disable {hostname}",
    )


def _silent_hosts(tx: Tx) -> list[tuple[str, str, int | None]]:
    return [
        (hostname, customer, seen_at)
        for hostname, customer, seen_at in tx.rows(
            "select h.hostname, c.name, h.seen_at from hosts h"
            " join customers c on c.id = h.customer_id"
            " where h.deleted_at is null and h.enabled = 1 and c.enabled = 1"
            " and (h.connected_at is null or h.gone_at is not null) order by h.id"
        )
    ]


def undeclared_proxies(installation: Installation) -> Iterable[Finding]:
    """Behind an undeclared proxy, all clients share one address and one rate limit."""
    peers = installation.db.read(
        proxies.undeclared_peers, proxies.networks(installation.settings.proxies)
    )
    for peer in peers:
        yield notice(
            "proxies",
            f"Requests from {peer} have forwarded headers, but it is not a declared proxy.",
            f"If it is your proxy, add {peer} to --proxies (BELVEDERE_PROXIES).",
        )
    if not peers:
        yield ok("proxies", "No undeclared proxy was seen within a week.")
