"""The installation around its data: files, keys, disk, clock, libraries, who is there."""

import hmac
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

from belvedere.access.crypto import key_file
from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.base.clock import MINUTE, SECOND, iso, parse_iso
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.server import operator_socket, scripts_user
from belvedere.server.doctor.model import Finding, Patient, notice, ok, problem
from belvedere.server.scripts_user import ADVICE
from belvedere.server.transport import proxies

SCARCE = 1 << 30
# Older ones can lose committed data when the write-ahead log is reset at a bad moment.
OLDEST_SQLITE = (3, 51, 3)
# No clock that is right says less.
EPOCH_START = parse_iso("2025-01-01")


def server(patient: Patient) -> Iterable[Finding]:
    door = operator_socket.socket_path(patient.settings)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        runs = door.exists() and knock.connect_ex(str(door)) == 0
    folder = patient.settings.folder
    yield ok("server", f"A server {'runs' if runs else 'does not run'} on {folder}.")


def permissions(patient: Patient) -> Iterable[Finding]:
    """Nobody else on this machine may read the data."""
    folder = patient.settings.folder
    open_ones = [path for path in (folder, *_files(folder)) if _is_open(path)]
    for path in open_ones:
        mode = "700" if path.is_dir() else "600"
        yield problem(
            "permissions", f"Other users can look into {path}.", f"Run: chmod {mode} {path}"
        )
    if folder.is_dir() and not open_ones:
        yield ok("permissions", f"Only its owner can look into {folder}.")


def _files(folder: Path) -> list[Path]:
    kept = (*folder.glob("*.db*"), folder / SECRET_FILE, folder / operator_socket.SOCKET)
    return sorted(path for path in kept if path.exists())


def _is_open(path: Path) -> bool:
    """Scripts of another user must be able to walk through the folder, which shows nothing."""
    closed = 0o066 if path.is_dir() else 0o077
    return path.exists() and bool(path.stat().st_mode & closed)


def scripts(patient: Patient) -> Iterable[Finding]:
    shares, count = patient.db.look(
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


def key(patient: Patient) -> Iterable[Finding]:
    settings = patient.settings
    restore = f"Restore the {SECRET_FILE} that belongs to this database, from a backup."
    if not settings.secret_key and not (settings.folder / SECRET_FILE).exists():
        # Looking for it must not make one.
        yield problem("key", f"There is no {SECRET_FILE} in {settings.folder}.", restore)
        return
    try:
        mine = key_file.load(settings.folder, settings.secret_key).keys.digest("key check")
    except Refused as refusal:
        yield problem("key", refusal.message, restore)
        return
    kept = patient.db.look(_kept_proof)
    if kept is None:
        yield notice("key", "No server has used this database yet.", "Start the server once.")
    elif hmac.compare_digest(kept, mine):
        yield ok("key", "The secret key belongs to this database.")
    else:
        yield problem("key", "The secret key belongs to another database.", restore)


def _kept_proof(tx: Tx) -> str | None:
    found: str | None = tx.value("select value from meta where name = 'key_check'")
    return found


def disk(patient: Patient) -> Iterable[Finding]:
    folder = patient.settings.folder
    if not folder.exists():
        return
    free = shutil.disk_usage(folder).free
    if free < SCARCE:
        yield problem(
            "disk",
            f"Only {free / 1e6:.0f} MB are free on the disk of {folder}.",
            "Make room: a full disk refuses every new job.",
        )
    else:
        yield ok("disk", f"{free / 1e9:.1f} GB are free on the disk of {folder}.")


def clock(patient: Patient) -> Iterable[Finding]:
    advice = "Set the clock, and keep it right with NTP."
    newest = patient.db.look(lambda tx: tx.value("select at from events order by id desc limit 1"))
    if patient.now < EPOCH_START:
        yield problem("clock", f"This machine thinks that it is {iso(patient.now)}.", advice)
    elif newest is not None and newest > patient.now + MINUTE:
        yield problem("clock", f"The last event is of {iso(newest)}, which is yet to come.", advice)
    else:
        yield ok("clock", f"It is {iso(patient.now)}, and nothing is of later.")


def postgres_clock(patient: Patient) -> Iterable[Finding]:
    theirs = patient.db.look(
        lambda tx: tx.value("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
    )
    off = abs(theirs - patient.now)
    # The look itself and the checks before it take their time.
    if off > 10 * SECOND:
        yield problem(
            "clock",
            f"PostgreSQL's clock is {off / 1_000:.0f} s away from this machine's.",
            "Set both, and keep them right with NTP.",
        )


def sqlite_library(patient: Patient) -> Iterable[Finding]:
    version = str(patient.db.look(lambda tx: tx.value("select sqlite_version()")))
    if tuple(map(int, version.split("."))) >= OLDEST_SQLITE:
        yield ok("library", f"SQLite is {version}.")
    else:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        yield problem(
            "library",
            f"SQLite is {version}, which can damage a database; {wanted} is the first that cannot.",
            "Run: pip install --upgrade apsw",
        )


def postgres_durability(patient: Patient) -> Iterable[Finding]:
    version = patient.db.look(_setting, "server_version")
    off = [
        name for name in ("fsync", "full_page_writes") if patient.db.look(_setting, name) == "off"
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


def hosts(patient: Patient) -> Iterable[Finding]:
    rows = patient.db.look(_silent_hosts)
    for hostname, customer, seen_at in rows:
        since = f"since {iso(seen_at)}" if seen_at is not None else "and never was"
        yield notice(
            "hosts",
            f"The agent of host {hostname} ({customer}) is not connected {since}.",
            f"Look at the agent there, or run: belvedere host disable {hostname}",
        )
    if not rows:
        yield ok("hosts", "The agent of every enabled host is connected.")


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


def undeclared_proxies(patient: Patient) -> Iterable[Finding]:
    """Behind a proxy that is not declared, everybody shares one address and one limit."""
    peers = patient.db.look(proxies.kept, proxies.networks(patient.settings.proxies))
    for peer in peers:
        yield notice(
            "proxies",
            f"Requests from {peer} carry forwarded headers, but it is not a declared proxy.",
            f"If it is your proxy, add {peer} to --proxies (BELVEDERE_PROXIES).",
        )
    if not peers:
        yield ok("proxies", "No undeclared proxy was seen within a week.")
