"""The user of the scripts of `belvedere up`, and the restrictions if it is the server's own user.

Such a script can read the key, the database and the operator's socket, so an admin of any
organization could read all of them: then there may be only one organization.
"""

import asyncio
import logging
import os
import pwd
import socket
import stat
from collections.abc import Iterable
from pathlib import Path

from belvedere.base.errors import Conflict, Refused
from belvedere.db import Database, Tx
from belvedere.db import installation as rows
from belvedere.settings import Settings

log = logging.getLogger("belvedere.server")

# The row of `meta` which records that scripts run as the server's own user; on PostgreSQL one per
# installation, with its name after a colon.
ROW = "scripts_as_server"
# A row in PostgreSQL is valid for this long after its installation confirmed it.
LIFE_MS = 86_400_000
CONFIRM_S = 3_600.0
ADVICE = (
    "Start `belvedere up` as root with --scripts-user USER, or with --no-agent and agents on other"
    " machines or as other users."
)


def check(settings: Settings) -> None:
    """Refused, with advice, if scripts cannot run as the configured user."""
    name = settings.scripts_user
    if not name:
        return
    if os.geteuid() != 0:
        raise _refused(
            name,
            "only root can run scripts as another user. Start `belvedere up` as root, or with"
            " --no-agent and an agent that runs as that user",
        )
    try:
        user = pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise _refused(name, "there is no such user on this machine") from None
    if user.pw_uid == os.geteuid():
        raise _refused(name, "this is the server's own user; name another one")
    _check_parents(settings.folder.absolute(), user)


def _check_parents(folder: Path, user: pwd.struct_passwd) -> None:
    """The user must be able to enter the folders above the data folder, which we do not change."""
    groups = set(os.getgrouplist(user.pw_name, user.pw_gid))
    for parent in folder.resolve().parents:
        if parent.exists() and not _can_enter(parent.stat(), user.pw_uid, groups):
            raise _refused(
                user.pw_name,
                f"this user cannot enter {parent}, which is above the data folder; choose another"
                " --data, such as /var/lib/belvedere",
            )


def _can_enter(folder: os.stat_result, uid: int, groups: Iterable[int]) -> bool:
    if folder.st_uid == uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    if folder.st_gid in groups:
        return bool(folder.st_mode & stat.S_IXGRP)
    return bool(folder.st_mode & stat.S_IXOTH)


def _refused(name: str, why: str) -> Refused:
    return Refused(f"--scripts-user {name}: {why}.")


def allow_traversal(folder: Path) -> None:
    """Scripts of another user reach their working folders through the data folder. Everything else
    in it is made private first."""
    for path in folder.iterdir():
        # The agent manages its own folder.
        if path.name != "agent":
            _make_private(path)
    folder.chmod(0o711)


def _make_private(path: Path) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        # A socket, which is created private, or a link, whose target has its own permissions.
        return
    try:
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if mode & 0o077:
            os.fchmod(fd, mode & 0o700)
    finally:
        os.close(fd)


def installation(settings: Settings) -> str:
    """Identifies a server on a shared PostgreSQL: its machine and its data folder."""
    return f"{socket.gethostname()}:{settings.folder.absolute()}"


def record(tx: Tx, place: str, shares_user: bool) -> None:
    """At each start; the command line reads it when no server runs. Only the row of this
    installation changes: others on the same PostgreSQL may run scripts as another user."""
    rows.delete(tx, _row(tx, place))
    for name, value in rows.list_values(tx, ROW).items():
        if not _is_valid(tx, name, value):
            rows.delete(tx, name)
    if shares_user:
        confirm(tx, place)
        count = organizations(tx)
        if count > 1:
            log.warning("scripts run as the server's own user organizations=%d", count)
            log.warning(ADVICE)


def confirm(tx: Tx, place: str) -> None:
    """The installation still runs: without this, its row expires after `LIFE_MS`."""
    rows.write(tx, _row(tx, place), str(tx.now))


def _row(tx: Tx, place: str) -> str:
    """A SQLite database has one installation, also when its folder moves to another machine."""
    return f"{ROW}:{place}" if tx.dialect.is_shared else ROW


def _is_valid(tx: Tx, name: str, value: str) -> bool:
    """Rows of earlier versions, which had one for all installations, expire as well."""
    return (name == ROW and not tx.dialect.is_shared) or int(value) > tx.now - LIFE_MS


def shares(tx: Tx) -> bool:
    """Whether scripts of a local agent run as the user of its server, on any installation."""
    values = rows.list_values(tx, ROW)
    return any(_is_valid(tx, name, value) for name, value in values.items())


async def keep_confirmed(db: Database, place: str) -> None:
    """While scripts run as the server's own user."""
    while True:
        await asyncio.sleep(CONFIRM_S)
        try:
            await db.write(confirm, place)
        except Exception:
            # The database may be restarting; the next try is long before the row expires.
            log.exception("could not verify the scripts user")


def organizations(tx: Tx) -> int:
    return int(tx.value("select count(*) from customers"))


def check_another_organization(tx: Tx) -> None:
    if organizations(tx) and shares(tx):
        raise Conflict(
            "With a second organization, scripts must not run as the server's user, because"
            f" an admin's script could read the data of every organization. {ADVICE}",
            code="scripts_user_needed",
        )
