"""Connections of agents: sessions, heartbeats and timeouts."""

from collections.abc import Sequence

import msgspec

from belvedere import events
from belvedere.base.clock import MINUTE, ClockStep, Millis
from belvedere.base.errors import Conflict
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.hosts import store
from belvedere.hosts.model import AgentHostRow, HostRow
from belvedere.protocol import Hello

MAX_SLOTS = 1_000
MAX_TEXT = 256
MAX_INFO = 64 * 1024
# Whether a host is silent is decided within this time. What is older is a date for people.
RECENT: Millis = 1 * MINUTE


def connect(tx: Tx, host_id: str, hello: Hello, address: str) -> int:
    return open_session(tx, store.for_agent(tx, host_id), hello, address)


def open_session(tx: Tx, host: AgentHostRow, hello: Hello, address: str) -> int:
    """Open a new session of the agent of this host, which is locked; every older session becomes
    invalid."""
    host_id = host.id
    check_holder(host, hello.fingerprint)
    _check_order(host, hello)
    session: int = tx.value(
        "update hosts set session = session + 1, fingerprint = ?, journal_id = ?, boot_id = ?,"
        " greeting = ?, saved_greeting = ?, accepted_fence = ?, keeper_id = ?, doubted_at = null,"
        " stale_hello_at = null, journal_refused_at = null, journal_message = '',"
        " slots = ?, ip = ?, os_name = ?, os_version = ?, agent_version = ?,"
        " info = ?, connected_at = ?, seen_at = ?, gone_at = null where id = ? returning session",
        _clean_text(hello.fingerprint),
        _clean_text(hello.journal_id),
        _clean_text(hello.boot_id),
        hello.greeting,
        *_evidence(host, hello),
        _clean_text(hello.keeper_id),
        max(0, min(hello.slots, MAX_SLOTS)),
        _clean_text(hello.ip or address),
        _clean_text(hello.os_name),
        _clean_text(hello.os_version),
        _clean_text(hello.agent_version),
        _info(hello),
        tx.now,
        tx.now,
        host_id,
    )
    version = _clean_text(hello.agent_version)
    data = {"hostname": host.hostname, "session": session, "agent_version": version}
    events.append(tx, host.customer_id, "host.connected", host_id, data)
    if host.disk_message != _clean_text(hello.disk):
        note_disk(tx, host_id, session, hello.disk)
    _note_update(tx, host, _clean_text(hello.update_error))
    tx.signals.add(host_ready(host_id))
    return session


def _note_update(tx: Tx, host: HostRow, error: str) -> None:
    """Record why the agent could not be updated; its hello repeats it until an update succeeds."""
    if error != host.update_error:
        tx.execute(
            "update hosts set update_failed_at = ?, update_error = ? where id = ?",
            *(tx.now if error else None, error, host.id),
        )


def note_disk(tx: Tx, host_id: str, session: int, message: str) -> None:
    """Record whether the disk of the agent is full; once it is not, the host gets jobs again."""
    row = tx.row(
        "select customer_id, hostname, disk_full_at, disk_message from hosts"
        f" where id = ? and session = ? and deleted_at is null{tx.dialect.lock_rows}",
        host_id,
        session,
    )
    problem = _clean_text(message)
    if row is None or row[3] == problem:
        return
    full_at = (row[2] or tx.now) if problem else None
    tx.execute(
        "update hosts set disk_full_at = ?, disk_message = ? where id = ?",
        full_at,
        problem,
        host_id,
    )
    if not problem or row[2] is None:
        kind = "host.disk_full" if problem else "host.disk_free"
        events.append(tx, row[0], kind, host_id, {"hostname": row[1], "message": problem})
    tx.signals.add(host_ready(host_id))


def _evidence(host: AgentHostRow, hello: Hello) -> tuple[int, int]:
    """The number of the last durable hello, and the highest fence that is certainly in the journal:
    data of a hello that is not durable may be lost in the next reboot."""
    if hello.is_saved:
        return hello.greeting, highest_fence(hello)
    if host.journal_id != _clean_text(hello.journal_id):
        return 0, 0
    return host.saved_greeting, host.accepted_fence


def _check_order(host: AgentHostRow, hello: Hello) -> None:
    """A Hello that arrives after a later one lacks what its agent has accepted since; using it
    would run those scripts again. (Zero: the agent does not number them.) A durable number above
    the last durable one is newer: the numbers in between were used while a disk was full, when
    nothing was accepted, and lost in a reboot."""
    last = host.saved_greeting if hello.is_saved else host.greeting
    is_overtaken = host.journal_id == _clean_text(hello.journal_id) and last >= hello.greeting
    if is_overtaken and hello.greeting:
        raise Conflict(
            "A later connection of this agent has already been accepted.", code="stale_hello"
        )


def doubt_journal(tx: Tx, host_id: str, journal_id: str) -> None:
    """The number of a hello is not above the last one: it arrived late, or its journal was rolled
    back. Each retry increases the number, so the doubt must be stored."""
    tx.execute(
        "update hosts set doubted_at = ? where id = ? and journal_id = ?",
        tx.now,
        host_id,
        _clean_text(journal_id),
    )


def note_accepted(tx: Tx, fences: Sequence[tuple[str, int, int]]) -> None:
    """(host, session, fence): the agent has certainly accepted this fence and those below."""
    tx.execute_many(
        "update hosts set accepted_fence = ? where id = ? and session = ? and accepted_fence < ?",
        [(fence, host_id, session, fence) for host_id, session, fence in sorted(fences)],
    )


def highest_fence(hello: Hello) -> int:
    """Agents of earlier versions send it in `info`."""
    fence = hello.highest or hello.info.get("highest_fence", 0)
    return fence if isinstance(fence, int) and 0 <= fence < 2**62 else 0


def check_holder(host: HostRow, fingerprint: str) -> None:
    """Refuse to assign the name of a connected host to another machine."""
    if host.is_live and host.fingerprint and host.fingerprint != _clean_text(fingerprint):
        raise Conflict(
            f"An agent on another machine is connected as the host {host.hostname!r}; stop it"
            " first, or enrol this machine under another name.",
            code="host_held",
        )


def end_session(tx: Tx, host_id: str, session: int) -> None:
    """The connection of this session ended; a newer session is not touched."""
    row = tx.row(
        "update hosts set connected_at = null where id = ? and session = ?"
        " and connected_at is not null returning customer_id, hostname",
        host_id,
        session,
    )
    if row is not None:
        data = {"hostname": row[1], "session": session}
        events.append(tx, row[0], "host.disconnected", host_id, data)


def record_heartbeats(tx: Tx, beats: Sequence[tuple[str, int, Millis]]) -> list[tuple[str, int]]:
    """Record when agents were last heard; the (host, session) pairs that are out of date."""
    rows = tx.rows(
        "select id, customer_id, hostname, session, gone_at from hosts"
        f" where deleted_at is null and id in {tx.dialect.in_texts}",
        msgspec.json.encode([host_id for host_id, _, _ in beats]).decode(),
    )
    hosts = {row[0]: row for row in rows}
    # In the order of ids, so that two servers cannot deadlock.
    current, stale = [], []
    for host_id, session, at in sorted(beats):
        host = hosts.get(host_id)
        if host is not None and host[3] == session:
            # The time of a heartbeat from before the clock was set back is in the future now.
            heard_at = min(at, tx.now)
            current.append((heard_at, host_id, session, heard_at))
        else:
            # With the session: a heartbeat of an old connection must not count for a new one.
            stale.append((host_id, session))
    tx.execute_many(
        "update hosts set seen_at = ?, gone_at = null"
        " where id = ? and session = ? and (seen_at is null or seen_at < ?)",
        current,
    )
    back = [hosts[beat[1]] for beat in current if hosts[beat[1]][4] is not None]
    events_data = [(row[1], row[0], {"hostname": row[2]}) for row in back]
    events.append_all(tx, "host.reachable", events_data)
    return sorted(set(stale))


def silent_ids(tx: Tx, silent_ms: Millis) -> list[str]:
    """Hosts that were silent for this long and are not marked as unreachable yet."""
    rows = tx.rows(f"select id from hosts where {_SILENT}", tx.now - silent_ms)
    return [host_id for (host_id,) in rows]


def mark_unreachable(tx: Tx, silent_ms: Millis, host_ids: Sequence[str]) -> list[str]:
    """Mark those hosts as unreachable that were silent for this long."""
    rows = tx.rows(
        f"update hosts set gone_at = ? where {_SILENT} and id in {tx.dialect.in_texts}"
        " returning id, customer_id, hostname, seen_at",
        tx.now,
        tx.now - silent_ms,
        msgspec.json.encode(host_ids).decode(),
    )
    events.append_all(
        tx,
        "host.unreachable",
        [(row[1], row[0], {"hostname": row[2], "seen_at": row[3]}) for row in rows],
    )
    return [row[0] for row in rows]


_SILENT = "gone_at is null and deleted_at is null and seen_at < ?"


def journal_id_of(hello: Hello) -> str:
    """As `connect` stores it."""
    return _clean_text(hello.journal_id)


def _clean_text(text: str) -> str:
    """Text from an agent, without characters that a database or page cannot handle."""
    return json_text.clean(text)[:MAX_TEXT]


def _info(hello: Hello) -> str:
    info = json_text.clean(msgspec.json.encode(hello.info).decode())
    return info if len(info) <= MAX_INFO else "{}"


def move_clock(tx: Tx, step: ClockStep) -> None:
    """The clock was set: agents were last heard as long ago as before."""
    recent = step.before - RECENT
    tx.execute(
        "update hosts set seen_at = case when seen_at > ? and seen_at <= ? then seen_at + ?"
        # A host was never heard in the future: its silence would not be noticed until then.
        " else ? end where seen_at > ?",
        recent,
        step.before,
        step.delta,
        step.now,
        min(recent, step.now),
    )
