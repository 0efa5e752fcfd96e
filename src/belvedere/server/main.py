"""Running the server: `serve` for one of many, `up` for the whole product in one command."""

import asyncio
import contextlib
import logging
import os
import signal
import socket as sockets
import ssl
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn

from belvedere.base import log_format
from belvedere.base.errors import Refused
from belvedere.server import operator_socket, restored, scripts_user
from belvedere.server.agents.endpoint import serve as serve_agent
from belvedere.server.agents.websocket import AgentWebSocket
from belvedere.server.background import consumers, loops
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup import first_start, setup_code
from belvedere.server.setup.first_start import Welcome
from belvedere.server.transport.connections import raise_nofile
from belvedere.server.transport.http_protocol import HttpProtocol
from belvedere.server.transport.listener import Server
from belvedere.server.wiring import build, connect_notifier
from belvedere.settings import Settings

log = logging.getLogger("belvedere.server")
# Bytes of one WebSocket message of an agent.
MAX_MESSAGE = 4 << 20
# Running streams get this long to end when the server stops.
FAREWELL_S = 2


def serve(settings: Settings) -> int:
    """`belvedere server`."""
    return _run(settings, with_agent=False, must_set_up=bool(settings.admin_password))


def up(settings: Settings) -> int:
    """`belvedere up`: set itself up, serve, and run a local agent."""
    return _run(settings, with_agent=settings.agent, must_set_up=True)


def _run(settings: Settings, *, with_agent: bool, must_set_up: bool) -> int:
    log_format.configure(settings.log_level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    raise_nofile()
    try:
        if with_agent:
            scripts_user.check(settings)
        runtime = build(settings)
        # Before the set-up: what cannot be served must not swallow the password that is told once.
        _check_tls(settings)
        _warn_of_proxies(runtime)
        listening = _listen(settings)
        welcome = first_start.set_up(runtime) if must_set_up else None
        _settle_scripts_user(runtime, with_agent=with_agent)
        _offer_set_up(runtime)
        return _loop()(_serve(runtime, listening, welcome, with_agent=with_agent))
    except Refused as refusal:
        print(f"belvedere: {refusal.message}", file=sys.stderr)
        return 3


def _warn_of_proxies(runtime: ServerRuntime) -> None:
    """What earlier starts saw."""
    runtime.db.write_blocking(runtime.proxies.keep)
    for peer in runtime.proxies.undeclared():
        log.warning(
            "forwarded headers came from an undeclared proxy; if it is your proxy, add it to"
            " --proxies peer=%s",
            peer,
        )


def _settle_scripts_user(runtime: ServerRuntime, *, with_agent: bool) -> None:
    name = runtime.settings.scripts_user
    place = scripts_user.installation(runtime.settings)
    runtime.db.write_blocking(scripts_user.note, place, with_agent and not name)
    if with_agent and name:
        # What is made from now on is nobody else's: others can walk through the data folder.
        os.umask(0o077)
        scripts_user.open_way(runtime.settings.folder)


def _offer_set_up(runtime: ServerRuntime) -> None:
    """An empty server that nobody set up by variables waits for whoever reads its log."""
    code = runtime.db.write_blocking(setup_code.offer, runtime.keyring)
    if code is not None:
        url = f"{runtime.settings.base_url}/ui/setup"
        log.warning(
            "this server belongs to nobody yet; set it up at %s with the code %s", url, code
        )


def _loop() -> "Callable[..., int]":
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run


async def _serve(
    runtime: ServerRuntime, listening: sockets.socket, welcome: Welcome | None, *, with_agent: bool
) -> int:
    settings = runtime.settings
    runtime.agents.base_url = settings.base_url
    server = Server(_config(runtime))
    bell = connect_notifier(runtime)
    door = await operator_socket.open_door(runtime)
    await restored.settle(runtime)
    tasks = [*loops.start(runtime), *consumers.start(runtime)]
    tasks.append(asyncio.create_task(server.sweep(runtime.connections)))
    runtime.watchdog.start()
    serving = asyncio.create_task(server._serve([listening]))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        runtime.stopping.set()
        server.should_exit = True

    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop)
    try:
        await _until_started(server, serving)
        if with_agent:
            tasks += _start_agent(runtime, server.config.app)
        _announce(runtime, welcome)
        await serving
    finally:
        runtime.watchdog.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _keep_notes(runtime)
        await runtime.egress.close()
        door.close()
        if bell is not None:
            bell.stop()
        await runtime.db.close()
        if runtime.logs is not runtime.db:
            await runtime.logs.close()
    return 0


async def _keep_notes(runtime: ServerRuntime) -> None:
    """What is gathered for a minute and would be lost."""
    for note in (loops.note_failures, loops.note_proxies):
        try:
            await note(runtime)
        except Exception:
            log.exception("could not write gathered notes at the end of the server")


def _start_agent(runtime: ServerRuntime, app: Any) -> "list[asyncio.Task[None]]":
    # Loaded only here: a server without an agent of its own need not know one.
    from belvedere.server.agents import local_agent

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
            " look at --tls-cert and --tls-key."
        ) from None


def _listen(settings: Settings) -> sockets.socket:
    family = sockets.AF_INET6 if ":" in settings.host else sockets.AF_INET
    listening = sockets.socket(family)
    listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as fault:
        raise Refused(
            f"Cannot listen on {settings.host}:{settings.port} ({fault.strerror});"
            " choose another with --port."
        ) from None
    # The address that people and agents use follows the port that was really given (--port 0).
    settings.port = listening.getsockname()[1]
    listening.listen(2048)
    listening.setblocking(False)
    return listening


def _config(runtime: ServerRuntime) -> uvicorn.Config:
    settings = runtime.settings
    return uvicorn.Config(
        App(runtime, runtime.table, serve_agent),
        http=partial(HttpProtocol, runtime.connections),  # type: ignore[arg-type]
        ws=AgentWebSocket,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=FAREWELL_S,
        ws_max_size=MAX_MESSAGE,
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )


async def _until_started(server: uvicorn.Server, serving: "asyncio.Task[None]") -> None:
    while not server.started:
        if serving.done():
            await serving
            raise Refused("The server could not start; its log says why.")
        await asyncio.sleep(0.01)


def _announce(runtime: ServerRuntime, welcome: Welcome | None) -> None:
    url = runtime.settings.base_url
    with contextlib.suppress(BrokenPipeError):
        print(f"Belvedere is ready at {url}", flush=True)
        if welcome is not None:
            print(f"  console       {url}/ui/")
            print(f"  organization  {welcome.customer}\n  e-mail        {welcome.email}")
            if welcome.password is not None:
                print(f"  password      {welcome.password}   (shown only now)")
            print(f"  sign in       belvedere login --server {url} --email {welcome.email}")
            sys.stdout.flush()
