"""Connections to a SQLite file, and the lock that keeps other servers away from it."""

import fcntl
import os

import apsw

from belvedere.base.errors import Unavailable

# While a long read, such as a backup, needs the beginning of the write-ahead log, the log grows.
# Afterwards its file is cut to this size. In normal operation it has a quarter of it.
MAX_IDLE_LOG = 16 * 1024 * 1024


def connect(path: str, *, readonly: bool = False) -> apsw.Connection:
    """A connection with our settings; `synchronous=full`: a confirmed write survives power loss."""
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if readonly
        else (apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    )
    connection = apsw.Connection(path, flags=flags, statementcachesize=300)
    connection.set_busy_timeout(5_000)
    # Otherwise SQLite compiles a statement again if a parameter changes that might alter its
    # plan, at ten times the cost of running it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    if not readonly:
        connection.execute("pragma journal_mode=wal")
        connection.execute(f"pragma journal_size_limit={MAX_IDLE_LOG}")
    connection.execute("pragma synchronous=full")
    connection.execute("pragma foreign_keys=on")
    connection.execute("pragma temp_store=memory")
    connection.execute("pragma cache_size=-16000")
    return connection


def lock_file(path: str) -> int | None:
    """Hold `<path>.lock` for the life of this process: a second server must not write here."""
    if path.startswith((":memory:", "file:")):
        return None
    fd = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise Unavailable(
            f"Another Belvedere server already uses {path}; stop it, or choose another --data."
        ) from None
    return fd
