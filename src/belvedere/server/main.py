"""Runs the server: `serve` is `belvedere server`, `up` adds the first setup and an agent."""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket as sockets
import ssl
import sys
from collections.abc import Callable

from belvedere.base import log_format
from belvedere.base.errors import Refused
from belvedere.jobs.tallies import TALLIES
from belvedere.server import operator_socket, restored, scripts_user
from belvedere.server.agents.endpoint import serve as serve_agent
from belvedere.server.background import consumers, loops
from belvedere.server.drain import steps
from belvedere.server.http.app import App
from belvedere.server.metrics.listener import MetricsListener
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup import first_start, setup_code
from belvedere.server.setup.first_start import FirstLogin
from belvedere.server.traces.exporter import TraceExporter
from belvedere.server.transport import plain
from belvedere.server.transport.connections import raise_nofile
from belvedere.server.transport.interface import AsgiServer, Transport
from belvedere.server.wiring import build, connect_notifier
from belvedere.settings import Settings

log = logging.getLogger("belvedere.server")
# Connections that the kernel keeps until they are accepted; it lowers this to its own limit
# (net.core.somaxconn). After a restart all agents connect at once.
BACKLOG = 65_535


def serve(settings: Settings) -> int:
    """`belvedere server`."""
    return _run(settings, with_agent=False, must_set_up=bool(settings.admin_password))


def up(settings: Settings) -> int:
    """`belvedere up`: set itself up, serve, and run a local agent."""
    return _run(settings, with_agent=settings.agent, must_set_up=True)


def _run(settings: Settings, *, with_agent: bool, must_set_up: bool) -> int:
    log_format.configure(settings.log_level.upper(), as_json=settings.log_format == "json")
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    raise_nofile()
    try:
        if settings.log_format not in ("text", "json"):
            raise Refused(
                f"BELVEDERE_LOG_FORMAT must be text or json, not {settings.log_format!r}."
            )
        if with_agent:
            scripts_user.check(settings)
        runtime = build(settings)
        # Before the set-up, whose password is printed only once: it must not be lost by an error.
        _check_tls(settings)
        steps.other_servers(settings.other_servers)
        _warn_of_proxies(runtime)
        listening = _listen(settings)
        first_login = first_start.set_up(runtime) if must_set_up else None
        _record_scripts_user(runtime, with_agent=with_agent)
        _offer_set_up(runtime)
        return _loop()(_serve(runtime, listening, first_login, with_agent=with_agent))
    except Refused as refusal:
        print(f"belvedere: {refusal.message}", file=sys.stderr)
        return 3


def _warn_of_proxies(runtime: ServerRuntime) -> None:
    """Proxies that earlier starts have seen."""
    runtime.db.write_blocking(runtime.proxies.save)
    for peer in runtime.proxies.undeclared():
        log.warning(
            "forwarded headers came from an undeclared proxy; if it is your proxy, add it to"
            " --proxies peer=%s",
            peer,
        )


def _record_scripts_user(runtime: ServerRuntime, *, with_agent: bool) -> None:
    name = runtime.settings.scripts_user
    place = scripts_user.installation(runtime.settings)
    runtime.db.write_blocking(scripts_user.record, place, with_agent and not name)
    if with_agent and name:
        # New files must be private from now on: other users can traverse the data folder.
        os.umask(0o077)
        scripts_user.allow_traversal(runtime.settings.folder)


def _offer_set_up(runtime: ServerRuntime) -> None:
    """A server without an organization is set up with a code from its log."""
    code = runtime.db.write_blocking(setup_code.offer, runtime.keyring)
    if code is not None:
        url = f"{runtime.settings.base_url}/ui/setup"
        log.warning(
            "this server is not set up yet; open the address and enter the code url=%s code=%s",
            *(url, code),
        )


def _loop() -> "Callable[..., int]":
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run


async def _serve(
    runtime: ServerRuntime,
    listening: sockets.socket,
    first_login: FirstLogin | None,
    *,
    with_agent: bool,
) -> int:
    settings = runtime.settings
    runtime.agents.base_url = settings.base_url
    app, server = build_server(runtime)
    notifier = connect_notifier(runtime)
    operator_server = await operator_socket.listen(runtime)
    metrics_server = await MetricsListener(runtime).listen() if settings.metrics_listen else None
    await restored.start(runtime)
    # What starts something by itself; it ends before requests do.
    work = [*loops.start(runtime), *consumers.start(runtime)]
    tasks = []
    if settings.otlp_url:
        exporter = runtime.of(TraceExporter)
        TALLIES.on_traced_end = exporter.take
        tasks.append(asyncio.create_task(exporter.run(), name="export traces"))
    runtime.watchdog.start()
    serving = asyncio.create_task(server.serve([listening]))
    shutdown = steps.Shutdown(runtime, server, work)
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, shutdown.on_signal, name)
    try:
        await server.until_started(serving)
        if with_agent:
            work += _start_agent(runtime, app)
        _print_address(runtime, first_login)
        await serving
    finally:
        runtime.watchdog.stop()
        tasks += work
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _flush_records(runtime)
        if settings.otlp_url:
            await runtime.of(TraceExporter).close()
        await runtime.egress.close()
        operator_server.close()
        if metrics_server is not None:
            metrics_server.close()
        if notifier is not None:
            notifier.stop()
        await runtime.db.close()
        if runtime.logs is not runtime.db:
            await runtime.logs.close()
        shutdown.close()
    return 0


async def _flush_records(runtime: ServerRuntime) -> None:
    """Store what is collected for a while and would be lost."""
    for flush in (
        loops.record_seen,
        loops.record_uses,
        loops.record_failures,
        loops.record_proxies,
    ):
        try:
            await flush(runtime)
        except Exception:
            log.exception("collected records could not be stored at shutdown")


def _start_agent(runtime: ServerRuntime, app: object) -> "list[asyncio.Task[None]]":
    # Imported only here: a server without an agent does not need it.
    from belvedere.server.agents import local_agent

    # uvicorn accepts other kinds of applications as well; ours is in its configuration.
    assert isinstance(app, App)
    tasks = [asyncio.create_task(local_agent.keep_running(app))]
    if not runtime.settings.scripts_user:
        place = scripts_user.installation(runtime.settings)
        tasks.append(asyncio.create_task(scripts_user.keep_confirmed(runtime.db, place)))
    return tasks


def _check_tls(settings: Settings) -> None:
    if not settings.tls_cert:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            settings.tls_cert, settings.tls_key or None
        )
    except OSError as fault:
        raise Refused(
            f"The certificate {settings.tls_cert} cannot be used ({fault.strerror or fault});"
            " check --tls-cert and --tls-key."
        ) from None


def _listen(settings: Settings) -> sockets.socket:
    family = sockets.AF_INET6 if ":" in settings.host else sockets.AF_INET
    listening = sockets.socket(family)
    listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as fault:
        listening.close()
        # A port is in use or needs root; otherwise the address is wrong.
        option = "--port" if fault.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise Refused(
            f"Cannot listen on {settings.host}:{settings.port} ({fault.strerror});"
            f" choose another with {option}."
        ) from None
    # The address for people and agents has the port that was really bound (--port 0).
    settings.port = listening.getsockname()[1]
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def build_server(runtime: ServerRuntime) -> tuple[App, AsgiServer]:
    transport = _transport(runtime)
    app = App(runtime, runtime.router, serve_agent, transport.respond)
    return app, transport.server(app)


def _transport(runtime: ServerRuntime) -> Transport:
    settings = runtime.settings
    if settings.plain_http:
        log.warning("plain HTTP: connections have no limits and no deadlines; use a proxy")
        return plain.transport(settings)
    # Imported only here: the library path must start when a new uvicorn breaks our own classes.
    from belvedere.server.transport import listener

    return listener.transport(settings, runtime.connections)


def _print_address(runtime: ServerRuntime, first_login: FirstLogin | None) -> None:
    url = runtime.settings.base_url
    with contextlib.suppress(BrokenPipeError):
        lines = [f"Belvedere is ready at {url}"]
        if first_login is not None:
            lines += [f"  console       {url}/ui/", f"  organization  {first_login.customer}"]
            lines += [f"  e-mail        {first_login.email}"]
            if first_login.password is not None:
                lines += [f"  password      {first_login.password}   (shown only once)"]
            lines += [f"  sign in       belvedere login --server {url} --email {first_login.email}"]
        # At once: a program that waits for the first line finds the others.
        print("\n".join(lines), flush=True)
