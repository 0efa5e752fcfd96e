"""Verbs for whoever sits at the server's own machine, through a socket that only they can open.

The command line never writes beside a running server: it asks it here. Without a server it opens
the database itself.
"""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from belvedere.access.crypto import password_hash
from belvedere.access.customers import password_recovery, second_factor_changes, service
from belvedere.base.errors import Conflict, Invalid, NotFound, Refused
from belvedere.base.unix_sockets import short_path
from belvedere.db import Tx, installation
from belvedere.files import quota
from belvedere.jobs.recovery import restore
from belvedere.server import scripts_user
from belvedere.server.encryption import key_rotation
from belvedere.server.http import errors
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build
from belvedere.settings import Settings

SOCKET = "admin.sock"
LARGEST = 64 * 1024
MAX_QUOTA_GIB = 1_000_000


def _create_organization(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    scripts_user.check_another_organization(tx)
    made = service.create_customer(
        tx,
        runtime.keyring,
        _word(payload, "name"),
        _word(payload, "email"),
        reserved=runtime.table.reserved,
    )
    return {
        "id": made.customer.id,
        "name": made.customer.name,
        "email": made.owner.email,
        "link": made.token and f"{runtime.settings.base_url}/ui/link#{made.token}",
        "reset_token": made.token,
    }


def _organizations(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    rows = tx.rows("select id, name, enabled from customers order by id")
    return {"organizations": [{"id": i, "name": n, "enable": bool(e)} for i, n, e in rows]}


def _allow_passwords(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    return {"name": service.allow_passwords(tx, _word(payload, "name")).name}


def _set_quota(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    customer = service.by_name(tx, _word(payload, "name"))
    if customer is None:
        raise NotFound("There is no such organization.", code="customer_not_found")
    gib = payload.get("gib")
    if gib is not None and not (isinstance(gib, int) and 0 <= gib <= MAX_QUOTA_GIB):
        raise Invalid(f"gib is 0 (no limit) to {MAX_QUOTA_GIB}.", code="invalid_body")
    quota.set_limit(tx, customer.id, None if gib is None else gib * quota.GIB)
    return {"name": customer.name, "gib": gib}


def _reset_password(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    password = secrets.token_urlsafe(15)
    user = password_recovery.set_password(
        tx, _word(payload, "email"), password_hash.digest(password), _organization(payload)
    )
    return {"email": user.email, "password": password}


def _reset_second_factor(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    user = second_factor_changes.reset_by_operator(
        tx, _word(payload, "email"), _organization(payload)
    )
    return {"email": user.email}


def _event_loop(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    watchdog = runtime.watchdog
    last = None if watchdog.last is None else msgspec.to_builtins(watchdog.last)
    return {"slow": watchdog.slow, "longest_ms": watchdog.longest_ms, "last": last}


def _organization(payload: dict[str, Any]) -> str | None:
    """Needed only where several accounts have one e-mail."""
    return _word(payload, "organization") if payload.get("organization") else None


def _word(payload: dict[str, Any], name: str) -> str:
    value = payload.get(name)
    if not isinstance(value, str) or not value:
        raise Invalid(f"{name} is required.", code="invalid_body")
    return value


def _mark_restored(tx: Tx, _: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """The next start of a server holds what may have run since the backup."""
    if payload.get("server_runs", True):
        raise Conflict(
            "The server is running; stop it, run this command and start it again.",
            code="server_runs",
        )
    # The start compares with what is stored here.
    restore.was_restored(tx)
    return {"epoch": installation.epoch_of(installation.raise_epoch(tx))}


VERBS: dict[str, Callable[[Tx, ServerRuntime, dict[str, Any]], dict[str, Any]]] = {
    "/organization": _create_organization,
    "/organizations": _organizations,
    "/organization/allow-passwords": _allow_passwords,
    "/organization/quota": _set_quota,
    "/member/reset-password": _reset_password,
    "/event-loop": _event_loop,
    "/key": key_rotation.show,
    "/key/add": key_rotation.add,
    "/key/rotate": key_rotation.rotate,
    "/key/check": key_rotation.check,
    "/key/drop": key_rotation.drop,
    "/mark-restored": _mark_restored,
    "/member/reset-second-factor": _reset_second_factor,
}


async def open_door(runtime: ServerRuntime) -> asyncio.AbstractServer:
    """Listen on the data folder's socket, which only the server's own user can open."""
    return await asyncio.start_unix_server(
        lambda reader, writer: _answer(runtime, reader, writer), sock=_listen(runtime.settings)
    )


def _listen(settings: Settings) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        socket_path(settings).unlink()
    path, fd = short_path(str(settings.folder), SOCKET)
    listening = socket.socket(socket.AF_UNIX)
    old = os.umask(0o177)
    try:
        listening.bind(path)
    finally:
        os.umask(old)
        if fd >= 0:
            os.close(fd)
    return listening


async def _answer(
    runtime: ServerRuntime, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One small HTTP request."""
    # A caller that hangs up early has asked nothing.
    with contextlib.closing(writer), contextlib.suppress(EOFError, OSError, ValueError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ", 2)[1]
        size = next(
            (
                int(line.split(":")[1])
                for line in head.lower().split("\r\n")
                if line.startswith("content-length:")
            ),
            0,
        )
        body = await reader.readexactly(min(size, LARGEST))
        status, answer = await _carry_out(runtime, path, body)
        data = msgspec.json.encode(answer)
        writer.write(
            f"HTTP/1.1 {status} .\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\nconnection: close\r\n\r\n".encode()
            + data
        )
        await writer.drain()


async def _carry_out(runtime: ServerRuntime, path: str, body: bytes) -> tuple[int, Any]:
    try:
        if path not in VERBS:
            raise NotFound("There is no such verb.", code="no_such_path")
        payload = msgspec.json.decode(body or b"{}")
        return 200, await runtime.db.write(VERBS[path], runtime, payload)
    except Refused as refusal:
        return errors.status_of(refusal), errors.body_of(refusal, "local")


def offline(settings: Settings, path: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The same without a running server."""
    runtime = build(settings)
    try:
        return runtime.db.write_blocking(VERBS[path], runtime, {**payload, "server_runs": False})
    finally:
        asyncio.run(_close(runtime))


async def _close(runtime: ServerRuntime) -> None:
    await runtime.db.close()
    if runtime.logs is not runtime.db:
        await runtime.logs.close()


def socket_path(settings: Settings) -> Path:
    return settings.folder / SOCKET
