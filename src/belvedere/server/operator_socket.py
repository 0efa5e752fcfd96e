"""Commands of the operator, over a socket that only the server's user can open.

The command line never writes to the database of a running server: it sends the command here.
Without a running server it opens the database itself.
"""

import asyncio
import contextlib
import os
import resource
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
from belvedere.db import Tx
from belvedere.db.migrate import check_installed
from belvedere.db.readonly import peek
from belvedere.db.transfer import marks
from belvedere.files import quota
from belvedere.jobs.recovery import restore
from belvedere.rest import error_format
from belvedere.server import scripts_user
from belvedere.server.encryption import key_rotation
from belvedere.server.metrics import process
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build
from belvedere.settings import SOCKET, Settings

MAX_BODY = 64 * 1024
MAX_QUOTA_GIB = 1_000_000
# Also sets up a new database.
CREATE_ORGANIZATION = "/organization"


def _create_organization(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    scripts_user.check_another_organization(tx)
    created = service.create_customer(
        tx,
        runtime.keyring,
        _required_text(payload, "name"),
        _required_text(payload, "email"),
        reserved=runtime.router.reserved,
    )
    return {
        "id": created.customer.id,
        "name": created.customer.name,
        "email": created.owner.email,
        "link": created.token and f"{runtime.settings.base_url}/ui/link#{created.token}",
        "reset_token": created.token,
    }


def _organizations(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    rows = tx.rows("select id, name, enabled from customers order by id")
    return {"organizations": [{"id": i, "name": n, "enable": bool(e)} for i, n, e in rows]}


def _allow_passwords(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    return {"name": service.allow_passwords(tx, _required_text(payload, "name")).name}


def _set_quota(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    customer = service.by_name(tx, _required_text(payload, "name"))
    if customer is None:
        raise NotFound("There is no such organization.", code="customer_not_found")
    gib = payload.get("gib")
    if gib is not None and not (isinstance(gib, int) and 0 <= gib <= MAX_QUOTA_GIB):
        raise Invalid(f"gib must be 0 (no limit) to {MAX_QUOTA_GIB}.", code="invalid_body")
    quota.set_limit(tx, customer.id, None if gib is None else gib * quota.GIB)
    return {"name": customer.name, "gib": gib}


def _reset_password(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    password = secrets.token_urlsafe(15)
    user = password_recovery.set_password(
        tx, _required_text(payload, "email"), password_hash.digest(password), _organization(payload)
    )
    return {"email": user.email, "password": password}


def _reset_second_factor(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    user = second_factor_changes.reset_by_operator(
        tx, _required_text(payload, "email"), _organization(payload)
    )
    return {"email": user.email}


def _event_loop(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    watchdog = runtime.watchdog
    last = None if watchdog.last is None else msgspec.to_builtins(watchdog.last)
    return {"slow": watchdog.slow, "longest_ms": watchdog.longest_ms, "last": last}


def _descriptors(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return {"open": process.count_descriptors(), "limit": limit}


def _organization(payload: dict[str, Any]) -> str | None:
    """Needed only where several accounts have the same e-mail address."""
    return _required_text(payload, "organization") if payload.get("organization") else None


def _required_text(payload: dict[str, Any], name: str) -> str:
    value = payload.get(name)
    if not isinstance(value, str) or not value:
        raise Invalid(f"{name} is required.", code="invalid_body")
    return value


def _mark_restored(tx: Tx, _: ServerRuntime, payload: dict[str, Any]) -> dict[str, Any]:
    """The next start of a server holds jobs that may have run since the backup."""
    if payload.get("server_runs", True):
        raise Conflict(
            "The server is running; stop it, run this command and start it again.",
            code="server_runs",
        )
    return {"epoch": restore.mark_restored(tx)}


COMMANDS: dict[str, Callable[[Tx, ServerRuntime, dict[str, Any]], dict[str, Any]]] = {
    CREATE_ORGANIZATION: _create_organization,
    "/organizations": _organizations,
    "/organization/allow-passwords": _allow_passwords,
    "/organization/quota": _set_quota,
    "/member/reset-password": _reset_password,
    "/event-loop": _event_loop,
    "/descriptors": _descriptors,
    "/key": key_rotation.show,
    "/key/add": key_rotation.add,
    "/key/rotate": key_rotation.rotate,
    "/key/check": key_rotation.check,
    "/key/drop": key_rotation.drop,
    "/mark-restored": _mark_restored,
    "/member/reset-second-factor": _reset_second_factor,
}


async def listen(runtime: ServerRuntime) -> asyncio.AbstractServer:
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
    """Serve one small HTTP request."""
    # A client may disconnect before it has sent a request.
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
        body = await reader.readexactly(min(size, MAX_BODY))
        status, answer = await _run_command(runtime, path, body)
        data = msgspec.json.encode(answer)
        writer.write(
            f"HTTP/1.1 {status} .\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\nconnection: close\r\n\r\n".encode()
            + data
        )
        await writer.drain()


async def _run_command(runtime: ServerRuntime, path: str, body: bytes) -> tuple[int, Any]:
    try:
        if path not in COMMANDS:
            raise NotFound("There is no such command.", code="no_such_path")
        payload = msgspec.json.decode(body or b"{}")
        return 200, await runtime.db.write(COMMANDS[path], runtime, payload)
    except Refused as refusal:
        return error_format.status_of(refusal), error_format.body_of(refusal, "local")


def offline(settings: Settings, path: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The same without a running server."""
    if path != CREATE_ORGANIZATION:
        # A mistyped folder must not become a new installation.
        with peek(settings.database_url) as db:
            db.read(marks.check_usable)
            db.read(check_installed)
    runtime = build(settings)
    try:
        return runtime.db.write_blocking(COMMANDS[path], runtime, {**payload, "server_runs": False})
    finally:
        asyncio.run(_close(runtime))


async def _close(runtime: ServerRuntime) -> None:
    await runtime.db.close()
    if runtime.logs is not runtime.db:
        await runtime.logs.close()


def socket_path(settings: Settings) -> Path:
    return settings.operator_socket
